// Owns the proof that server-sent events are read as they were written, however the network cut them.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventStreamReader } from '../../../src/transport/event-stream.ts';

type Told = readonly [type: string, data: string] | readonly ['oversized', unknown];

function read(chunks: readonly (string | Buffer)[], maxBytes = 1_000_000) {
  const told: Told[] = [];
  const reader = new EventStreamReader(maxBytes, {
    onEvent: (type, data) => told.push([type, data]),
    onOversized: (id) => told.push(['oversized', id]),
  });
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  return { reader, told };
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...sorted].map((from, index) => bytes.subarray(from, sorted[index] ?? bytes.length));
}

describe('reading', () => {
  const stories: Readonly<Record<string, readonly [text: string, told: readonly Told[]]>> = {
    'an event has a type and data': ['event: message\ndata: {"a":1}\n\n', [['message', '{"a":1}']]],
    'the type may be left out': ['data: x\n\n', [['', 'x']]],
    'one space after the colon is no part of the value': ['data:x\ndata:  y\n\n', [['', 'x\n y']]],
    'several lines of data are one text': ['data: {\ndata: "a":1}\n\n', [['', '{\n"a":1}']]],
    'comments are passed over': [': hello\n:\ndata: x\n: again\n\n', [['', 'x']]],
    'a byte order mark is no part of the first line': [
      '\uFEFFdata: x\n\ndata: \uFEFFy\n\n',
      [
        ['', 'x'],
        ['', '\uFEFFy'],
      ],
    ],
    'lines may end in any of the three ways': [
      'data: 1\r\n\r\ndata: 2\r\rdata: 3\n\n',
      [
        ['', '1'],
        ['', '2'],
        ['', '3'],
      ],
    ],
    'an event without data is none': ['event: ping\n\nid: 7\n\ndata: x\n\n', [['', 'x']]],
    'empty data is told': ['id: 7\ndata:\n\n', [['', '']]],
    'a field without a colon is a field': ['data\n\n', [['', '']]],
    'unknown fields are passed over': ['color: red\ndata: x\n\n', [['', 'x']]],
    'what is not finished is not told yet': ['data: x\n\ndata: y\n', [['', 'x']]],
  };
  for (const [sentence, [text, told]] of Object.entries(stories)) {
    test(sentence, () => {
      const bytes = Buffer.from(text);
      expect(read([bytes]).told).toEqual(told);
      expect(read([...bytes].map((byte) => Buffer.from([byte]))).told).toEqual(told);
    });
  }

  test('the id and the pause to keep are those of the last finished event', () => {
    const { reader } = read(['id: 1\nretry: 2500\ndata: x\n\n', 'id: 2\ndata: y\n']);
    expect([reader.lastEventId, reader.retryMs]).toEqual(['1', 2500]);
    reader.push(Buffer.from('\n'));
    expect(reader.lastEventId).toBe('2');
    reader.push(Buffer.from('data: an event without an id changes nothing\n\nretry: soon\nid: a\0b\n\n'));
    expect([reader.lastEventId, reader.retryMs]).toEqual(['2', 2500]);
    reader.push(Buffer.from('id\n\n'));
    expect(reader.lastEventId).toBeUndefined();
  });

  test('a stream that ends in good order is read to its last byte', () => {
    const { reader, told } = read(['data: {"a":1}\n\ndata: {"b":', '2}']);
    reader.end();
    reader.end();
    expect(told).toEqual([
      ['', '{"a":1}'],
      ['', '{"b":2}'],
    ]);
  });

  test('events are the same however their bytes are cut', () => {
    const line = fc.constantFrom('data: é€😀', 'data:x', 'event: e', 'id: 1', ': c', '', '', 'retry: 1', 'data', 'x');
    const end = fc.constantFrom('\n', '\r', '\r\n');
    fc.assert(
      fc.property(
        fc.array(fc.tuple(line, end)),
        fc.array(fc.nat()),
        fc.constantFrom(30, 1_000),
        (lines, places, maxBytes) => {
          const text = lines.map((each) => each.join('')).join('');
          const bytes = Buffer.from(text);
          const byByte = read(
            [...bytes].map((byte) => Buffer.from([byte])),
            maxBytes,
          );
          const whole = read([bytes], maxBytes);
          const inPieces = read(cut(bytes, places), maxBytes);
          for (const each of [whole, inPieces]) {
            expect(each.told).toEqual(byByte.told);
            expect(each.reader.lastEventId).toBe(byByte.reader.lastEventId);
          }
        },
      ),
    );
  });
});

describe('what is too large', () => {
  const big = (id: number) => JSON.stringify({ jsonrpc: '2.0', result: { text: 'x'.repeat(5_000), id: 99 }, id });

  test('an event over the limit is dropped, the one it answered is told, and reading goes on', () => {
    const bytes = Buffer.from(`id: "9"\nevent: message\ndata: ${big(7)}\nid: {\n\ndata: next\n\n`);
    const told: Told[] = [
      ['oversized', 7],
      ['', 'next'],
    ];
    expect(read([bytes], 1_000).told).toEqual(told);
    for (const size of [1, 7, 100, 1_001]) {
      const places = Array.from({ length: Math.floor(bytes.length / size) }, (_, index) => index * size);
      expect(read(cut(bytes, places), 1_000).told).toEqual(told);
    }
  });

  test('its data may stand on many lines', () => {
    const lines = JSON.stringify(JSON.parse(big(8)), undefined, 2).replace(/^/gm, 'data: ');
    expect(read([`${lines}\n\n`], 1_000).told).toEqual([['oversized', 8]]);
    const many = `data: {"id": 3,\n${'data: "filler": "x",\n'.repeat(5_000)}data: "end": 1}\n\n`;
    expect(read([many], 1_000).told).toEqual([['oversized', 3]]);
    expect(read(cut(Buffer.from(many), [1, 20_000, 40_001, 60_002]), 1_000).told).toEqual([['oversized', 3]]);
  });

  test('comments that keep the line open never add up to an event', () => {
    expect(read([':\n'.repeat(1_000), 'data: x\n\n'], 100).told).toEqual([['', 'x']]);
  });

  test('many events below the limit in one chunk are all told', () => {
    const text = Array.from({ length: 100 }, (_, index) => `data: ${index}\n\n`).join('');
    expect(read([text], 20).told).toHaveLength(100);
  });

  test('20 MB that come in small chunks cost little more than their bytes', () => {
    const payload = `{"id":1,"result":"${'y'.repeat(20 * 1024 * 1024)}"}`;
    const bytes = Buffer.from(`data: ${payload}\n\n`);
    const chunks = Array.from({ length: Math.ceil(bytes.length / 16_384) }, (_, index) =>
      bytes.subarray(index * 16_384, (index + 1) * 16_384),
    );
    for (const [limit, expected] of [
      [64 * 1024 * 1024, ['', payload]],
      [1024 * 1024, ['oversized', 1]],
    ] as const) {
      const told: Told[] = [];
      const reader = new EventStreamReader(limit, {
        onEvent: (type, data) => told.push([type, data]),
        onOversized: (id) => told.push(['oversized', id]),
      });
      const before = process.cpuUsage();
      for (const chunk of chunks) reader.push(chunk);
      const { user, system } = process.cpuUsage(before);
      expect(told[0]?.[1] === expected[1]).toBe(true);
      // Reading each byte again for every chunk would take minutes.
      expect((user + system) / 1_000).toBeLessThan(8_000);
    }
  });
});
