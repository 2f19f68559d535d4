// Owns the proof that a response is read the same however its bytes arrive, and that what is no proper HTTP is refused.

import { get } from 'node:http';
import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import { HttpConnection, type RequestControl } from '../../../src/transport/http-connection.ts';
import { HttpFault, readHead } from '../../../src/transport/http-message.ts';
import { runs } from '../../effort.ts';
import { eventually } from '../../servers/processes.ts';
import { serveRaw } from './http-servers.ts';

type Heard = readonly unknown[];

/** A server that answers with these pieces. */
function answerWith(pieces: readonly string[], { ends = true, isRead = true } = {}) {
  return serveRaw((socket) => {
    socket.setNoDelay(true);
    if (!isRead) socket.pause();
    const next = (at: number) => {
      if (at < pieces.length) socket.write(pieces[at] as string, 'latin1', () => setImmediate(next, at + 1));
      else if (ends) socket.end();
    };
    next(0);
  });
}

/** Sends one request to a server that answers with these pieces, and returns what its handler heard, and the connection. */
async function ask(pieces: readonly string[], { ends = true, pauses = false, isRead = true, body = '' } = {}) {
  const { port } = await answerWith(pieces, { ends, isRead });
  const socket = connect(port, '127.0.0.1').pause();
  onTestFinished(() => void socket.destroy());
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await new Promise((resolve) => socket.once('connect', resolve));
  const freed: HttpConnection[] = [];
  const connection = new HttpConnection(socket, { onFree: (each) => freed.push(each), onClose: () => undefined });
  const heard: unknown[] = [];
  let control: RequestControl | undefined;
  const request = { method: 'POST', address: '/', host: 'x', headers: [], routeHeaders: [], body } as const;
  connection.send(request, {
    started: (own) => (control = own),
    head: (status, headers) => heard.push([status, { ...headers }]),
    data(chunk) {
      heard.push(chunk.toString('latin1'));
      if (pauses) control?.pause();
    },
    end: () => heard.push('end'),
    failed: (error) => heard.push(error instanceof HttpFault ? error.kind : error),
  });
  return { heard, freed, control: () => control as RequestControl, socket, closed };
}

async function whole(pieces: readonly string[], options?: { ends?: boolean }): Promise<Heard> {
  const { heard } = await ask(pieces, options);
  await eventually(() => isOver(heard));
  const body = heard.filter((each, at) => typeof each === 'string' && at < heard.length - 1).join('');
  return [heard.find(Array.isArray) ?? [], body, heard.at(-1)];
}

const isOver = (heard: Heard) =>
  ['end', 'hung-up', 'cut-off', 'head-too-large', 'not-http', 'closed'].includes(heard.at(-1) as string);

const chunked =
  'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nSet-Cookie: a\r\nset-cookie: b\r\n\r\n' +
  '5;why=not\r\nhello\r\n1\r\n!\r\n0\r\nx-last: 1\r\n\r\n';

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;

/** The same cases, each in the middle of a response. */
const within = (start: string, cases: Readonly<Record<string, string>>, end = '') =>
  Object.fromEntries(Object.entries(cases).map(([what, text]) => [what, `${start}${text}${end}`]));

const spelled = (header: string, values: readonly string[]) =>
  Object.fromEntries(values.map((value) => [`a ${header} of ${JSON.stringify(value)}`, `${header}: ${value}`]));

