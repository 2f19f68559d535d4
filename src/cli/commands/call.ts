// Owns `plexus call`: one call by a person's own order, which `approving.ts` asks about where there is reason to; a rule that
// denies is obeyed.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Runtime } from '../../api.ts';
import { withoutSecrets } from '../../config/literal-secrets.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { nearest } from '../../kernel/nearest.ts';
import { visible } from '../../kernel/shell-word.ts';
import { builtinNames } from '../../model/builtin.ts';
import { type FailureData, RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { commandLine } from '../../model/server.ts';
import type { Tool, ToolOutcome } from '../../model/tool.ts';
import { readContent, render, withAttachments } from '../../shaping/text.ts';
import { approveOwnOrder } from '../approving.ts';
import { parseArguments, parseArgumentsJson } from '../arguments.ts';
import { placeOf } from '../claim.ts';
import { type Command, type Context, UsageError } from '../command.ts';
import { loadConfigFor } from '../load-config.ts';
import { printable } from '../render/text.ts';
import { asLive, complainOf, requireServer, waitForAll, withRuntime } from '../with-runtime.ts';

export const call: Command = {
  usage:
    'call SERVER TOOL [key=value …] [key:=JSON …] [--args JSON|@FILE|-] [--yes] [--frozen]\n       plexus call mcp__SERVER__TOOL …',
  options: { args: { type: 'string' }, yes: { type: 'boolean', short: 'y' }, frozen: { type: 'boolean' } },
  help: {
    args: 'all arguments as one JSON object, from a file (@FILE) or from standard input (-)',
    yes: 'do not ask before calling a tool that states itself destructive, or has changed',
    frozen: 'call it only if it is exactly as plexus.lock holds it',
  },
  async run(context) {
    const { server, tool, words } = target(context.positionals);
    const given = await argumentsFrom(context);
    const only = server === undefined ? {} : { only: [server] };
    const frozen = context.values['frozen'] === true;
    const options = { ...only, frozen, approve: approveOwnOrder(context, (name) => originOf(name, context)) };
    return withRuntime(frozen ? asLive(context) : context, options, async (runtime, diagnostics) => {
      complainOf(diagnostics, context);
      const found =
        server === undefined ? await findByName(runtime, tool, context) : findOnServer(runtime, server, tool);
      const name = found?.name ?? (server === undefined ? tool : `mcp__${server}__${tool}`);
      const args = { ...given, ...parseArguments(words, found?.inputSchema ?? {}) };
      const work = runtime
        .turn()
        .call(name, args, { signal: context.signal })
        .catch((error) => {
          // The tool may have done its work: whoever ends the call must read that.
          if (context.signal.aborted) throw new RuntimeError('CALL_CANCELLED', found?.id ?? {}, { cause: error });
          throw server === undefined ? withHint(error) : unknownOn(server, tool, runtime, withHint(error));
        });
      // Whole, and yet an agent with a shell reads no secret here that it would not read in its text.
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

/** The file that defines a server, and what runs. */
async function originOf(server: string, context: Context): Promise<string | undefined> {
  const { definitions } = await loadConfigFor(context);
  const found = definitions.find(({ name }) => name === server);
  if (found === undefined) return undefined;
  const { provenance, launch } = found;
  const what = launch.kind === 'stdio' ? 'which runs' : 'which is at';
  return `${placeOf(provenance)}, ${what}: ${commandLine(withoutSecrets(launch))}`;
}

/** What it said, unwrapped and whole. What our own tools tell programs is in their words already. */
function wordsOf({ content, structured, attachments }: ToolOutcome, name: string): string {
  const isOwn = builtinNames.some((each) => each === name);
  return render(withAttachments(readContent(content, isOwn ? undefined : structured), attachments));
}

/** `SERVER TOOL`, or the tool alone in any spelling that names its server too; what holds a `=` is an argument. */
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

/** A name that is not there yet may come with a slow server; one that never comes is answered by the call itself. */
async function findByName(runtime: Runtime, name: string, context: Context): Promise<Tool | undefined> {
  const find = () => runtime.turn().find(name);
  const found = find();
  if (found) return found;
  if (runtime.status().some((each) => each.name === name))
    throw new UsageError(`name a tool of server "${name}" as well`);
  return waitForAll(runtime, context).then(find);
}

function findOnServer(runtime: Runtime, server: string, name: string): Tool | undefined {
  requireServer(runtime, server);
  return offeredBy(runtime, server).find((each) => each.id.tool === name || each.name === name);
}

const offeredBy = (runtime: Runtime, server: string) => runtime.getTools().filter(({ id }) => id.server === server);

/** Says it with the words of whoever asked: the server is known, and the tool is called as the server calls it. */
function unknownOn(server: string, name: string, runtime: Runtime, error: unknown): unknown {
  if (!(error instanceof RuntimeError) || error.code !== 'TOOL_UNKNOWN') return error;
  const { because = `server "${server}" does not offer it` } = error.data as FailureData<'TOOL_UNKNOWN'>;
  const names = offeredBy(runtime, server).map(({ id }) => id.tool);
  return new RuntimeError('TOOL_UNKNOWN', { name, nearest: nearest(name, names, limits.suggestions), because });
}

async function argumentsFrom(context: Context): Promise<JsonObject> {
  const given = context.values['args'];
  if (typeof given !== 'string') return {};
  if (given === '-') return parseArgumentsJson(await context.readStdin(), 'standard input');
  if (!given.startsWith('@')) return parseArgumentsJson(given, '--args');
  const file = resolve(context.cwd, given.slice(1));
  return parseArgumentsJson(await readArguments(file), file);
}

async function readArguments(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`);
  }
}

/** Where nobody could be asked, a person is told how to say yes beforehand. */
function withHint(error: unknown): unknown {
  if (!(error instanceof RuntimeError) || error.code !== 'APPROVAL_REFUSED') return error;
  const { because, changes = [], ...call } = error.data as FailureData<'APPROVAL_REFUSED'>;
  const different = changes.length > 0 ? ` (${changes.map(visible).join('; ')})` : '';
  return new RuntimeError('APPROVAL_REFUSED', {
    ...call,
    changes,
    because: `${because}${different}; with --yes it is called without asking`,
  });
}
