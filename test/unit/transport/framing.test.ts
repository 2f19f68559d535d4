// Owns the proof that bytes become messages however they are cut, and that nothing a peer writes can stop it.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import { FrameReader } from '../../../src/transport/framing.ts';
import { IdScanner } from '../../../src/transport/id-scanner.ts';
import { runs } from '../../effort.ts';
import { verifies } from '../../verifies.ts';

type Event =
  | readonly ['message', unknown]
  | readonly ['noise', string]
  | readonly ['oversized', unknown]
  | readonly ['endless' | 'cut off'];

function read(chunks: readonly (string | Buffer)[], maxMessageBytes = 1_000_000): Event[] {
  const events: Event[] = [];
  const reader = new FrameReader(maxMessageBytes, {
    onMessage: (message) => events.push(['message', message]),
    onNoise: (line) => events.push(['noise', line]),
    onOversized: (id) => events.push(['oversized', id]),
    onEndless: () => events.push(['endless']),
    onCutOff: () => events.push(['cut off']),
  });
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  reader.end();
  return events;
}

/** Cut at any byte, which may be in the middle of a character or between \r and \n. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end)).filter((piece) => piece.length > 0);
}

const singleBytes = (wire: string) => [...Buffer.from(wire)].map((byte) => Buffer.of(byte));

const anyText = fc.string({ unit: 'grapheme' });
const anyMessage = fc.record({ jsonrpc: fc.constant('2.0'), id: fc.nat(), result: fc.jsonValue() });
const anyPlaces = fc.array(fc.nat(), { maxLength: 20 });

describe('framing', () => {
  verifies('TRN-01', 'any messages give the same messages, however their bytes are cut', () => {
    const anyEnd = fc.constantFrom('\n', '\r\n', '\n\n', '\r\n \r\n');
    fc.assert(
      fc.property(fc.array(fc.tuple(anyMessage, anyText, anyEnd)), anyPlaces, (lines, places) => {
        const messages = lines.map(([message, note]) => ({ ...message, note }));
        const bytes = Buffer.from(messages.map((each, at) => `${JSON.stringify(each)}${lines[at]?.[2]}`).join(''));
        const expected = messages.map((each) => ['message', JSON.parse(JSON.stringify(each))]);
        expect(read(cut(bytes, places))).toEqual(expected);
      }),
    );
  });

  verifies('TRN-01', 'any bytes at all are survived, and the message after them arrives', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), anyPlaces, (bytes, places) => {
        const wire = Buffer.concat([bytes, Buffer.from('\n{"id":1}\n')]);
        expect(read(cut(wire, places), 64).at(-1)).toEqual(['message', { id: 1 }]);
      }),
    );
  });

  const lines: Record<string, [wire: string, events: Event[]]> = {
    'a character of several bytes stays whole': ['{"a":"é🎈"}\n', [['message', { a: 'é🎈' }]]],
    'the last line needs no newline': [
      '{"id":1}\n{"id":2}',
      [
        ['message', { id: 1 }],
        ['message', { id: 2 }],
      ],
    ],
    'a byte order mark at the start is skipped': ['\uFEFF{"id":1}\n', [['message', { id: 1 }]]],
    'a batch gives each of its messages': [
      '[{"id":1},{"id":2}]\n',
      [
        ['message', { id: 1 }],
        ['message', { id: 2 }],
      ],
    ],
    'indented messages are messages': [
      '  {"id":1}\r\n\t{"id":2}\n',
      [
        ['message', { id: 1 }],
        ['message', { id: 2 }],
      ],
    ],
    'what is not JSON is noise': [
      'Listening on :3000\r\n{oops\n{"id":1}\n',
      [
        ['noise', 'Listening on :3000'],
        ['noise', '{oops'],
        ['message', { id: 1 }],
      ],
    ],
    'JSON that is no object is noise': [
      '42\n"hi"\nnull\n[1,{"id":1},[]]\n',
      [
        ['noise', '42'],
        ['noise', '"hi"'],
        ['noise', 'null'],
        ['noise', '1'],
        ['message', { id: 1 }],
        ['noise', '[]'],
      ],
    ],
    'blank lines are nothing': ['\n\r\n  \n\n{"id":1}\n', [['message', { id: 1 }]]],
  };
  for (const [behaviour, [wire, events]] of Object.entries(lines)) {
    verifies('TRN-01', behaviour, () => {
      expect(read([wire])).toEqual(events);
      expect(read(singleBytes(wire))).toEqual(events);
    });
  }

  test('noise is told up to a bounded length', () => {
    expect(read([`${'x'.repeat(10_000)}\n`])).toEqual([['noise', 'x'.repeat(limits.noiseLineChars)]]);
  });

  test('a long line that drips in single bytes is one message', () => {
    const message = { id: 1, text: 'é'.repeat(5_000) };
    expect(read(singleBytes(`${JSON.stringify(message)}\n`))).toEqual([['message', message]]);
  });
});

describe('a message over the limit', () => {
  const long = 'x'.repeat(200);
  const answers: Record<string, [line: string, id: unknown]> = {
    'its id stands first': [`{"jsonrpc":"2.0","id":7,"result":"${long}"}`, 7],
    'its id stands last': [`{"result":{"id":1,"a":[{"id":2}],"t":"${long}"},"jsonrpc":"2.0","id":"seven"}`, 'seven'],
    'a text looks like an id': [`{"result":"\\",\\"id\\":1,${long}\\\\","id":7}`, 7],
    'it has an error': [`{"error":{"code":-1,"message":"${long}"},"id":7}`, 7],
    'it is a request, whose id is not ours': [
      `{"id":7,"method":"sampling/createMessage","params":"${long}"}`,
      undefined,
    ],
    'its id is null': [`{"id":null,"error":"${long}"}`, undefined],
    'its id is no id': [`{"id":{"id":7},"result":"${long}"}`, undefined],
    'its id is longer than any id': [`{"id":"${'7'.repeat(2_000)}"}`, undefined],
    'it is a batch': [`[{"id":7,"result":"${long}"}]`, undefined],
    'it is not JSON': [`${long}"id":7}`, undefined],
  };
  for (const [when, [line, id]] of Object.entries(answers)) {
    verifies('TRN-01', `is dropped and the next one read when ${when}`, () => {
      const wire = `${line}\n{"id":8}\n`;
      const expected = [
        ['oversized', id],
        ['message', { id: 8 }],
      ];
      expect(read([wire], 100)).toEqual(expected);
      expect(read(singleBytes(wire), 100)).toEqual(expected);
    });
  }

  test('ends with the stream', () => {
    expect(read([`{"id":7,"result":"${long}`], 100)).toEqual([['oversized', 7]]);
  });

  test('takes no more memory than the limit while it comes', () => {
    const reader = new FrameReader(1024 * 1024, { ...silent, onOversized: () => undefined });
    const before = process.memoryUsage().arrayBuffers;
    for (let chunk = 0; chunk < 4_000; chunk += 1) reader.push(Buffer.alloc(64 * 1024, 'x'));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(128 * 1024 * 1024);
  });
});

describe('a stream', () => {
  verifies('TRN-01', 'that ends within a message is told apart from one that ends in noise', () => {
    expect(read(['{"id":1}\n{"id":2,"res'])).toEqual([['message', { id: 1 }], ['cut off']]);
    expect(read([' {"id":2'])).toEqual([['cut off']]);
    expect(read(['Goodb'])).toEqual([['noise', 'Goodb']]);
  });
});

describe('the scanner', () => {
  verifies('TRN-01', 'finds the id that JSON.parse finds, wherever it stands and however the bytes are cut', () => {
    const anyKey = fc.oneof(fc.constantFrom('id', 'ID', 'result', '"id"', 'i\\d', '{', 'é'), anyText);
    const anyId = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), anyText, fc.jsonValue());
    const anyValue = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 3 }, anyId, fc.array(tie('value')), fc.array(fc.tuple(anyKey, tie('value')))),
    })).value;
    const anySpace = fc.constantFrom(undefined, 1, '\t');
    fc.assert(
      fc.property(fc.array(fc.tuple(anyKey, anyValue)), anySpace, anyPlaces, (entries, space, places) => {
        const object = Object.fromEntries(entries.filter(([key]) => key !== 'method'));
        // Newlines of the indentation only: inside a text they are escaped.
        const bytes = Buffer.from(JSON.stringify(object, null, space).replaceAll('\n', ' '));
        const id = JSON.parse(bytes.toString()).id;
        const scanner = new IdScanner();
        for (const piece of cut(bytes, places)) scanner.push(piece);
        expect(scanner.answered()).toEqual(typeof id === 'string' || typeof id === 'number' ? id : undefined);
      }),
      { numRuns: runs(500) },
    );
  });

  test('knows a key that is spelled with escapes', () => {
    const scanner = new IdScanner();
    scanner.push(Buffer.from('{"\\u0069d":"\\u0037"}'));
    expect(scanner.answered()).toBe('7');
  });
});

function fail(): never {
  throw new Error('nothing should have been delivered');
}

const silent = { onMessage: fail, onNoise: fail, onOversized: fail, onEndless: fail, onCutOff: fail };