describe('a response', () => {
  test('in chunks is the same as a whole and byte by byte', async () => {
    const expected = [[200, { 'transfer-encoding': 'chunked', 'set-cookie': ['a', 'b'] }], 'hello!', 'end'];
    expect(await whole([chunked], { ends: false })).toEqual(expected);
    expect(await whole([...chunked], { ends: false })).toEqual(expected);
  });

  test('ends where its length, its connection or its status says', async () => {
    expect((await whole(['HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'], { ends: false })).slice(1)).toEqual([
      'hi',
      'end',
    ]);
    expect((await whole(['HTTP/1.1 200 OK\r\n\r\nh', 'i'])).slice(1)).toEqual(['hi', 'end']);
    expect((await whole(['HTTP/1.1 204 No Content\r\n\r\n'], { ends: false })).slice(1)).toEqual(['', 'end']);
  });

  test('that is cut off is a failure', async () => {
    expect((await whole(['HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nhi'])).at(-1)).toBe('cut-off');
    expect((await whole(['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhi'])).at(-1)).toBe('hung-up');
    expect((await whole(['HTTP/1.1 200 O'])).at(-1)).toBe('hung-up');
  });

  const doubtful = {
    'another protocol': 'SSH-2.0-OpenSSH_9.6\r\n',
    'two lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nhi',
    'a length and chunks': 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'the same length twice in a line': 'HTTP/1.1 200 OK\r\ncontent-length: 2, 2\r\n\r\nhi',
    'an upgrade that nobody asked for': 'HTTP/1.1 101 Switching\r\n\r\n',
    'the version of another protocol': 'HTTP/2.0 200 OK\r\n\r\n',
    'a status below all others': 'HTTP/1.1 099 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
    'a status that is too long': 'HTTP/1.1 2000 OK\r\n\r\n',
    'an alert of TLS': '\x15\x03\x01\x00\x02\x02\x16',
    'the settings of HTTP/2': '\0\0\x12\x04\0\0\0\0\0',
    'an empty line before it': '\r\nHTTP/1.1 200 OK\r\n\r\n',
    'lines without a carriage return': 'HTTP/1.1 200 OK\ncontent-length: 2\n\nhi',
    ...within(
      OK,
      {
        'a folded header': 'x: 1\r\n 2',
        'a line that is no header': 'hello',
        'a header without a name': ': 1',
        'a blank before the colon': 'content-length : 2',
        'a zero byte in a header': 'x: \0',
        'a lone carriage return in a header': 'x: 1\rcontent-length: 2',
        'a lone line feed in a header': 'x: 1\ncontent-length: 2',
        ...spelled('content-length', ['-1', '+1', '0x2', '1e1', '2.0', '2 2', '', '9'.repeat(16), '2\xa0']),
        ...spelled('transfer-encoding', ['gzip', 'gzip, chunked', 'chunked, chunked', 'identity', '', 'xchunked']),
      },
      '\r\n\r\nhi',
    ),
    ...within(CHUNKED, {
      'a chunk without its size': 'hello\r\n',
      'a chunk with an empty size': '\r\n0\r\n\r\n',
      'a chunk of a negative size': '-1\r\n',
      'a chunk size in the way of a program': '0x2\r\nhi\r\n',
      'a chunk size beyond all numbers': `${'f'.repeat(17)}\r\n`,
      'a chunk size with a blank': '2 \r\nhi\r\n',
      'two chunk sizes': '2 2\r\nhi\r\n',
      'a chunk size that ends without a carriage return': '2\nhi\r\n0\r\n\r\n',
      'a chunk longer than its size': '1\r\nhi\r\n0\r\n\r\n',
      'a chunk size without end': '0'.repeat(limits.chunkLineBytes + 1),
      'an extension without end': `2;${'x'.repeat(limits.chunkLineBytes)}`,
      'a trailer that is no header': '0\r\nhello\r\n\r\n',
      'trailers without end': `0\r\n${`x: ${'y'.repeat(1_000)}\r\n`.repeat(20)}`,
    }),
  };
  for (const [what, text] of Object.entries(doubtful)) {
    test(`with ${what} is refused`, async () => {
      expect((await whole([text], { ends: false })).at(-1)).toBe('not-http');
    });
  }

  test('with a head without end is refused, and so are hints without end', async () => {
    const pieces = (piece: string) => Array.from({ length: limits.responseHeadBytes / piece.length + 1 }, () => piece);
    const endless = ['HTTP/1.1 200 OK\r\n', ...pieces(`x: ${'y'.repeat(1_000)}\r\n`)];
    expect((await whole(endless, { ends: false })).at(-1)).toBe('head-too-large');
    const hints = pieces(`HTTP/1.1 103 Early Hints\r\nlink: ${'y'.repeat(1_000)}\r\n\r\n`);
    expect((await whole(hints, { ends: false })).at(-1)).toBe('head-too-large');
  });

  test('has its headers byte for byte, without the blanks around them', () => {
    const { headers } = readHead('HTTP/1.1 200 OK\r\nx: \t d\xc3\xa9j\xc3\xa0 \t\r\n__proto__:1\r\nempty: ');
    expect(Object.entries(headers)).toEqual([
      ['x', 'd\xc3\xa9j\xc3\xa0'],
      ['__proto__', '1'],
      ['empty', ''],
    ]);
  });
});

