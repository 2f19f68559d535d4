// Owns what servers may make of a plain value: the number that a text spells, the yes or no that a word stands for, the items of
// a list that is written as one text. Two values that share a reading may be the same to some server.

import { withPlainDigits } from '../kernel/decimal-digits.ts';
import { latePattern } from '../kernel/late-pattern.ts';
import type { Plain } from '../model/rule.ts';
import { looseForm } from './tri-state.ts';

/** Whether some server may take the one value for the other. */
export function mayBeSame(expected: Plain, value: Plain): boolean {
  const wanted = readingsOf(String(expected));
  const parts = partsOf(String(value));
  return (
    parts.length > MOST_PARTS || parts.some((part) => [...readingsOf(part)].some((reading) => wanted.has(reading)))
  );
}

/** The text itself, and the items where it may be a list: with commas or line ends between them, or written as JSON. */
function partsOf(text: string): readonly string[] {
  return [text, ...text.split(/[,;|\n[\]{}()]+/, MOST_PARTS)];
}

/** A list with more items is not read: it may hold anything. */
const MOST_PARTS = 1_000;

const invisible = latePattern(String.raw`\p{Cf}`, 'gu');

function readingsOf(text: string): ReadonlySet<string> {
  const plain = unquoted(withPlainDigits(looseForm(text)).replace(invisible(), ''));
  const numbers = [plain, plain.replace(/(?<=\d)[_ ,'](?=\d)/g, ''), plain.replace(',', '.')].flatMap(numberIn);
  const word = words.get(plain);
  const meanings = [...(word === undefined ? [] : [word]), ...numbers.flatMap((number) => words.get(number) ?? [])];
  return new Set([`text ${plain}`, ...numbers.map((number) => `number ${number}`), ...meanings]);
}

/** Without the blanks and quotes around it. Never searches back and forth: the text may be long. */
function unquoted(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && AROUND.test(text.charAt(start))) start++;
  while (end > start && AROUND.test(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

const AROUND = /[\s"'`]/;

/** No number that a person or a model writes is longer. */
const LONGEST_NUMBER = 400;
const NUMBER = /^[+-]?(?:0x[0-9a-f]+|0o[0-7]+|0b[01]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)$/;

/** The number that the text spells in some language, in one spelling: `01`, `1.0`, `+1` and `1e0` are the same. */
function numberIn(text: string): readonly string[] {
  if (text.length > LONGEST_NUMBER || !NUMBER.test(text)) return [];
  const sign = text.startsWith('-') ? -1 : 1;
  const bare = text.replace(/^[+-]/, '');
  // In some languages a nought in front means base eight.
  const octal = /^0[0-7]+$/.test(bare) ? [Number.parseInt(bare, 8)] : [];
  return [Number(bare), ...octal].map((number) => String(sign * number + 0));
}

/** Words for yes and no in configuration files, command lines and common languages of servers. */
const words: ReadonlyMap<string, string> = new Map([
  ...['true', 'yes', 'on', 'y', 't', '1', 'enabled', 'enable'].map((word) => [word, 'yes'] as const),
  ...['false', 'no', 'off', 'n', 'f', '0', '', 'disabled', 'disable'].map((word) => [word, 'no'] as const),
]);
