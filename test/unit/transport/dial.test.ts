// Owns the proof that proxies and certificates are honored on the way to an address, with real tunnels and real TLS.

import dns from 'node:dns';
import { isIP } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Network } from '../../../src/transport/dial.ts';
import { makeCertificate } from '../../servers/certificates.ts';
import { startProxy } from '../../servers/connect-proxy.ts';
import { eventually } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import { failureOf, openChannel, serve, serveRaw, start } from './websockets.ts';

const lost = (reason: unknown) => ({ code: 'CONNECTION_LOST', data: { server: 'files', reason, isRemote: true } });
const network = (more: Partial<Network> = {}): Network => ({ env: {}, cwd: '/', ...more });

/** An address with a name that only the proxies of these tests resolve. */
const named = (url: string) => url.replace('127.0.0.1', 'server.example');

async function expectGreeting(url: string, way: Network, headers: Record<string, string> = {}): Promise<void> {
  const { heard } = await start(url, { network: way, headers });
  await eventually(() => heard.messages.length === 1);
}

const greeting = { greet: (websocket: { send(text: string): void }) => websocket.send('{"id":1}') };

describe('a proxy', () => {
  verifies('EXT-20', 'of the environment is asked for a tunnel, and hears nothing of the headers', async () => {
    const server = await serve(greeting);
    const proxy = await startProxy();
    await expectGreeting(named(server.url), network({ env: { HTTP_PROXY: proxy.url } }), { authorization: 'secret' });
    expect(proxy.asked).toEqual([
      { target: `server.example:${server.port}`, headers: { host: `server.example:${server.port}` } },
    ]);
    expect(server.requests[0]?.headers).toMatchObject({
      host: `server.example:${server.port}`,
      authorization: 'secret',
    });
  });

  verifies('EXT-20', 'of the entry is used instead of it, with its own login', async () => {
    const server = await serve(greeting);
    const proxy = await startProxy();
    const own = proxy.url.replace('://', '://ada:p%40ss@');
    await expectGreeting(server.url, network({ env: { HTTP_PROXY: 'http://127.0.0.1:1' }, proxy: own }));
    expect(proxy.asked.map(({ headers }) => headers['proxy-authorization'])).toEqual([
      `Basic ${Buffer.from('ada:p@ss').toString('base64')}`,
    ]);
  });

  verifies('EXT-20', 'is left out for what NO_PROXY names, for this machine and where the entry says off', async () => {
    const server = await serve(greeting);
    const env = { HTTP_PROXY: 'http://127.0.0.1:1' };
    await expectGreeting(server.url, network({ env }));
    await expectGreeting(server.url, network({ env, proxy: 'off' }));
    const { channel } = openChannel('ws://no-such-name.invalid/', {
      network: network({ env: { ...env, NO_PROXY: 'invalid' } }),
    });
    expect(await failureOf(channel.start())).toMatchObject(lost(expect.stringContaining('the name in its address')));
  });

  const answers: Record<string, [answer: string, failure: object]> = {
    'a login is wanted': [
      'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n',
      { code: 'CONFIG_INVALID', data: { problem: 'the proxy of server "files" wants a login (HTTP 407)' } },
    ],
    'it cannot reach the server': ['HTTP/1.0 502 Bad Gateway\r\n\r\nsorry', lost('its proxy answered HTTP 502')],
    'it is no proxy': ['SSH-2.0\r\n\r\n', lost('its proxy does not speak HTTP')],
    'it talks without end': ['x'.repeat(100_000), lost('its proxy does not speak HTTP')],
    'its headers have no end': [
      `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(10_000)}`,
      lost('its proxy does not speak HTTP'),
    ],
    'it hangs up': ['', lost('its proxy cannot be used: it hung up (ECONNRESET)')],
  };
  for (const [what, [answer, failure]] of Object.entries(answers)) {
    verifies('EXT-20', `that does not help is named: ${what}`, async () => {
      const proxy = await startProxy({ answer });
      const { channel } = openChannel('ws://server.example/', { network: network({ proxy: proxy.url }) });
      expect(await failureOf(channel.start())).toMatchObject(failure);
    });
  }

  test('that is not there, or of an unknown kind, is named', async () => {
    const through = (proxy: string) =>
      failureOf(openChannel('ws://server.example/', { network: network({ proxy }) }).channel.start());
    expect(await through('http://127.0.0.1:1')).toMatchObject(
      lost('its proxy cannot be used: nothing listens at its address (ECONNREFUSED)'),
    );
    expect(await through('socks5://ada:secret@127.0.0.1:1')).toMatchObject({
      code: 'CONFIG_INVALID',
      data: {
        problem: 'the proxy of server "files" has an address that begins neither with http:// nor with https://',
      },
    });
  });

  test('that never answers is left when the channel closes', async () => {
    const silent = await serveRaw();
    const { channel } = openChannel('ws://server.example/', {
      network: network({ proxy: `127.0.0.1:${silent.port}` }),
    });
    const starting = failureOf(channel.start());
    await eventually(() => silent.sockets.length === 1);
    await channel.close();
    expect(await starting).toMatchObject(lost('it was closed'));
    await eventually(silent.isQuiet);
  });
});