describe('a handler that pauses', () => {
  const endings = {
    'a response with a length': [`${OK}content-length: 2\r\n\r\nhi`, ['hi', 'end']],
    'a response in chunks': [`${CHUNKED}2\r\nhi\r\n1\r\n!\r\n0\r\n\r\n`, ['hi', '!', 'end']],
    'a response up to the end': [`${OK}\r\nhi`, ['hi', 'end']],
    'a response that is cut off': [`${CHUNKED}2\r\nhi\r\n1\r\n!\r\n`, ['hi', '!', 'hung-up']],
  } as const;
  for (const [what, [text, expected]] of Object.entries(endings)) {
    test(`hears nothing more of ${what} until it resumes, although the server has hung up meanwhile`, async () => {
      const { heard, control, closed, freed } = await ask([text], { pauses: true });
      await closed;
      expect(heard.slice(1)).toEqual(['hi']);
      await eventually(() => {
        control().resume();
        return isOver(heard);
      });
      expect([heard.slice(1), freed]).toEqual([expected, []]);
    });
  }

  test('hears of the end when it resumes, and the connection is free', async () => {
    const { heard, control, freed } = await ask([`${OK}content-length: 2\r\n\r\nhi`], { ends: false, pauses: true });
    await eventually(() => heard.includes('hi'));
    await new Promise((resolve) => setImmediate(resolve));
    expect([heard.includes('end'), freed.length]).toEqual([false, 0]);
    control().resume();
    expect([heard.at(-1), freed.length]).toEqual(['end', 1]);
  });

  test('and aborts after the server has hung up hears of its failure', async () => {
    const { heard, control, closed } = await ask([`${OK}content-length: 2\r\n\r\nh`], { pauses: true });
    await closed;
    control().abort(new HttpFault('closed'));
    expect(heard.slice(1)).toEqual(['h', 'cut-off']);
  });
});

describe('a request that the server does not read', () => {
  const body = 'x'.repeat(16_000_000);

  test('may be answered, but its connection carries no other', async () => {
    const answer = `${OK}content-length: 2\r\n\r\nhi`;
    const { heard, freed, socket } = await ask([answer], { ends: false, isRead: false, body });
    await eventually(() => isOver(heard));
    expect([heard.slice(1), freed, socket.destroyed]).toEqual([['hi', 'end'], [], true]);
  });

  test('fails when the server ends its side of the connection', async () => {
    const { heard } = await ask([], { isRead: false, body });
    await eventually(() => isOver(heard));
    expect(heard).toEqual(['hung-up']);
  });
});

test('a connection is free again only where the server keeps it, and not for as long as it does', async () => {
  const idleMs = {
    'HTTP/1.1 200 OK': 4_000,
    'HTTP/1.1 200 OK\r\nkeep-alive: timeout=5': 3_000,
    'HTTP/1.1 200 OK\r\nkeep-alive: timeout=2': 0,
    'HTTP/1.1 200 OK\r\nkeep-alive: timeout=99999999999999999999': 600_000,
    'HTTP/1.1 200 OK\r\nconnection: Close': 0,
    'HTTP/1.1 200 OK\r\nconnection: keep-alive ,\tCLOSE': 0,
    'HTTP/1.1 200 OK\r\nconnection: keep-alive\r\nConnection: close': 0,
    'HTTP/1.0 200 OK': 0,
    'HTTP/1.0 200 OK\r\nconnection: Keep-Alive': 4_000,
    'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ntransfer-encoding: chunked': 0,
    'HTTP/1.1 204 No Content\r\ncontent-length: 0': 4_000,
    'HTTP/1.1 204 No Content\r\ncontent-length: 5': 0,
    'HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked': 0,
    'HTTP/1.1 304 Not Modified\r\ncontent-length: 5': 0,
  };
  expect(Object.keys(idleMs).map((head) => [head, readHead(head).idleMs])).toEqual(Object.entries(idleMs));
  const { freed, socket, heard } = await ask([`${OK}content-length: 1\r\n\r\nab`], { ends: false });
  await eventually(() => socket.destroyed);
  expect([heard.at(-1), freed]).toEqual(['end', []]);
});

