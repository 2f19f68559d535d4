// Owns the proof that a plain request is read as Node reads it, and that every request with a doubt about it is Node's.

import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PlainRequest, readPlainRequest } from '../../../src/serving/plain-request.ts';
import { runs, seed } from '../../effort.ts';

const chunkOf = (lines: readonly string[], body = '') => Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1');
const plain = ['POST /mcp HTTP/1.1', 'Host: 127.0.0.1:7417', 'Content-Type: application/json', 'Content-Length: 2'];
const withLine = (line: string) => chunkOf([...plain, line], '{}');
const withLength = (length: string) => chunkOf([...plain.slice(0, 3), `Content-Length:${length}`], '{}');
const withFirst = (line: string) => chunkOf([line, ...plain.slice(1)], '{}');
const read = (chunk: Buffer) => readPlainRequest(chunk, undefined);

test('a POST that is there as a whole is plain: names in lower case, values without the spaces around them', () => {
  const chunk = chunkOf(
    ['POST /mcp/s/a%20b?c=d HTTP/1.1', ...plain.slice(1), 'MCP-Session-Id:  1 2 ', 'X-Empty:'],
    '{}',
  );
  const { head, body } = read(chunk) ?? expect.fail('it is not plain');
  const request = new PlainRequest(head, body, {} as Socket);
  expect({ method: request.method, url: request.url, headers: { ...request.headers }, text: request.text() }).toEqual({
    method: 'POST',
    url: '/mcp/s/a%20b?c=d',
    headers: {
      host: '127.0.0.1:7417',
      'content-type': 'application/json',
      'content-length': '2',
      'mcp-session-id': '1 2',
      'x-empty': '',
    },
    text: '{}',
  });
});

test('a body is read as UTF-8', () => {
  const bytes = Buffer.from('{"t":"é 日本"}');
  const chunk = Buffer.concat([chunkOf([...plain.slice(0, 3), `Content-Length: ${bytes.length}`]), bytes]);
  const { head, body } = read(chunk) ?? expect.fail('it is not plain');
  expect(new PlainRequest(head, body, {} as Socket).text()).toBe('{"t":"é 日本"}');
});

test('the head of the request before is not read again, and one that differs in a letter is', () => {
  const first = read(withLine('X-A: 1')) ?? expect.fail('it is not plain');
  expect(readPlainRequest(withLine('X-A: 1'), first.head)?.head).toBe(first.head);
  expect(readPlainRequest(withLine('X-A: 2'), first.head)?.head.headers['x-a']).toBe('2');
});

