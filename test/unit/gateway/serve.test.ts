// Owns the proof of what `plexus serve` runs: a port, further routes, a start without servers, and an end that leaves nothing.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { serve } from '../../../src/cli/commands/serve.ts';
import { openServedGateway } from '../../../src/gateway/serve.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { byToken, withoutToken } from '../../../src/serving/access.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { createFolder } from '../../e2e/runtimes.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { initialize, sendTo, TOKEN } from '../serving/served.ts';

const CONFIG = `
[mcp_servers.broken]
command = "/no/such/program"

[plexus.serving]
port = 7001

[plexus.serving.profiles.few]
servers = ["none"]
`;

async function openIn(folder: string, over: Partial<Parameters<typeof openServedGateway>[0]> = {}) {
  const config = join(folder, 'mcp.toml');
  writeFileSync(config, CONFIG);
  const runtime = { cwd: folder, home: folder, env: {}, config, logs: false };
  const served = await openServedGateway({ host: '127.0.0.1', authenticate: byToken(TOKEN), runtime, ...over });
  onTestFinished(() => served.close({ drainMs: 0 }));
  return served;
}

test('it listens where it is told, with the routes of its profiles and those given besides', async () => {
  const served = await openIn(createFolder());
  expect(served.port).toBe(7_001);
  const routes = new Map([['/healthz', (_: unknown, response: { end(text: string): void }) => response.end('ok')]]);
  const { url } = await served.listen({ host: '127.0.0.1', port: 0, routes: routes as never });
  const headers = { authorization: `Bearer ${TOKEN}` };
  const status = async (path: string, given: Record<string, string> = headers) =>
    (await sendTo(url, { path, body: initialize(), headers: given })).status;
  expect(await Promise.all(['/mcp', '/mcp/p/few', '/mcp/p/no', '/mcp/s/no', '/x'].map((path) => status(path)))).toEqual(
    [200, 200, 404, 404, 404],
  );
  // Without a token nothing tells a server or profile that there is from one that there is not.
  const known = await sendTo(url, { path: '/mcp/s/broken' });
  expect(known.status).toBe(401);
  for (const path of ['/mcp', '/mcp/p/few', '/mcp/p/no', '/mcp/s/no'])
    expect(await sendTo(url, { path })).toEqual({ ...known, headers: { ...known.headers, date: expect.any(String) } });
  for (const path of ['/mcp/s/broken', '/mcp/s/no']) expect(await status(path, { host: 'evil.example' })).toBe(403);
  expect((await sendTo(url, { path: '/healthz', method: 'GET' })).body).toBe('ok');
  const broken = await sendTo(url, { path: '/mcp/s/broken', body: initialize(), headers });
  expect([broken.status, broken.message['error']?.['message']]).toEqual([
    502,
    expect.stringContaining('/no/such/program'),
  ]);
});

test.each([
  [{ expose: 'some' }, '--expose takes all or search'],
  [{ port: '70000' }, '--port takes a number from 0 to 65535'],
  [{ host: '' }, '--host takes the name or address'],
  [{ host: '0.0.0.0', 'no-token': true }, 'does not go with --host 0.0.0.0'],
  [{ profile: 'few' }, '--profile goes with --stdio'],
])('the command refuses %j', async (values, sentence) => {
  await expect(serve.run({ values, positionals: [] } as never)).rejects.toThrow(sentence);
});

test('the command refuses words that mean nothing to it', async () => {
  const refused = serve.run({ values: {}, positionals: ['tokens', 'list'] } as never);
  await expect(refused).rejects.toThrow('unexpected word "tokens"');
});

test('without a token it is for this machine only', async () => {
  const far = openIn(createFolder(), { host: '0.0.0.0', authenticate: withoutToken });
  await expect(far).rejects.toThrow('listens on loopback only');
});

test('a taken port is an error', async () => {
  const served = await openIn(createFolder());
  const { port } = await served.listen({ host: '127.0.0.1', port: 0 });
  await expect(served.listen({ host: '127.0.0.1', port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

verifies(
  'TRN-10',
  'a local server that no client uses is stopped after a while; its tools stay, and the next call starts it again',
  async () => {
    const clock = createFakeClock();
    const folder = createFolder();
    const config = join(folder, 'mcp.toml');
    const at = (file: string) => fileURLToPath(new URL(`../../servers/${file}`, import.meta.url));
    const entry = (name: string, file: string, more = '') =>
      `[mcp_servers.${name}]\ncommand = '${process.execPath}'\nargs = ['${at(file)}']\nhealth = { mode = 'off' }\n${more}\n`;
    const servers = [
      entry('rested', 'desk.mjs'),
      entry('busy', 'desk.mjs'),
      entry('stays', 'desk.mjs', 'idle_stop_ms = 0'),
      entry('watched', 'offering.mjs'),
    ];
    writeFileSync(config, `[plexus.serving]\nidle_stop_ms = 300_000\n${servers.join('')}`);
    const runtime = { cwd: folder, home: folder, env: { PATH: process.env['PATH'] ?? '' }, config, logs: false, clock };
    const served = await openServedGateway({ host: '127.0.0.1', authenticate: withoutToken, runtime });
    onTestFinished(() => served.close({ drainMs: 0 }));
    const { url } = await served.listen({ host: '127.0.0.1', port: 0 });
    const opened = await sendTo(url, { body: initialize() });
    const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    let last = 0;
    const ask = async (method: string, params = {}) =>
      (await sendTo(url, { headers, body: { jsonrpc: '2.0', id: ++last, method, params } })).message[
        'result'
      ] as JsonObject;
    const states = async () =>
      Object.fromEntries(
        (await served.gateway.status()).flatMap((each) => each.servers).map(({ name, state }) => [name, state]),
      );
    const up = { rested: 'connected', busy: 'connected', stays: 'connected', watched: 'connected' };
    await waitFor(async () => expect(await states()).toEqual(up));
    await ask('resources/subscribe', { uri: 'note://1' });
    const waiting = ask('tools/call', { name: 'busy__wait', arguments: {} });
    await waitFor(() =>
      expect(served.gateway.measures().servers.get('busy')).toMatchObject({ inFlight: 1, queued: 0 }),
    );
    await clock.advance(299_999);
    expect(await states()).toEqual(up);
    await clock.advance(1);
    await waitFor(async () => expect(await states()).toEqual({ ...up, rested: 'idle' }));
    const { tools } = await ask('tools/list');
    expect(tools).toContainEqual(expect.objectContaining({ name: 'rested__add' }));
    const sum = await ask('tools/call', { name: 'rested__add', arguments: { a: 1, b: 2 } });
    expect(sum['content']).toEqual([{ type: 'text', text: '1 + 2 = 3' }]);
    expect(await states()).toEqual(up);
    await served.gateway.close({ drainMs: 0 });
    await waiting;
  },
);
