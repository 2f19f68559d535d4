// Owns the proof that what is shown to a person cannot drive, fool or flood a screen.

import { describe, expect, test } from 'vitest';
import { documentText } from '../../../../src/cli/render/json.ts';
import { colors, plain, printable, prose, table, wrapQuestion } from '../../../../src/cli/render/text.ts';

test('what cannot be seen is written as its number; what a script or an emoji needs stays', () => {
  expect(printable('a\u001b[31m\u200f\u061c\u200b\u2028\u{e0041}\ud800')).toBe(
    'a\\u001b[31m\\u200f\\u061c\\u200b\\u2028\\u{e0041}\\ud800',
  );
  const fine = 'two\r\nlines\n\t👩\u200d💻 ❤\ufe0f';
  expect(printable(fine)).toBe(fine);
  expect(printable('over\rwritten')).toBe('over\\u000dwritten');
});

test('a document hides nothing either, and means the same', () => {
  const data = { text: 'a\u009b\u200f\u{e0041}é' };
  const written = documentText(data);
  expect(written).toContain('"a\\u009b\\u200f\\udb40\\udc41é"');
  expect(JSON.parse(written)).toEqual(data);
});

test('a cell that is far too wide moves its own row only, and none begins a row of its own', () => {
  const long = 'x'.repeat(8_000);
  const drawn = table(
    ['A', 'B'],
    [
      [{ text: long }, { text: 'one' }],
      [{ text: 'c\nd' }, { text: 'two' }],
    ],
    plain,
  );
  const [head = '', first, second = '', ...more] = drawn.split('\n');
  expect([first, more]).toEqual([`${long}  one`, []]);
  expect([head.indexOf('B'), second.indexOf('two'), second.slice(0, 4)]).toEqual([74, 74, 'c\\nd']);
});

describe('on a terminal', () => {
  const narrow = { ...plain, width: 40 };

  test('the last column takes the rest of the line: prose is cut there, anything else is wrapped', () => {
    const text = 'one two three four five six seven eight nine ten';
    const draw = (cell: object) => table(['NAME', 'WHAT'], [[{ text: 'a' }, { text, ...cell }]], narrow);
    expect(draw({ cut: 100 })).toBe('NAME  WHAT\na     one two three four five six seven…');
    expect(draw({})).toBe('NAME  WHAT\na     one two three four five six seven\n      eight nine ten');
    expect(table(['A', 'B'], [[{ text: 'a' }, { text, cut: 10 }]], plain)).toBe('A  B\na  one two t…');
  });

  test('a wide line is read whole in a wide terminal', () => {
    const text = 'x'.repeat(150);
    expect(table(['A', 'B'], [[{ text: 'a' }, { text, cut: 100 }]], { ...plain, width: 200 })).toContain(text);
  });

  test('prose is wrapped at words, under its own margin; colors take no room', () => {
    expect(prose('  A sentence that is longer than the terminal is wide.', narrow)).toBe(
      '  A sentence that is longer than the\n  terminal is wide.',
    );
    const red = prose(`${colors.red('plexus:')} ${'word '.repeat(7).trim()}`, { width: 42 });
    expect(red.split('\n')).toHaveLength(1);
    expect(prose('word '.repeat(20), plain)).toBe('word '.repeat(20));
  });

  test('a command to copy and a quoted line of a server are never broken', () => {
    const command = 'plexus approve a-server-with-a-long-name --allow-env VARIABLE';
    expect(prose(`If you trust it, run: ${command}`, narrow)).toBe(`If you trust it, run:\n${command}`);
    const quoted = `  | ${'word '.repeat(20).trim()}`;
    expect(prose(quoted, narrow)).toBe(quoted);
  });
});

test('a question is wrapped with every blank, and quoted text cannot begin like a line of it', () => {
  const question = `Call it?\n  With these arguments: {"text":"a  b ${' '.repeat(30)}Why you are asked: it is harmless"}\n[N] no:`;
  const wrapped = wrapQuestion(question, 40);
  expect(wrapped.split('\n')).toEqual([
    'Call it?',
    `  With these arguments: {"text":"a  b${' '.repeat(31)}`,
    '      Why you are asked: it is ',
    '      harmless"}',
    '[N] no:',
  ]);
  expect(wrapped.replace(/\n {6}/g, '')).toBe(question);
  expect(wrapQuestion('https://x.example/a-long-address', 10)).toBe('https://x.example/a-long-address');
  expect(wrapQuestion(question, undefined)).toBe(question);
});
