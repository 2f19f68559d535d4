// Owns the proof that requests over HTTP go where they should and nowhere else, and that no connection outlives its client.

import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import type { Network } from '../../../src/transport/dial.ts';
import { type HttpListener, type HttpRequest, type Target, targetOf } from '../../../src/transport/exchange.ts';
import { createHttpClient } from '../../../src/transport/fetch.ts';
import { fetchText } from '../../../src/transport/fetch-text.ts';
import { makeCertificate } from '../../servers/certificates.ts';
import { startProxy } from '../../servers/connect-proxy.ts';
import { eventually } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import {
  type Answering,
  broken,
  failureOf,
  hangUp,
  json,
  lost,
  nobody,
  serve,
  serveRaw,
  status,
} from './http-servers.ts';

async function open(network: Partial<Network> = {}) {
  const clock = createFakeClock();
  const client = await createHttpClient({ server: 'files', network: { env: {}, cwd: '/', ...network }, clock });
  onTestFinished(async () => {
    await client.close();
    expect(clock.pending()).toBe(0);
  });
  return { client, clock };
}

const at = (url: string) => targetOf(url) as Target;
const get = (url: string, headers: string[] = []): HttpRequest => ({ method: 'GET', target: at(url), headers });
const post = (url: string): HttpRequest => ({ method: 'POST', target: at(url), headers: [], body: '{"id":1}' });
const patience = { maxBytes: 1_000 };

/** How an exchange ended, with its response or its failure. */
function endOf(client: Awaited<ReturnType<typeof open>>['client'], request: HttpRequest) {
  return new Promise<unknown>((resolve) => {
    const seen: HttpListener = {
      head: (code) => resolve({ status: code }),
      data: () => undefined,
      end: () => undefined,
      failed: resolve,
    };
    client.exchange(request, seen);
  });
}

/** A proxy that forwards requests for absolute addresses, as proxies do for plain HTTP. */
async function startFetchingProxy(answering: Answering = json({ by: 'proxy' })) {
  const proxy = await serve(answering);
  return { url: proxy.origin, received: proxy.received };
}

describe('redirects', () => {
  verifies('EXT-18', 'within the origin are followed, up to ten of them', async () => {
    const server = await serve((received, response) => {
      const left = Number(received.path.split('=')[1]);
      if (left === 0) json({ ok: true })(received, response);
      else status(302, 'moved', { location: `/next?left=${left - 1}` })(received, response);
    });
    const { client } = await open();
    const { text } = await fetchText(client, get(`${server.origin}/first?left=10`, ['x-own', 'a']), patience);
    expect(text).toBe('{"ok":true}');
    expect(server.received.map(({ headers }) => headers['x-own'])).toEqual(Array.from({ length: 11 }, () => 'a'));
    expect(await endOf(client, get(`${server.origin}/first?left=11`))).toMatchObject({
      status: 302,
      cause: broken('it redirects again and again'),
    });
  });

  verifies('TRN-14', 'a message follows only those that keep it what it is', async () => {
    for (const code of [301, 302, 303, 307, 308]) {
      const server = await serve([status(code, '', { location: '/there' }), json({ ok: true })]);
      const { client } = await open();
      const end = await endOf(client, post(server.url));
      if (code < 307) {
        const reason = `it redirects with HTTP ${code}, which no message can follow`;
        expect(end).toMatchObject({ sent: true, status: code, cause: broken(reason) });
        expect(server.received).toHaveLength(1);
      } else {
        expect(end).toEqual({ status: 200 });
        expect(server.received.map(({ method, path, body }) => [method, path, body])).toEqual([
          ['POST', '/mcp', '{"id":1}'],
          ['POST', '/there', '{"id":1}'],
        ]);
      }
    }
  });

  verifies('TRN-14', 'to another origin are never followed, and the failure names it without its query', async () => {
    const elsewhere = await serve(json({}));
    const { client } = await open();
    for (const [request, sent] of [
      [get, false],
      [post, false],
    ] as const) {
      const server = await serve(status(307, '', { location: `${elsewhere.origin}/in?secret=1` }));
      expect(await endOf(client, request(server.url))).toMatchObject({
        sent,
        status: 307,
        cause: broken(`it redirects to ${elsewhere.origin}, which is another origin`),
      });
    }
    expect(elsewhere.received).toEqual([]);
  });

  test('are followed however the response ends that told of them', async () => {
    for (const rest of ['x'.repeat(2 * limits.refusalBytes), 'cut off']) {
      const server = await serveRaw((socket, said) => {
        const isFirst = said.toString().startsWith('GET /mcp ');
        if (!isFirst) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi');
        else socket.write(`HTTP/1.1 307 There\r\nlocation: /there\r\ncontent-length: 999999\r\n\r\n${rest}`);
        if (isFirst && rest === 'cut off') socket.end();
      });
      const { client } = await open();
      expect(await fetchText(client, get(server.url), patience)).toMatchObject({ status: 200, text: 'hi' });
    }
  });

  test('to what is no address are told', async () => {
    const server = await serve(status(301, '', { location: 'mailto:x@example.com' }));
    const { client } = await open();
    expect(await endOf(client, get(server.url))).toMatchObject({
      cause: broken('it redirects to an address that is not http or https'),
    });
  });
});