describe('is left to Node:', () => {
  const doubtful: Readonly<Record<string, Buffer>> = {
    'another method': withFirst('GET /mcp HTTP/1.1'),
    'a method in small letters': withFirst('post /mcp HTTP/1.1'),
    'an older version': withFirst('POST /mcp HTTP/1.0'),
    'an address with a host': withFirst('POST http://127.0.0.1/mcp HTTP/1.1'),
    'an address with a space': withFirst('POST /m cp HTTP/1.1'),
    'an address with a byte beyond ASCII': withFirst('POST /mcp\xe9 HTTP/1.1'),
    'two spaces in the first line': withFirst('POST  /mcp HTTP/1.1'),
    'an empty line first': withFirst('\r\nPOST /mcp HTTP/1.1'),
    'no host': chunkOf([plain[0] ?? '', ...plain.slice(2)], '{}'),
    'no length': chunkOf(plain.slice(0, 3), '{}'),
    'half a head': Buffer.from(`${plain.join('\r\n')}\r\n`),
    'half a body': chunkOf(plain, '{'),
    'more than the body': chunkOf(plain, '{}P'),
    'two requests': Buffer.concat([chunkOf(plain, '{}'), chunkOf(plain, '{}')]),
    'two lengths': withLine('Content-Length: 2'),
    'two hosts': withLine('Host: other'),
    'a name of the language': withLine('__proto__: 1'),
    'a header twice': chunkOf([...plain, 'X-A: 1', 'x-a: 2'], '{}'),
    'a chunked body': withLine('Transfer-Encoding: chunked'),
    'an expectation': withLine('Expect: 100-continue'),
    'an upgrade': withLine('Upgrade: h2c'),
    'a connection that ends': withLine('Connection: close'),
    'a connection with an upgrade': withLine('Connection: keep-alive, upgrade'),
    trailers: withLine('TE: trailers'),
    'a header that goes on in the next line': withLine('X-A: 1\r\n 2'),
    'a line break without its return': withLine('X-A: 1\nX-B: 2'),
    'a return without its line break': withLine('X-A: 1\rX-B: 2'),
    'a tab': withLine('X-A:\t1'),
    'a null byte': withLine('X-A: \0'),
    'a byte beyond ASCII': withLine('X-A: \xe9'),
    'a space before the colon': withLine('X-A : 1'),
    'a name that is none': withLine('X(A): 1'),
    'no name': withLine(': 1'),
    'no colon': withLine('X-A'),
    'a length with a sign': withLength(' +2'),
    'a length with a zero before it': withLength(' 02'),
    'a length in two parts': withLength(' 2, 2'),
    'a length in other digits': withLength(' 0x2'),
    'an endless length': withLength(` 2${'0'.repeat(20)}`),
    'a long head': withLine(`X-A: ${'a'.repeat(9_000)}`),
    'many headers': chunkOf([...plain, ...Array.from({ length: 80 }, (_, at) => `X-${at}: 1`)], '{}'),
  };
  test.each(Object.entries(doubtful))('%s', (_, chunk) => {
    expect(read(chunk)).toBeUndefined();
  });

  test('and the request that all of them change is plain', () => {
    expect(read(chunkOf(plain, '{}'))).toBeDefined();
    expect(read(withLine('Connection: Keep-Alive'))).toBeDefined();
    expect(read(withLine('X-A: 1'))).toBeDefined();
    expect(read(withLength('2'))).toBeDefined();
  });
});

describe('beside Node’s parser', () => {
  const told: { request: IncomingMessage; body: string }[] = [];
  const faults: Error[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      told.push({ request, body: Buffer.concat(chunks).toString('latin1') });
      response.end();
    });
  });
  server.on('clientError', (error, socket) => {
    faults.push(error);
    socket.destroy();
  });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => void server.close());

  const word = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/);
  const value = fc.oneof(
    fc.stringMatching(/^[ -~]{0,20}$/),
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.constantFrom('keep-alive', '2', '02', 'chunked', '__proto__'),
  );
  const name = fc.oneof(
    word,
    fc.constantFrom('connection', 'Content-Length', 'Transfer-Encoding', 'HOST', '__proto__', 'constructor', 'X A'),
  );
  const colon = fc.constantFrom(':', ': ', ':  ', ' :', ':\t');
  const line = fc.tuple(name, colon, value).map((parts) => parts.join(''));
  const url = fc.stringMatching(/^\/[!-~]{0,20}$/);
  const request = fc.record({
    url,
    lines: fc.array(line, { maxLength: 4 }),
    end: fc.constantFrom(' ', '', '\t'),
    body: fc.string({ unit: 'binary-ascii', maxLength: 20 }),
  });

  test('whatever is read here, Node reads in the same way, and as one request', async () => {
    let plainOnes = 0;
    const { port } = server.address() as AddressInfo;
    const same = fc.asyncProperty(request, async ({ url: path, lines, end, body }) => {
      const head = [`POST ${path} HTTP/1.1`, ...lines, 'Host: a', `Content-Length: ${body.length}${end}`];
      const chunk = chunkOf(head, body);
      const here = read(chunk);
      if (here === undefined) return;
      plainOnes += 1;
      told.length = 0;
      const socket = connect(port, '127.0.0.1');
      socket.write(chunk);
      await once(socket, 'data');
      socket.destroy();
      const [there, another] = told;
      expect([faults, another]).toEqual([[], undefined]);
      expect({ url: here.head.url, headers: { ...here.head.headers }, body: here.body.toString('latin1') }).toEqual({
        url: there?.request.url,
        headers: { ...there?.request.headers },
        body: there?.body,
      });
    });
    await fc.assert(same, { seed, numRuns: runs(5_000) });
    expect(plainOnes).toBeGreaterThan(runs(5_000) / 20);
  });
});
