// Owns `plexus logs`: what a server wrote to stderr, when it started and why it ended; with --follow also what it writes next.

import { systemClock } from '../../kernel/clock.ts';
import { type Command, type Context, type Paint, UsageError } from '../command.ts';
import { runningGateway } from '../gateway-use.ts';
import { loadConfigFor } from '../load-config.ts';
import { openLog } from '../open-log.ts';
import { serverNameIn } from '../positionals.ts';
import { proposedCommand } from '../proposed-command.ts';
import { printable, shellWord } from '../render/text.ts';
import { unknownServer } from '../unknown-server.ts';

const DEFAULT_LINES = 50;

export const logs: Command = {
  usage: 'logs NAME [--follow] [--lines N]',
  options: { follow: { type: 'boolean' }, lines: { type: 'string' } },
  help: {
    follow: 'keep printing new lines, until Ctrl-C',
    'lines N': `how many of the last lines to print (${DEFAULT_LINES})`,
  },
  examples: ['logs files', 'logs files --follow', 'logs files --lines 200'],
  async run(context) {
    const { values, signal } = context;
    const name = serverNameIn(context);
    if (values['follow'] && values['json']) throw new UsageError('--follow cannot be combined with --json');
    const count = countIn(values['lines']);
    const gateway = values['follow'] ? runningGateway(context) : undefined;
    if (gateway)
      context.warn((paint) => paint.dim(`The running gateway (process ${gateway.pid}) writes this log too.`));
    const reader = openLog(context, name);
    const lines = await reader.last(count);
    // A server that was removed, or that only a host program defines, may have a log too.
    if (lines === undefined) await requireKnown(context, name);
    return {
      data: { server: name, file: reader.file, lines: lines ?? [] },
      text: (paint) => (lines === undefined ? printable(noneYet(name, context)) : linesText(lines, paint)),
      ...(values['follow'] && {
        more: async function* (paint: Paint) {
          for await (const news of reader.follow(systemClock, signal)) yield linesText(news, paint);
        },
      }),
    };
  },
};

/** Lines that Plexus wrote itself are dimmed. */
export function linesText(lines: readonly string[], paint: Paint): string {
  return lines.map((line) => (line.startsWith('--- ') ? paint.dim(printable(line)) : printable(line))).join('\n');
}

function countIn(value: Context['values'][string]): number {
  if (value === undefined) return DEFAULT_LINES;
  const count = Number(value);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new UsageError('--lines takes a number, 1 or more');
}

async function requireKnown(context: Context, name: string): Promise<void> {
  const config = await loadConfigFor(context);
  if ((await config.explain.server(name)) === undefined) throw unknownServer(name, config, context);
}

const noneYet = (name: string, context: Context) =>
  `"${name}" has no log yet, because it was never started. Start it with: ${proposedCommand(['tools', shellWord(name)], context)}`;
