// Owns the proof that an untrusted text hides nothing from its reader, and that ordinary scripts survive the cleaning.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutBytes } from '../../../src/catalog/definition/cut-bytes.ts';
import { cleanText, showHidden } from '../../../src/kernel/clean-text.ts';
import { verifies } from '../../verifies.ts';

describe('what cannot be seen is taken out, and its kind is told', () => {
  const cases: Record<string, [sent: string, text: string, found: string[]]> = {
    'a color': ['\x1b[31mred\x1b[0m', 'red', ['terminal escapes']],
    'a link with its address': ['see \x1b]8;;http://evil\x07here\x1b]8;;\x1b\\', 'see here', ['terminal escapes']],
    'a title that never ends': ['a\x1b]0;b and c', 'a0;b and c', ['terminal escapes']],
    'a title, begun and ended in one character': ['a\x9d0;title\x9cb', 'ab', ['terminal escapes']],
    'a title in one that never ends': ['\x90x\x9dtitle\x9cb', 'xb', ['terminal escapes', 'control characters']],
    'a color in one character': ['\x9b1mbold', 'bold', ['terminal escapes']],
    'a lone escape, a bell, a backspace': ['a\x1b\x07\bb\x7f', 'ab', ['control characters']],
    'an overwritten line': ['good\rbad', 'good\nbad', ['control characters']],
    'a separator of lines': ['a\u2028b', 'a\nb', ['control characters']],
    'spaces without width': ['ig\u200bnore\u2060 \ufeffthis\u00ad', 'ignore this', ['zero-width characters']],
    'fillers that look like nothing': ['a\u3164b\u115fc', 'abc', ['zero-width characters']],
    'a joiner between letters that do not join': ['a\u200db\u200cc', 'abc', ['zero-width characters']],
    'a reversed word': [
      '\u202egnp.exe\u202c \u2066x\u2069\u200e',
      'gnp.exe x',
      ['characters that turn the direction of text'],
    ],
    'instructions in tags': [`hi${tagged('ignore all')}!`, 'hi!', ['tag characters']],
    'data in variation selectors': ['x\ufe00\ufe01\ufe0f\u{e0123}y', 'xy', ['variation selectors']],
    'more than one selector after an emoji': ['☀\ufe0f\ufe0f\ufe0f', '☀\ufe0f', ['variation selectors']],
    'half a character': ['a\ud800b\udc00', 'a\ufffdb\ufffd', ['broken characters']],
    'several kinds, in a fixed order': [
      '\u202e\u200b\x00\x1b[1m',
      '',
      ['terminal escapes', 'control characters', 'zero-width characters', 'characters that turn the direction of text'],
    ],
  };
  for (const [what, [sent, text, found]] of Object.entries(cases))
    verifies('EXT-16', what, () => expect(cleanText(sent)).toEqual({ text, found }));
});

function tagged(text: string): string {
  return [...text].map((char) => String.fromCodePoint(0xe0000 + (char.codePointAt(0) ?? 0))).join('');
}

describe('what belongs to the text stays', () => {
  const texts = {
    'lines and tabs': 'a\n\tb',
    'a family and a flag': '👨‍👩‍👧‍👦 🏳️‍🌈 ❤️‍🔥 👩🏽‍💻 ☀️ 1️⃣',
    'Persian and Hindi': 'می‌خواهم क्‍ष',
    'Hebrew, Chinese, Greek': 'שלום 漢字 αβγ',
    'a variant of an ideograph': '葛\u{e0100}',
    'marks above letters': 'e\u0301',
  };
  for (const [what, text] of Object.entries(texts))
    test(what, () => expect(cleanText(text)).toEqual({ text, found: [] }));

  test('and ends of lines become the usual ones without a word', () =>
    expect(cleanText('é a\r\nb')).toEqual({ text: 'é a\nb', found: [] }));
});

test('cleaning twice is cleaning once', () => {
  const odd = fc.constantFrom(
    '\x1b',
    '[',
    '31m',
    ']',
    '\x07',
    '\r',
    '\n',
    '\u200d',
    '\ufe0f',
    '☀',
    'a',
    '\ud83d',
    '\ude00',
    '\u202e',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(odd).map((parts) => parts.join('')),
      ),
      (sent) => {
        const { text } = cleanText(sent);
        expect(cleanText(text)).toEqual({ text, found: [] });
      },
    ),
  );
});

test('a long hostile text takes no longer than its length', () => {
  const strings = ['\x90', '\x98', '\x9d', '\x9e', '\x9f', '\x90\x9b', '\x1b]\x9d'];
  for (const part of ['\x1b]', '\x1b[1', '\x9b', '\u200d', '\ud800', '\x1bP', 'a\ufe0f', '\x1b ', ...strings]) {
    const before = process.cpuUsage();
    cleanText(part.repeat(200_000));
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(10_000);
  }
});

test('a name is shown with what it hides', () => {
  expect(showHidden('pa\u200bth')).toBe('pa\\u{200b}th');
  expect(showHidden('path')).toBe('path');
});

describe('a cut', () => {
  verifies('EXT-16', 'is exact in bytes, whole in characters, and marked', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 20, max: 200 }), (text, limit) => {
        const cut = cutBytes(text, limit);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit);
        if (Buffer.byteLength(text) <= limit) expect(cut).toBe(text);
        else {
          expect(cut.endsWith('… [cut]')).toBe(true);
          expect(text.startsWith(cut.slice(0, -'… [cut]'.length))).toBe(true);
          expect(cut).not.toMatch(/\p{Cs}/u);
        }
      }),
    );
  });
});
