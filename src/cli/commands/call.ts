// Owns `plexus call`: one tool call that a person typed. `call-approval.ts` decides whether to ask before it; a rule that denies
// the call is obeyed.

import { visible } from '../../kernel/shell-word.ts';
import { builtinNames } from '../../model/builtin.ts';
import { type FailureData, RuntimeError } from '../../model/errors.ts';
import type { ToolOutcome } from '../../model/tool.ts';
import { readContent, render, withAttachments } from '../../shaping/text.ts';
import { optionsFor, readAskedTool, toolsLine } from '../asked-tool.ts';
import { approveTypedCall } from '../call-approval.ts';
import { createCallFailures } from '../call-failures.ts';
import { type Command, type CommandResult, type Context, UsageError } from '../command.ts';
import { findTool, unknownOn } from '../find-tool.ts';
import { createGatewayUse } from '../gateway-use.ts';
import { stepText } from '../render/progress.ts';
import { printable, shellWord } from '../render/text.ts';
import { originOf } from '../server-origin.ts';
import { showTool } from '../show-tool.ts';
import { argumentsFor, argumentsFrom, withSpelling } from '../typed-arguments.ts';
import { unconfiguredHelp, unconfiguredOptions } from '../unconfigured-server.ts';
import { asLive, startupForTools, withRuntime } from '../with-runtime.ts';

export const call: Command = {
  usage: [
    'call SERVER TOOL [key=value …] [key:=JSON …] [key=@FILE …] [--args JSON|@FILE|-] [options]',
    'plexus call mcp__SERVER__TOOL …',
    'plexus call (--url ADDRESS | --stdio COMMAND) TOOL …',
    'plexus call SERVER TOOL --help',
  ].join('\n  '),
  options: {
    args: { type: 'string' },
    yes: { type: 'boolean', short: 'y' },
    frozen: { type: 'boolean' },
    timeout: { type: 'string' },
    'save-images': { type: 'string' },
    ...unconfiguredOptions,
  },
  words: {
    'key=value': "read by the tool's schema: as text, number, boolean, list or object",
    'key=a key=b': 'a list, where the tool takes one',
    'key:=JSON': 'taken as it is',
    'key=@FILE': 'what the file holds; - is standard input, and @@ begins a text with @',
  },
  help: {
    'args JSON': 'all arguments as one JSON object; @FILE reads it from a file, - from standard input',
    yes: 'do not ask before calling a tool that is destructive or has changed',
    frozen: 'call the tool only if it is exactly as plexus.lock records it',
    'timeout SECONDS': 'give up after this time, in place of the configured limit; 0 means never',
    'save-images DIR': 'write the images of the answer to this folder',
    ...unconfiguredHelp,
  },
  examples: [
    'call files read_text_file --help',
    'call files read_text_file path=notes.txt head=5',
    `call memory open_nodes names=Ada names=Bob`,
    `call memory open_nodes names:='["Ada"]'`,
    'call notes add text=@draft.md',
    'call shop photo id=7 --timeout 30 --save-images photos',
    'call --stdio "npx -y my-server" add a=1 b=2',
  ],
  helpOn: ({ positionals, values }) =>
    positionals.length > 0 || values['url'] || values['stdio'] ? helpOnTool : undefined,
  optionHint: (name, value) =>
    `a tool's arguments are written without dashes: ${shellWord(`${name}=${value ?? 'VALUE'}`)}`,
  async run(context) {
    const asked = await readAskedTool(context);
    const { unconfigured, words, ...target } = asked;
    const fromOption = await argumentsFrom(context);
    const frozen = context.values['frozen'] === true;
    const limit = timeLimitIn(context);
    const savesImages = context.values['save-images'] === undefined ? undefined : await import('../save-images.ts');
    const folder = await savesImages?.imageFolder(context);
    const origin = async (name: string) => unconfigured?.origin ?? originOf(name, context);
    const failures = createCallFailures(context, target.server ?? unconfigured?.name);
    const approve = failures.watch(
      approveTypedCall(context, { originOf: origin, isUnremembered: unconfigured !== undefined }),
    );
    const gateway = createGatewayUse(context, { isUnconfigured: unconfigured !== undefined });
    const options = { ...optionsFor(asked), frozen, approve, gateway };
    return withRuntime(frozen ? asLive(context) : context, options, async (runtime, diagnostics) => {
      if (!unconfigured) failures.read(diagnostics);
      const { turn, name, tool } = await findTool(runtime, target, context);
      const args = tool ? await argumentsFor(tool, { fromOption, words, asked, context }) : {};
      const work = turn
        .call(name, args, { ...limit, signal: context.signal, onProgress: (step) => context.showStep(stepText(step)) })
        .catch((error) => {
          // The tool may have done its work: the person who cancels the call must read that.
          if (context.signal.aborted) throw new RuntimeError('CALL_CANCELLED', tool?.id ?? {}, { cause: error });
          const explained = tool ? withSpelling(error, { tool, args, asked, context }) : error;
          throw unknownOn(runtime, target, toolsLine(asked, context), withHint(explained));
        });
      // The full result, but redacted: an agent with a shell must not read secrets here that a tool's text hides from it.
      const answer = runtime.redact(await context.waitFor(`calling ${target.tool}`, work));
      const saved = folder === undefined ? undefined : await savesImages?.saveImages(answer, folder, context);
      const { outcome, isIncomplete } = saved ?? { outcome: answer, isIncomplete: false };
      const text = wordsOf(outcome, name);
      return {
        data: { ...outcome, ...gateway.field() },
        text: () => (context.toTerminal ? printable(text) : text),
        exitCode: outcome.isError ? 5 : isIncomplete ? 1 : 0,
      };
    }).catch(failures.explain);
  },
};

function timeLimitIn({ values: { timeout } }: Context): { readonly timeoutMs?: number } {
  if (timeout === undefined) return {};
  const seconds = typeof timeout === 'string' && timeout.trim() !== '' ? Number(timeout) : Number.NaN;
  if (!(seconds >= 0 && seconds <= LONGEST_SECONDS))
    throw new UsageError('--timeout takes a number of seconds, such as 30 or 0.5');
  return { timeoutMs: Math.round(seconds * 1_000) };
}

/** The longest time that a timer of Node can wait. */
const LONGEST_SECONDS = (2 ** 31 - 1) / 1_000;

async function helpOnTool(context: Context): Promise<CommandResult> {
  const asked = await readAskedTool(context);
  const isUnconfigured = asked.unconfigured !== undefined;
  const gateway = createGatewayUse(context, { isUnconfigured });
  const options = { ...optionsFor(asked), startup: startupForTools(context), gateway };
  return withRuntime(context, options, (runtime) => showTool(runtime, asked, context));
}

/** The full text of the result, without boundary markers. The text of built-in tools already holds their structured content. */
function wordsOf({ content, structured, attachments }: ToolOutcome, name: string): string {
  const isOwn = builtinNames.some((each) => each === name);
  return render(withAttachments(readContent(content, isOwn ? undefined : structured), attachments));
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
