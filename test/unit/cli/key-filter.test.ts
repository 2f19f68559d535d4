// Owns the proof that pasted text answers no question, however a terminal delivers it, and that single keys always count.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createKeyFilter } from '../../../src/cli/key-filter.ts';
import { deviceOf } from '../../../src/cli/type-ahead.ts';
import { verifies } from '../../verifies.ts';

const typedIn = (takesText: boolean, chunks: readonly string[]) => {
  const filter = createKeyFilter({ takesText });
  return chunks.map((chunk) => filter(chunk).keys).join('');
};
const [START, END] = ['\u001b[200~', '\u001b[201~'];

describe('a question about yes or no', () => {
  const cases: Record<string, [chunks: readonly string[], keys: string]> = {
    'takes keys that come one by one': [['y', 'e', 's', '\r'], 'yes\r'],
    'takes keys that are sequences, and Enter in two characters': [
      ['\u001b[A', '\u001bOB', '\u007f', '\r\n'],
      '\u001b[A\u001bOB\u007f\r\n',
    ],
    'takes nothing of several keys at once': [['a\r'], ''],
    'takes nothing of a line': [['yes\n'], ''],
    'takes nothing of several lines': [['y\ny\ny\n'], ''],
    'takes nothing of a marked paste': [[`${START}y\r${END}`], ''],
    'takes nothing of a marked paste in many parts': [[START, 'y', '\r', 'a', '\r', END], ''],
    'takes nothing of a paste whose marks come in parts': [['\u001b[20', '0~', 'y', '\r', '\u001b[2', '01~'], ''],
    'takes nothing that comes together with a paste': [[`y${START}x${END}\r`], ''],
    'takes keys after a paste': [[`${START}no${END}`, 'y', '\r'], 'y\r'],
    'takes Ctrl-C out of anything, also within a paste that never ends': [
      ['ab\u0003', START, 'y', '\u0003'],
      '\u0003\u0003',
    ],
    'takes one character of several bytes': [['😀'], '😀'],
  };
  for (const [what, [chunks, keys]] of Object.entries(cases))
    verifies('PER-08', what, () => expect(typedIn(false, chunks)).toBe(keys));

  test('says when it left something out', () => {
    const filter = createKeyFilter({ takesText: false });
    expect([`${START}y${END}`, 'y', 'ab'].map((chunk) => filter(chunk).isPaste)).toEqual([true, false, true]);
  });
});

describe('a question for a text', () => {
  const cases: Record<string, [chunks: readonly string[], keys: string]> = {
    'takes pasted text without its line end': [[`${START}ada@example.com\r${END}`], 'ada@example.com'],
    'takes a paste that is not marked': [['ada@example.com\n'], 'ada@example.com'],
    'puts a space between lines': [[`${START}one\r\ntwo`, '\rthree\n', END], 'one two three'],
    'obeys nothing in it': [[`${START}a\u0004b\u001b[Dc\u0015${END}`], 'a bc '],
    'is ended by Enter alone': [['abc\r', '\r'], 'abc\r'],
  };
  for (const [what, [chunks, keys]] of Object.entries(cases))
    verifies('PER-08', what, () => expect(typedIn(true, chunks)).toBe(keys));
});

test('no marked paste ends a line, in whatever parts it comes', () => {
  const text = fc.string({ unit: fc.constantFrom('y', 'a', '\r', '\n', '\u001b', '[', '2', '0', '1', '~') });
  fc.assert(
    fc.property(text, fc.array(fc.nat(12), { maxLength: 30 }), fc.boolean(), (pasted, sizes, takesText) => {
      fc.pre(!pasted.includes(END));
      const chunks: string[] = [];
      let left = `${START}${pasted}${END}`;
      for (const size of [...sizes, left.length]) {
        // A terminal sends at least a mark's first three characters at once.
        const length = Math.max(3, size);
        chunks.push(left.slice(0, length));
        left = left.slice(length);
      }
      expect(typedIn(takesText, chunks)).not.toMatch(/[\r\n]/);
    }),
  );
});

test('the terminal is opened once more by a name that each system has', () => {
  expect((['linux', 'darwin', 'win32'] as const).map((platform) => deviceOf(0, platform))).toEqual([
    '/proc/self/fd/0',
    '/dev/tty',
    undefined,
  ]);
});