describe('TLS', () => {
  verifies('EXT-20', 'trusts whom the CA file of the entry names, and nobody else', async () => {
    const own = makeCertificate('server.example');
    const client = makeCertificate('client.example');
    const server = await serve({ ...greeting, tls: own });
    await expectGreeting(server.url, network({ caFile: own.certFile }));
    for (const way of [network(), network({ caFile: client.certFile })]) {
      const { channel } = openChannel(server.url, { network: way });
      expect(await failureOf(channel.start())).toMatchObject(
        lost('its certificate is not signed by a trusted authority (DEPTH_ZERO_SELF_SIGNED_CERT)'),
      );
    }
  });

  verifies('EXT-20', 'shows the client certificate of the entry', async () => {
    const own = makeCertificate('server.example');
    const client = makeCertificate('client.example');
    const tls = { ...own, ca: client.cert, requestCert: true, rejectUnauthorized: true };
    const server = await serve({ ...greeting, tls });
    await expectGreeting(
      server.url,
      network({ caFile: own.certFile, certFile: client.certFile, keyFile: client.keyFile }),
    );
    const { channel } = openChannel(server.url, { network: network({ caFile: own.certFile }) });
    expect(await failureOf(channel.start())).toMatchObject(
      lost(expect.stringMatching(/^(it wants another client certificate|it hung up) \(/)),
    );
  });

  verifies('EXT-20', 'goes through the tunnel of a proxy, to the name of the server', async () => {
    const own = makeCertificate('server.example');
    const server = await serve({ ...greeting, tls: own });
    const proxy = await startProxy();
    const way = network({ env: { HTTPS_PROXY: proxy.url }, caFile: own.certFile });
    await expectGreeting(named(server.url), way);
    const { channel } = openChannel(server.url.replace('127.0.0.1', 'other.example'), { network: way });
    expect(await failureOf(channel.start())).toMatchObject(
      lost('its certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID)'),
    );
  });

  test('to the proxy itself works as well, around that to the server', async () => {
    const own = makeCertificate('server.example');
    const server = await serve({ ...greeting, tls: own });
    const proxy = await startProxy({ certificate: own });
    await expectGreeting(named(server.url), network({ proxy: proxy.url, caFile: own.certFile }));
    expect(proxy.asked).toHaveLength(1);
  });

  test('is not spoken by everyone', async () => {
    const server = await serve();
    const { channel } = openChannel(server.url.replace('ws:', 'wss:'), { network: network() });
    expect(await failureOf(channel.start())).toMatchObject(lost(expect.stringMatching(/^it does not speak TLS \(/)));
  });

  test('that never comes about is left when the channel closes', async () => {
    const silent = await serveRaw();
    const { channel } = openChannel(silent.url.replace('ws:', 'wss:'));
    const starting = failureOf(channel.start());
    await eventually(() => silent.sockets.length === 1);
    await channel.close();
    expect(await starting).toMatchObject(lost('it was closed'));
    await eventually(silent.isQuiet);
  });
});

describe('an address that must be public', () => {
  const resolvingTo = (...addresses: readonly string[]) => {
    const found = vi.spyOn(dns, 'lookup').mockImplementation(((
      _name: string,
      { all }: { all?: boolean },
      callback: (...found: unknown[]) => void,
    ) => {
      const list = addresses.map((address) => ({ address, family: isIP(address) }));
      if (all) callback(null, list);
      else callback(null, list[0]?.address, list[0]?.family);
    }) as never);
    onTestFinished(() => found.mockRestore());
  };
  const refused = { code: 'SERVER_UNTRUSTED', data: { server: 'files', isLocal: true } };
  const reach = (url: string, way: Partial<Network> = {}) =>
    failureOf(openChannel(url, { network: network({ isPublicOnly: true, ...way }) }).channel.start());

  verifies('TRU-02', 'is refused where it is local, without a socket', async () => {
    const server = await serve(greeting);
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0'])
      expect(await reach(`ws://${host}:${server.port}/`)).toMatchObject(refused);
    for (const found of [['127.0.0.1'], ['::1'], ['::ffff:127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['169.254.169.254']]) {
      resolvingTo(...found);
      expect(await reach(`ws://rebind.example:${server.port}/`)).toMatchObject(refused);
    }
    expect(server.requests).toEqual([]);
  });

  verifies('TRU-02', 'is looked up by the proxy of the person where there is one, which may be local', async () => {
    const server = await serve(greeting);
    const proxy = await startProxy();
    resolvingTo('127.0.0.1');
    await expectGreeting(named(server.url), network({ isPublicOnly: true, env: { HTTP_PROXY: proxy.url } }));
    expect(proxy.asked.length).toBe(1);
  });

  verifies('TRU-02', 'says what other failures it has as ever', async () => {
    expect(await reach('ws://no-such-name.invalid/')).toMatchObject(
      lost(expect.stringContaining('the name in its address')),
    );
  });
});
