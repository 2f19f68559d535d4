// Owns `plexus get`: one server, with its effective settings, where each came from, and what it overrides.

import { nearest } from '../../kernel/nearest.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { labelOf } from '../../model/server.ts';
import { type Command, type Context, type Found, UsageError } from '../command.ts';
import { explanationText, presentable } from '../explanation.ts';
import { loadConfigFor, openTrust } from '../load-config.ts';
import { printable, shellWord } from '../render/text.ts';
import { complainOf } from '../with-runtime.ts';

export const get: Command = {
  usage: 'get NAME',
  options: {},
  async run(context) {
    const [name, extra] = context.positionals;
    if (name === undefined || extra !== undefined) throw new UsageError('name one server');
    return explain(context, name);
  },
};

/** Also the answer of `plexus config why`. */
export async function explain(context: Context, name: string): Promise<Found> {
  const [{ gate }, config] = await Promise.all([openTrust(context), loadConfigFor(context)]);
  const found = await config.explain.server(name);
  if (found === undefined) {
    complainOf(config.diagnostics, context);
    const names = [...config.definitions, ...config.invalid, ...config.suppressed].map((each) => each.name);
    throw new RuntimeError('SERVER_UNKNOWN', { server: name, nearest: nearest(name, names, limits.suggestions) });
  }
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
