// Owns `plexus call`: one tool call that a person typed. `call-approval.ts` decides whether to ask before it; a rule that denies
// the call is obeyed.

import type { Runtime } from '../../api.ts';
import { withoutSecrets } from '../../config/literal-secrets.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { visible } from '../../kernel/shell-word.ts';
import { builtinNames } from '../../model/builtin.ts';
import { type FailureData, RuntimeError } from '../../model/errors.ts';
import { commandLine } from '../../model/server.ts';
import type { Tool, ToolOutcome } from '../../model/tool.ts';
import { readContent, render, withAttachments } from '../../shaping/text.ts';
import { parseArguments, parseArgumentsJson, readText } from '../arguments.ts';
import { approveTypedCall } from '../call-approval.ts';
import { type Command, type Context, UsageError } from '../command.ts';
import { describePlace } from '../editable-entry.ts';
import { loadConfigFor } from '../load-config.ts';
import { printable } from '../render/text.ts';
import { toolUnknown } from '../unknown-name.ts';
import { asLive, requireServer, waitForAll, warnOfDiagnostics, withRuntime } from '../with-runtime.ts';

export const call: Command = {
  usage:
    'call SERVER TOOL [key=value …] [key:=JSON …] [--args JSON|@FILE|-] [--yes] [--frozen]\n       plexus call mcp__SERVER__TOOL …',
  options: { args: { type: 'string' }, yes: { type: 'boolean', short: 'y' }, frozen: { type: 'boolean' } },
  help: {
    args: 'all arguments as one JSON object, from a file (@FILE) or from standard input (-)',
    yes: 'do not ask before calling a tool that is destructive or has changed',
    frozen: 'call the tool only if it is exactly as plexus.lock records it',
  },
  async run(context) {
    const { server, tool, words } = target(context.positionals);
    const fromOption = await argumentsFrom(context);
    const only = server === undefined ? {} : { only: [server] };
    const frozen = context.values['frozen'] === true;
    const options = { ...only, frozen, approve: approveTypedCall(context, (name) => originOf(name, context)) };
    return withRuntime(frozen ? asLive(context) : context, options, async (runtime, diagnostics) => {
      warnOfDiagnostics(diagnostics, context);
      const found =
        server === undefined ? await findByName(runtime, tool, context) : findOnServer(runtime, server, tool);
      const name = found?.name ?? (server === undefined ? tool : `mcp__${server}__${tool}`);
      const args = { ...fromOption, ...parseArguments(words, found?.inputSchema ?? {}) };
      const work = runtime
        .turn()
        .call(name, args, { signal: context.signal })
        .catch((error) => {
          // The tool may have done its work: the person who cancels the call must read that.
          if (context.signal.aborted) throw new RuntimeError('CALL_CANCELLED', found?.id ?? {}, { cause: error });
          throw server === undefined ? withHint(error) : unknownOn(server, tool, runtime, withHint(error));
        });
      // The full result, but redacted: an agent with a shell must not read secrets here that a tool's text hides from it.
      const outcome = runtime.redact(await context.waitFor(`calling ${tool}`, work));
      const text = wordsOf(outcome, name);
      return {
        data: outcome,
        text: () => (context.toTerminal ? printable(text) : text),
        exitCode: outcome.isError ? 5 : 0,
      };
    });
  },
};

/** The file that defines a server, and its command or address. */
async function originOf(server: string, context: Context): Promise<string | undefined> {
  const { definitions } = await loadConfigFor(context);
  const found = definitions.find(({ name }) => name === server);
  if (found === undefined) return undefined;
  const { provenance, launch } = found;
  const what = launch.kind === 'stdio' ? 'which runs' : 'which is at';
  return `${describePlace(provenance)}, ${what}: ${commandLine(withoutSecrets(launch))}`;
}

/** The full text of the result, without boundary markers. The text of built-in tools already holds their structured content. */
function wordsOf({ content, structured, attachments }: ToolOutcome, name: string): string {
  const isOwn = builtinNames.some((each) => each === name);
  return render(withAttachments(readContent(content, isOwn ? undefined : structured), attachments));
}

/** Reads `SERVER TOOL`, or one name that includes the server; the first word with a `=` begins the arguments. */
function target(positionals: readonly string[]): { server?: string; tool: string; words: readonly string[] } {
  const firstArgument = positionals.findIndex((word) => word.includes('='));
  const names = firstArgument < 0 ? positionals : positionals.slice(0, firstArgument);
  const words = firstArgument < 0 ? [] : positionals.slice(firstArgument);
  const [first, second, extra] = names;
  if (first === undefined) throw new UsageError('name a server and a tool');
  if (extra !== undefined) throw new UsageError(`"${extra}" is not an argument; write key=value, or key:=JSON`);
  if (second !== undefined) return { server: first, tool: second, words };
  return { tool: first, words };
}

/** A slow server may still bring the name. If none does, the call itself fails with the right error. */
async function findByName(runtime: Runtime, name: string, context: Context): Promise<Tool | undefined> {
  const find = () => runtime.turn().find(name);
  const found = find();
  if (found) return found;
  if (runtime.status().some((each) => each.name === name)) throw new UsageError(`also name a tool of server "${name}"`);
  return waitForAll(runtime, context).then(find);
}

function findOnServer(runtime: Runtime, server: string, name: string): Tool | undefined {
  requireServer(runtime, server);
  return offeredBy(runtime, server).find((each) => each.id.tool === name || each.name === name);
}

const offeredBy = (runtime: Runtime, server: string) => runtime.getTools().filter(({ id }) => id.server === server);

/** The person named the server, so the error suggests names as that server spells them. */
function unknownOn(server: string, name: string, runtime: Runtime, error: unknown): unknown {
  if (!(error instanceof RuntimeError) || error.code !== 'TOOL_UNKNOWN') return error;
  const { because = `server "${server}" does not offer it` } = error.data as FailureData<'TOOL_UNKNOWN'>;
  const names = offeredBy(runtime, server).map(({ id }) => id.tool);
  return toolUnknown(name, names, because);
}

async function argumentsFrom(context: Context): Promise<JsonObject> {
  const option = context.values['args'];
  if (typeof option !== 'string') return {};
  const { text, source } = await readText(option, '--args', context);
  return parseArgumentsJson(text, source);
}

/** Without a terminal, the error says how to approve the call beforehand. */
function withHint(error: unknown): unknown {
  if (!(error instanceof RuntimeError) || error.code !== 'APPROVAL_REFUSED') return error;
  const { because, changes = [], ...call } = error.data as FailureData<'APPROVAL_REFUSED'>;
  const different = changes.length > 0 ? ` (${changes.map(visible).join('; ')})` : '';
  return new RuntimeError('APPROVAL_REFUSED', {
    ...call,
    changes,
    because: `${because}${different}; add --yes to call it without asking`,
  });
}
