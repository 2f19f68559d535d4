// Owns `plexus scan`: finds text that looks like an instruction to a model. A finding is a hint and never fails the command.

import type { Signal } from '../../model/tool.ts';
import { findSignals, type Surface, surfaces } from '../../shaping/injection.ts';
import { type Command, type Paint, UsageError } from '../command.ts';
import { answerLines, InvalidLine, readInput } from '../input-texts.ts';
import { table } from '../render/text.ts';

export const scan: Command = {
  usage: 'scan [FILE|-] [--surface SURFACE]\n  plexus scan [FILE|-] --jsonl',
  options: { surface: { type: 'string' }, jsonl: { type: 'boolean' } },
  help: {
    'surface SURFACE': `where the text comes from: ${surfaces.join(', ')} (${surfaces[0]})`,
    jsonl: 'read one JSON { text, surface? } per line, and print one { signals } per line',
  },
  examples: ['scan page.html', 'scan description.txt --surface tool_description', 'scan --jsonl < texts.jsonl'],
  async run(context) {
    const { values } = context;
    const surface = surfaceOf(values['surface']);
    if (surface === undefined) throw new UsageError(`--surface takes one of ${surfaces.join(', ')}`);
    if (values['jsonl'])
      return answerLines(context, (given) => {
        const own = given.surface === undefined ? surface : surfaceOf(given.surface);
        if (own === undefined) throw new InvalidLine(`has a "surface" that is none of ${surfaces.join(', ')}`);
        return { signals: findSignals(given.text, own) };
      });
    const text = await readInput(context);
    const signals = findSignals(text, surface);
    return { data: { signals }, text: (paint) => signalsText(signals, text, paint) };
  },
};

function surfaceOf(value: unknown): Surface | undefined {
  return value === undefined ? surfaces[0] : surfaces.find((each) => each === value);
}

function signalsText(signals: readonly Signal[], text: string, paint: Paint): string {
  if (signals.length === 0) return 'No signals found.';
  const rows = signals.map(({ name, at, excerpt }) => [
    { text: name, paint: paint.yellow },
    { text: placeOf(text, at) },
    { text: excerpt },
  ]);
  return table(['SIGNAL', 'LINE:COLUMN', 'TEXT'], rows, paint);
}

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at).split('\n');
  return `${before.length}:${(before.at(-1) ?? '').length + 1}`;
}
