// Owns `plexus get`: one server, with its effective settings, where each came from, what it overrides, and its last words.

import { limits } from '../../model/limits.ts';
import { labelOf } from '../../model/server.ts';
import { type Command, type CommandResult, type Context, type Paint, UsageError } from '../command.ts';
import { explanationText, presentable } from '../explanation.ts';
import { loadConfigFor, openTrust } from '../load-config.ts';
import { indent, printable, shellWord } from '../render/text.ts';
import { unknownServer } from '../unknown-server.ts';
import { linesText, openLog } from './logs.ts';

export const get: Command = {
  usage: 'get NAME',
  options: {},
  async run(context) {
    const [name, extra] = context.positionals;
    if (name === undefined || extra !== undefined) throw new UsageError('name one server');
    const { data, text } = await explain(context, name);
    const reader = openLog(context, name);
    const lines = await reader.last(limits.logView.briefLines);
    if (lines === undefined) return { data, text };
    const log = { file: reader.file, lines };
    return { data: { ...data, log }, text: (paint) => `${text(paint)}\n${logText(log, paint)}` };
  },
};

/** Also the answer of `plexus config why`. */
export async function explain(context: Context, name: string): Promise<CommandResult & { readonly data: object }> {
  const [{ gate }, config] = await Promise.all([openTrust(context), loadConfigFor(context)]);
  const found = await config.explain.server(name);
  if (found === undefined) throw unknownServer(name, config, context);
  const explained = presentable(found);
  const definition = config.definitions.find((each) => each.name === name);
  const trust = definition ? (await gate.judge(definition)).kind : undefined;
  return {
    data: { ...explained, label: labelOf(explained), ...(trust && { trust }) },
    text: (paint) => [explanationText(explained, paint), trustText(name, trust)].filter(Boolean).join('\n'),
  };
}

function trustText(name: string, trust: string | undefined): string | undefined {
  if (trust === 'asks') return printable(`It does not start before you approve it: plexus approve ${shellWord(name)}`);
  return trust === 'restricted' ? 'It gets nothing of yours: no variables, no stored credentials.' : undefined;
}

function logText({ file, lines }: { file: string; lines: readonly string[] }, paint: Paint): string {
  return [`The end of its log, ${printable(file)}:`, indent(linesText(lines, paint))].join('\n');
}