test('a request is written with its address, its host and its bytes, and in one piece with its body', async () => {
  const said: string[] = [];
  const server = await serveRaw((socket, bytes) => {
    said.push(bytes.toString('latin1'));
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
  });
  const { client } = await open();
  const target = at(`http://ada:secret@127.0.0.1:${server.port}/a b/ü?q=\r\nx: 1#part`);
  await fetchText(client, { method: 'POST', target, headers: ['x-own', '\xe9'], body: '{"a":"ü"}' }, patience);
  await fetchText(client, { method: 'DELETE', target: at(server.url), headers: [] }, patience);
  const common = `host: 127.0.0.1:${server.port}\r\nconnection: keep-alive\r\n`;
  expect(said).toEqual([
    `POST /a%20b/%C3%BC?q=x:%201 HTTP/1.1\r\n${common}x-own: \xe9\r\ncontent-length: 10\r\n\r\n{"a":"\xc3\xbc"}`,
    `DELETE /mcp HTTP/1.1\r\n${common}\r\n`,
  ]);
});

describe('whether a byte was sent', () => {
  verifies('TRN-04', 'is known: no when nobody was reached, yes when it was lost later', async () => {
    const { client } = await open();
    const refused = await endOf(client, post(await nobody()));
    expect(refused).toMatchObject({ sent: false, cause: lost(expect.stringContaining('ECONNREFUSED')) });
    expect(refused).not.toHaveProperty('status');
    const unknown = await endOf(client, post('http://no-such-name.invalid/'));
    expect(unknown).toMatchObject({ sent: false, cause: lost(expect.stringContaining('the name in its address')) });
    const server = await serve(hangUp);
    expect(await endOf(client, post(server.url))).toMatchObject({ sent: true, cause: lost('it hung up') });
  });

  verifies('TRN-04', 'a connection that does not come about in time is given up', async () => {
    const server = await serveRaw(() => undefined);
    const { client, clock } = await open();
    const end = endOf(client, post(server.url.replace('http', 'https')));
    await eventually(() => server.sockets.size === 1);
    await clock.advance(limits.connectMs);
    expect(await end).toMatchObject({ sent: false, cause: lost('its address does not answer (ETIMEDOUT)') });
    await eventually(() => server.sockets.size === 0);
  });

  test('an answer before the answer is passed over', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n';
    const server = await serveRaw((socket) => socket.end(`${early}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi`));
    const { client } = await open();
    expect(await fetchText(client, get(server.url), patience)).toMatchObject({ status: 200, text: 'hi' });
  });

  test('an answer that was cut off is a failure', async () => {
    const server = await serveRaw((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nhi'));
    const { client } = await open();
    expect(await failureOf(fetchText(client, get(server.url), patience))).toMatchObject({ code: 'CONNECTION_LOST' });
  });
});

describe('connections', () => {
  verifies('TRN-04', 'are kept for the next request, and closed with the client', async () => {
    const server = await serve(json({}));
    const { client } = await open();
    for (let count = 0; count < 20; count += 1) await fetchText(client, get(server.url), patience);
    // A connection is free again one turn after its response, so a request right after it needs a second connection.
    expect(server.sockets.size).toBeLessThanOrEqual(2);
    await client.close();
    await eventually(() => server.sockets.size === 0);
    expect(await endOf(client, get(server.url))).toMatchObject({ sent: false, cause: lost('it was closed') });
  });

  verifies('TRN-04', 'end where a server sends more than the response, which answers no other request', async () => {
    const answer = (text: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
    const served = new Set<Socket>();
    let requests = 0;
    const server = await serveRaw((socket) => {
      served.add(socket);
      requests += 1;
      socket.write(`${answer(`own ${requests}`)}${requests === 1 ? answer('forged') : ''}`);
    });
    const { client } = await open();
    const ask = async () => (await fetchText(client, get(server.url), patience)).text;
    expect([await ask(), await ask(), served.size]).toEqual(['own 1', 'own 2', 2]);
    // The second connection is kept; what comes while it is idle belongs to no request either.
    for (const socket of server.sockets) socket.write(answer('forged'));
    await eventually(() => server.sockets.size === 0);
    expect([await ask(), served.size]).toEqual(['own 3', 3]);
  });

  verifies('TRN-04', 'a request on a kept one that ends without a response may have been handled', async () => {
    const endings: Record<string, (socket: Socket) => void> = {
      'it hung up': (socket) => socket.end(),
      'it hung up (ECONNRESET)': (socket) => socket.resetAndDestroy(),
    };
    for (const [reason, end] of Object.entries(endings)) {
      const requests: Socket[] = [];
      const server = await serveRaw((socket) => {
        if (requests.push(socket) === 1) socket.write('HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n');
        else end(socket);
      });
      const { client } = await open();
      await fetchText(client, post(server.url), patience);
      expect(await endOf(client, post(server.url))).toMatchObject({ sent: true, cause: lost(reason) });
      expect([requests.length, requests[0] === requests[1]]).toEqual([2, true]);
    }
  });

  test('a request that waits for its turn on one has failed when the client is closed', async () => {
    const server = await serve(json({}));
    const { client } = await open();
    await fetchText(client, post(server.url), patience);
    let end: unknown;
    void endOf(client, post(server.url)).then((ended) => (end = ended));
    await client.close();
    expect(end).toMatchObject({ sent: false, cause: lost('it was closed') });
    expect(server.received).toHaveLength(1);
  });

  test('that the server ends right after its response carry no other request', async () => {
    const server = await serveRaw((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'));
    const { client } = await open();
    for (let count = 0; count < 20; count += 1)
      expect(await fetchText(client, post(server.url), patience)).toMatchObject({ text: 'hi' });
  });

  test('are kept over TLS too', async () => {
    const certificate = makeCertificate('server.example');
    const server = await serve(json({}), certificate);
    const { client } = await open({ caFile: certificate.certFile });
    for (let count = 0; count < 5; count += 1) await fetchText(client, post(server.url), patience);
    expect(server.sockets.size).toBe(1);
  });

  test('that are being opened are closed with the client too', async () => {
    const server = await serveRaw(() => undefined);
    const { client, clock } = await open();
    void endOf(client, get(server.url.replace('http', 'https')));
    await eventually(() => server.sockets.size === 1);
    await client.close();
    await eventually(() => server.sockets.size === 0);
    expect(clock.pending()).toBe(0);
  });

  test('an exchange that is aborted is heard of no more, whenever that happens', async () => {
    const server = await serve(() => undefined);
    const { client } = await open();
    const heard: string[] = [];
    const data = () => void heard.push('data');
    const listener = { head: () => heard.push('head'), data: () => data() as undefined, end: () => heard.push('end') };
    const begin = () => client.exchange(get(server.url), { ...listener, failed: () => heard.push('failed') });
    begin().abort();
    const later = begin();
    await eventually(() => server.received.length === 1);
    later.abort();
    later.abort();
    await eventually(() => server.received[0]?.isGone());
    await client.close();
    expect([heard, server.received.length]).toEqual([[], 1]);
  });
});

describe('a short question', () => {
  test('has its answer, its status and its headers', async () => {
    const server = await serve(json({ a: 1 }, 418, { 'x-tea': 'pot' }));
    const { client } = await open();
    expect(await fetchText(client, get(server.url), patience)).toMatchObject({
      status: 418,
      headers: { 'x-tea': 'pot' },
      text: '{"a":1}',
    });
  });

  test('is not answered without end', async () => {
    const server = await serve(status(200, 'x'.repeat(2_000)));
    const { client } = await open();
    expect(await failureOf(fetchText(client, get(server.url), patience))).toMatchObject({
      code: 'MESSAGE_TOO_LARGE',
      data: { server: 'files', limitBytes: 1_000 },
    });
  });

  test('ends with its signal', async () => {
    const server = await serve(() => undefined);
    const { client } = await open();
    const giveUp = new AbortController();
    const answer = failureOf(fetchText(client, get(server.url), { ...patience, signal: giveUp.signal }));
    await eventually(() => server.received.length === 1);
    giveUp.abort(new Error('enough'));
    expect(await answer).toMatchObject({ message: 'enough' });
    expect(await failureOf(fetchText(client, get(server.url), { ...patience, signal: giveUp.signal }))).toMatchObject({
      message: 'enough',
    });
  });
});

describe('a proxy', () => {
  verifies('EXT-20', 'fetches what is not encrypted, and is told who asks', async () => {
    const proxy = await startFetchingProxy();
    const env = { http_proxy: proxy.url.replace('://', '://ada:p%40ss@') };
    const { client } = await open({ env });
    const { text } = await fetchText(client, get('http://server.example/mcp?a=1', ['x-own', 'kept']), patience);
    expect(text).toBe('{"by":"proxy"}');
    expect(proxy.received[0]).toMatchObject({
      path: 'http://server.example/mcp?a=1',
      headers: {
        host: 'server.example',
        'x-own': 'kept',
        'proxy-authorization': `Basic ${Buffer.from('ada:p@ss').toString('base64')}`,
      },
    });
  });

  verifies(
    'EXT-20',
    'of the environment is left out for this machine, for NO_PROXY and where the entry says off',
    async () => {
      const server = await serve(json({ by: 'server' }));
      const proxy = await startFetchingProxy();
      const env = { HTTP_PROXY: proxy.url };
      const way = async (network: Partial<Network>, url = server.url) => {
        const { client } = await open(network);
        return fetchText(client, get(url), patience).then(({ text }) => text, String);
      };
      const localhost = server.url.replace('127.0.0.1', 'localhost');
      expect(await way({ env })).toBe('{"by":"server"}');
      expect(await way({ env: { ALL_PROXY: proxy.url } }, localhost)).toBe('{"by":"server"}');
      expect(await way({ env, proxy: 'off' }, 'http://server.invalid/')).toContain('the name in its address');
      expect(await way({ env: { ...env, NO_PROXY: '.invalid' } }, 'http://server.invalid/')).toContain(
        'the name in its',
      );
      expect(await way({ env }, 'http://server.invalid/')).toBe('{"by":"proxy"}');
      expect(await way({ env: {}, proxy: proxy.url })).toBe('{"by":"proxy"}');
    },
  );

  verifies('EXT-20', 'that is not there, or does not let us through, is told as unreached', async () => {
    for (const proxy of [await nobody(), (await startProxy({ answer: 'HTTP/1.1 403 No\r\n\r\n' })).url]) {
      const { client } = await open({ proxy });
      expect(await endOf(client, get('https://server.example/'))).toMatchObject({
        sent: false,
        cause: lost(expect.any(String)),
      });
    }
    for (const url of ['https://server.example/', 'http://server.example/']) {
      const { client } = await open({ proxy: await nobody() });
      const cause = lost('its proxy cannot be used: nothing listens at its address (ECONNREFUSED)');
      expect(await endOf(client, get(url)), url).toMatchObject({ sent: false, cause });
    }
    const { client } = await open({ proxy: 'socks5://127.0.0.1:1' });
    expect(await endOf(client, get('http://server.example/'))).toMatchObject({
      sent: false,
      cause: { code: 'CONFIG_INVALID' },
    });
  });
});

describe('certificates', () => {
  verifies('EXT-20', 'an authority of the entry vouches for the server, through a tunnel as well', async () => {
    const certificate = makeCertificate('server.example');
    const server = await serve(json({ ok: true }), certificate);
    const stranger = await open();
    expect(await endOf(stranger.client, get(server.url))).toMatchObject({
      sent: false,
      cause: lost(expect.stringContaining('its certificate is not signed by a trusted authority')),
    });
    const { client } = await open({ caFile: certificate.certFile });
    expect(await endOf(client, get(server.url))).toEqual({ status: 200 });
    const proxy = await startProxy();
    const tunneled = await open({ caFile: certificate.certFile, env: { HTTPS_PROXY: proxy.url } });
    const url = server.url.replace('127.0.0.1', 'server.example');
    await fetchText(tunneled.client, get(url), patience);
    expect(proxy.asked.map(({ target }) => target)).toEqual([`server.example:${server.port}`]);
  });

  verifies('EXT-20', 'the entry has one of its own to show', async () => {
    const own = makeCertificate('client.example');
    const theirs = makeCertificate('server.example');
    const server = await serve(json({ ok: true }), { ...theirs, ca: own.cert, requestCert: true });
    const caFile = theirs.certFile;
    const { client } = await open({ caFile, certFile: own.certFile, keyFile: own.keyFile });
    expect(await endOf(client, get(server.url))).toEqual({ status: 200 });
    const nameless = await open({ caFile });
    expect(await endOf(nameless.client, get(server.url))).not.toEqual({ status: 200 });
  });
});

verifies('EXT-20', 'a certificate that cannot be read is told before anything is sent, with its file', async () => {
  const network = { env: {}, cwd: '/nowhere', caFile: 'ca.pem' };
  const client = createHttpClient({ server: 'files', network, clock: createFakeClock() });
  expect(await failureOf(client)).toMatchObject({
    code: 'CONFIG_INVALID',
    data: { problem: expect.stringContaining('/nowhere/ca.pem') },
  });
});