/** What Node's own client reads; `undefined` for a response that it refuses. After bytes behind the response the body is lost. */
async function readByNode(pieces: readonly string[]): Promise<{ status: number; body?: string } | undefined> {
  const { port } = await answerWith(pieces);
  return new Promise((resolve) => {
    const request = get({ port, agent: false }, (response) => {
      const { statusCode: status = 0 } = response;
      const chunks: Buffer[] = [];
      const fail = () => resolve(response.complete ? { status } : undefined);
      request.on('error', fail);
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', fail);
      response.on('end', () => resolve({ status, body: Buffer.concat(chunks).toString('latin1') }));
    });
    request.on('error', () => setImmediate(() => resolve(undefined)));
  });
}

describe('a second opinion', () => {
  const anyStart = fc.constantFrom(
    ...['HTTP/1.1 200 OK', 'HTTP/1.0 200 OK', 'HTTP/1.1 204 Empty', 'HTTP/1.1 304 Same', 'HTTP/1.1 500 '],
    'HTTP/1.1 103 Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK',
  );
  const anyHeader = fc.constantFrom(
    ...['content-length: 5', 'Content-Length:\t5 ', 'content-length: 0', 'content-length: 005', 'content-length: 5, 5'],
    ...['transfer-encoding: chunked', 'Transfer-Encoding: CHUNKED', 'transfer-encoding: gzip, chunked'],
    ...['connection: close', 'connection: keep-alive', 'x: \xe9', 'x:', 'x : y', ' folded'],
  );
  const anyBody = fc.constantFrom(
    ...['hello', '', 'hello, and more', '5\r\nhello\r\n0\r\n\r\n', '2\r\nhe\r\n003 \r\nllo\r\n0\r\n\r\n'],
    ...['5;a=b\r\nhello\r\n0\r\nx: y\r\n\r\n', '5\r\nhello0\r\n\r\n', '5\nhello\n0\n\n', '0x5\r\nhello\r\n0\r\n\r\n'],
    `5\r\nhello\r\n0\r\n\r\n${OK}content-length: 3\r\n\r\nbad`,
  );
  const anySlip = fc.option(fc.tuple(fc.nat(), fc.constantFrom(...'\0\r\n\t :;-0f\xff')), { freq: 1 });
  const anyPlaces = fc.array(fc.nat(), { maxLength: 5 });

  test('a response that is read is read as Node reads it, however its bytes are cut', async () => {
    const property = fc.asyncProperty(
      ...[anyStart, fc.array(anyHeader, { maxLength: 3 }), anyBody, anySlip, anyPlaces],
      async (start, lines, body, slip, places) => {
        const right = `${[start, ...lines].join('\r\n')}\r\n\r\n${body}`;
        const at = slip === null ? 0 : slip[0] % right.length;
        const text = slip === null ? right : `${right.slice(0, at)}${slip[1]}${right.slice(at + 1)}`;
        const ends = [...places.map((place) => place % text.length), text.length].sort((a, b) => a - b);
        const pieces = ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end)).filter((piece) => piece !== '');
        const [head, read, end] = (await whole(pieces)) as [[number], string, string];
        if (end === 'end')
          expect({ status: head[0], body: read }).toMatchObject((await readByNode(pieces)) ?? { isRefused: true });
      },
    );
    await fc.assert(property, { numRuns: runs(500) });
  });
});
