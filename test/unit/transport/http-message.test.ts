// Owns the proof that a response is read the same however its bytes arrive, and that what is no proper HTTP is refused.

import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { HttpConnection, type RequestControl } from '../../../src/transport/http-connection.ts';
import { HttpFault, readHead } from '../../../src/transport/http-message.ts';
import { eventually } from '../../servers/processes.ts';
import { serveRaw } from './http-servers.ts';

type Heard = readonly unknown[];

/** Sends one request to a server that answers with these pieces, and returns what its handler heard, and the connection. */
async function ask(pieces: readonly string[], { ends = true, pauses = false } = {}) {
  const { port } = await serveRaw((socket) => {
    socket.setNoDelay(true);
    const next = (at: number) => {
      if (at < pieces.length) socket.write(pieces[at] as string, 'latin1', () => setImmediate(next, at + 1));
      else if (ends) socket.end();
    };
    next(0);
  });
  const socket = connect(port, '127.0.0.1').pause();
  onTestFinished(() => void socket.destroy());
  await new Promise((resolve) => socket.once('connect', resolve));
  const freed: HttpConnection[] = [];
  const connection = new HttpConnection(socket, { onFree: (each) => freed.push(each), onClose: () => undefined });
  const heard: unknown[] = [];
  let control: RequestControl | undefined;
  const request = { method: 'GET', address: '/', host: 'x', headers: [], routeHeaders: [] } as const;
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
  return { heard, freed, resume: () => control?.resume(), socket };
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
    'another coding': 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    'a length that is no number': 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n',
    'a folded header': 'HTTP/1.1 200 OK\r\nx: 1\r\n 2\r\n\r\n',
    'a chunk without its size': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nhello\r\n',
    'a chunk longer than its size': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nhi\r\n0\r\n\r\n',
    'an upgrade that nobody asked for': 'HTTP/1.1 101 Switching\r\n\r\n',
  };
  for (const [what, text] of Object.entries(doubtful)) {
    test(`with ${what} is refused`, async () => {
      expect((await whole([text], { ends: false })).at(-1)).toBe('not-http');
    });
  }

  test('with a head without end is refused', async () => {
    const endless = ['HTTP/1.1 200 OK\r\n', ...Array.from({ length: 20 }, () => `x: ${'y'.repeat(1_000)}\r\n`)];
    expect((await whole(endless, { ends: false })).at(-1)).toBe('head-too-large');
  });
});

test('a handler that pauses hears nothing more, not even the end, until it resumes', async () => {
  const { heard, resume, freed } = await ask(['HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'], {
    ends: false,
    pauses: true,
  });
  await eventually(() => heard.includes('hi'));
  await new Promise((resolve) => setImmediate(resolve));
  expect([heard.includes('end'), freed.length]).toEqual([false, 0]);
  resume();
  expect([heard.at(-1), freed.length]).toEqual(['end', 1]);
});

test('a connection is free again only where the server keeps it, and not for as long as it does', async () => {
  const idleMs = (head: string) => readHead(head).idleMs;
  expect([
    idleMs('HTTP/1.1 200 OK'),
    idleMs('HTTP/1.1 200 OK\r\nkeep-alive: timeout=5'),
    idleMs('HTTP/1.1 200 OK\r\nkeep-alive: timeout=2'),
    idleMs('HTTP/1.1 200 OK\r\nconnection: Close'),
    idleMs('HTTP/1.0 200 OK'),
    idleMs('HTTP/1.0 200 OK\r\nconnection: keep-alive'),
  ]).toEqual([4_000, 3_000, 0, 0, 0, 4_000]);
  const { freed, socket, heard } = await ask(['HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nab'], { ends: false });
  await eventually(() => socket.destroyed);
  expect([heard.at(-1), freed]).toEqual(['end', []]);
});
