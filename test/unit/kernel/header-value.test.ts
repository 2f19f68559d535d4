// Owns the proof that any text survives its way through an HTTP header.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeHeaderValue } from '../../../src/kernel/header-value.ts';

/** Decodes as a server does: trims the field, then checks for the sentinel. */
function decode(header: string): string {
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(header.trim()) ?? [];
  return encoded === undefined ? header.trim() : Buffer.from(encoded, 'base64').toString('utf8');
}

const texts: Record<string, [text: string, header: string]> = {
  'plain text stays as it is': ['us west 1', 'us west 1'],
  'one character is plain text': ['~', '~'],
  'no text at all': ['', '=?base64??='],
  'a space in front': [' us', '=?base64?IHVz?='],
  'a space behind': ['us ', '=?base64?dXMg?='],
  'a tab inside': ['a\tb', '=?base64?YQli?='],
  'a line that would become a header of its own': ['a\r\nX-Evil: 1', '=?base64?YQ0KWC1FdmlsOiAx?='],
  'letters beyond ASCII': ['Grüße, 世界', '=?base64?R3LDvMOfZSwg5LiW55WM?='],
  'text that looks encoded': ['=?base64?YQ==?=', '=?base64?PT9iYXNlNjQ/WVE9PT89?='],
  'text that only begins like it': ['=?base64?', '=?base64?'],
};

test.each(Object.entries(texts))('%s', (_, [text, header]) => expect(encodeHeaderValue(text)).toBe(header));

test('any text comes back as it was, and any header is one that HTTP can carry', () => {
  const looksEncoded = fc.string().map((text) => `=?base64?${text}?=`);
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), looksEncoded), (text) => {
      const header = encodeHeaderValue(text);
      expect(header).toMatch(/^[ -~]+$/);
      expect(decode(header)).toBe(text);
    }),
  );
});
