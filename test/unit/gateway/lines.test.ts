// Owns the proof of how `plexus connect` reads lines, however the bytes are cut, and of a line that never ends.

import { expect, test } from 'vitest';
import { Lines } from '../../../src/gateway/connect/lines.ts';

function read(chunks: readonly string[], mostBytes?: number) {
  let tooLong = 0;
  const reader = new Lines(() => tooLong++, mostBytes);
  const lines = chunks.map((chunk) => reader.push(Buffer.from(chunk)));
  return { lines, rest: reader.end(), tooLong };
}

test('lines come when their newline does, without those that are blank', () => {
  expect(read(['a\nb', '', 'c\n', '\n \nd\ne\n\nf'])).toEqual({
    ...{ lines: [['a'], [], ['bc'], ['d', 'e']], rest: ['f'], tooLong: 0 },
  });
  const bytes = Buffer.from('ä\n');
  const reader = new Lines(() => expect.fail('it is short'));
  expect([...bytes].map((byte) => reader.push(Buffer.of(byte)))).toEqual([[], [], ['ä']]);
});

test('a line that no gateway takes is dropped while it comes, told of once, and the next one is read', () => {
  expect(read(['123456', '78', '9\nnext', '\n1234567\n', 'last'], 7)).toEqual({
    ...{ lines: [[], [], [], ['next', '1234567'], []], rest: ['last'], tooLong: 1 },
  });
  expect(read(['12345678', '9'], 7)).toEqual({ lines: [[], []], rest: [], tooLong: 1 });
});
