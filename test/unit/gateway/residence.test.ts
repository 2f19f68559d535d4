// Owns the proof of a gateway's place in its state folder, piece by piece: who is known by which token, what its pages say, and how a
// client joins it.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { serveToken } from '../../../src/cli/serve-token.ts';
import type { ServerStatus } from '../../../src/connection/status.ts';
import { claimGateway } from '../../../src/gateway/claim.ts';
import { connect } from '../../../src/gateway/connect/connect.ts';
import { joinGateway } from '../../../src/gateway/connect/join.ts';
import { gatewayFiles } from '../../../src/gateway/instance.ts';
import { Links } from '../../../src/gateway/links.ts';
import { openResidence } from '../../../src/gateway/residence.ts';
import { openServedGateway } from '../../../src/gateway/serve.ts';
import { statusRoutes } from '../../../src/gateway/status-routes.ts';
import { addToken } from '../../../src/gateway/tokens.ts';
import { createMemoryStore } from '../../../src/kernel/store.ts';
import { limits } from '../../../src/model/limits.ts';
import { byToken, loopbackHosts } from '../../../src/serving/access.ts';
import { createMcpServer } from '../../../src/serving/mcp-server.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { removeFolder } from '../../remove-folder.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { echoService, initialize, MODERN, modernMeta, sendTo, TOKEN } from '../serving/served.ts';

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plexus-residence-'));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

const fail = (error: unknown) => {
  throw error;
};
const request = (token: string, headers = {}) =>
  ({ headers: { authorization: `Bearer ${token}`, ...headers } }) as unknown as IncomingMessage;

test('a residence knows its tokens, marks its children, and refuses what it has sent itself', async () => {
  const [stateFolder, store] = [createFolder(), createMemoryStore()];
  const options = {
    stateFolder,
    store,
    env: { PLEXUS_GATEWAY: 'outer' },
    host: '127.0.0.1',
    configuration: '/c',
    onError: fail,
  };
  const residence = await openResidence({ ...options, isOpen: false, endsWhenIdle: false });
  const client = (await addToken(store, { name: 'editor', profile: 'work', now: 0 })) ?? '';
  expect(residence.authenticate(request(residence.token ?? ''))).toMatchObject({ id: 'own' });
  expect(residence.authenticate(request(client))).toMatchObject({
    id: 'client editor',
    details: { profile: 'work', client: 'editor' },
  });
  expect(residence.authenticate(request(client))).toBe(residence.authenticate(request(client)));
  expect(residence.authenticate(request('x'.repeat(40)))).toBeUndefined();
  const marks = residence.env['PLEXUS_GATEWAY'] ?? '';
  expect(marks).toMatch(/^outer,[0-9a-f]{16}$/);
  expect(residence.refuses(request('', { 'plexus-gateway': marks }))).toMatchObject({ status: 508 });
  expect(residence.refuses(request('', { 'plexus-gateway': 'outer' }))).toBeUndefined();
  await residence.close();
});

test('a residence that cannot be opened leaves the folder free', async () => {
  const stateFolder = createFolder();
  const { token, ledger } = gatewayFiles(stateFolder);
  const options = {
    env: {},
    host: '127.0.0.1',
    configuration: '/c',
    onError: fail,
    isOpen: false,
    endsWhenIdle: false,
  };
  const open = () => openResidence({ ...options, stateFolder, store: createMemoryStore() });
  writeFileSync(token, 'short');
  await expect(open()).rejects.toThrow(`the file ${token} holds no token`);
  rmSync(token);
  mkdirSync(ledger);
  await expect(open()).rejects.toMatchObject({ code: 'STORE_UNWRITABLE', data: { folder: stateFolder } });
  rmSync(ledger, { recursive: true });
  await (await open()).close();
});

test('pages answer by method, name and token', async () => {
  const desk = { name: 'desk', state: 'idle', toolCount: 2 } as ServerStatus;
  const fleets = [
    { workspace: undefined, servers: [desk] },
    { workspace: '/work\u202e', servers: [{ ...desk, state: 'connected', status: 'connected' } as ServerStatus] },
  ];
  const served = createServer((asked, response) => void routes.get(asked.url ?? '')?.(asked, response));
  let isReady = true;
  const routes = statusRoutes({
    hosts: loopbackHosts,
    isAdmin: byToken(TOKEN),
    mayRead: byToken(TOKEN),
    isReady: () => isReady,
    stop: () => expect.fail('nothing stops it'),
    measured: async () => ({ servers: new Map(), sessions: { legacy: 1, modern: 2 }, fleets }),
  });
  await new Promise<void>((resolve) => served.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void served.close());
  const at = (path: string) => `http://127.0.0.1:${(served.address() as AddressInfo).port}${path}`;
  expect(await sendTo(at('/readyz'), { method: 'GET' })).toMatchObject({ status: 200 });
  isReady = false;
  expect(await sendTo(at('/readyz'), { method: 'GET' })).toMatchObject({ status: 503, body: 'not ready\n' });
  expect(await sendTo(at('/healthz'), { method: 'POST' })).toMatchObject({ status: 405 });
  expect(await sendTo(at('/healthz'), { method: 'GET', headers: { host: 'evil.example' } })).toMatchObject({
    status: 403,
  });
  const counts = 'Plexus gateway: not ready\n1 server, 1 running, in 1 folder besides its own\n3 sessions\n\n';
  expect(await sendTo(at('/'), { method: 'GET' })).toMatchObject({
    body: `${counts}Names are shown with the token of the gateway.\n`,
  });
  const headers = { authorization: `Bearer ${TOKEN}` };
  expect(await sendTo(at('/'), { method: 'GET', headers })).toMatchObject({
    body: `${counts}For clients that name no folder:\n  desk  idle  2 tools\n\nFor clients in /work\\u202e:\n  desk  connected  2 tools\n`,
  });
});

verifies('EXT-45', 'a client joins the gateway of its state folder, and ends with its input', async () => {
  const home = createFolder();
  const stateFolder = join(home, '.local', 'state', 'plexus');
  const claim = await claimGateway({ stateFolder });
  const server = createMcpServer(echoService());
  const links = new Links({
    ...{ authenticate: byToken(claim.connectToken), mark: claim.mark, hosts: loopbackHosts, onError: fail },
    serve: (_, principal, pipes) => server.stdio(pipes, { principal }),
  });
  const http = createServer().on('upgrade', links.accept);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void http.close());
  await claim.announce({ host: '127.0.0.1', port: (http.address() as AddressInfo).port, configuration: '/c' });
  const program = { command: 'never-started', args: [] };
  const [input, output] = [new PassThrough(), new PassThrough()];
  const surroundings = { env: {}, home, platform: 'linux', cwd: '/work', program, warn: fail } as const;
  input.end(`${JSON.stringify(initialize())}\n`);
  expect(await connect({ ...surroundings, input, output })).toBe(0);
  expect(JSON.parse(String(output.read()))).toMatchObject({ id: 'init', result: { serverInfo: { name: 'echo' } } });
  const link = joinGateway({
    ...{ stateFolder, path: '/mcp', workspace: '/', client: 'client-1', behind: claim.mark, platform: 'linux' },
    program: { ...program, home, env: {} },
  });
  await expect(link).rejects.toMatchObject({ code: 'GATEWAY_UNREACHABLE' });
  await claim.release();
});

verifies('EXT-45', 'a gateway is idle from the end of its last link or command on', async () => {
  const home = createFolder();
  const stateFolder = join(home, '.local', 'state', 'plexus');
  const clock = createFakeClock();
  const host = '127.0.0.1';
  const own = { env: {}, host, configuration: '/c', onError: fail, isOpen: false, endsWhenIdle: true };
  const residence = await openResidence({ ...own, stateFolder, store: createMemoryStore(), clock });
  const { authenticate } = residence;
  const served = await openServedGateway({ runtime: { discover: false, home }, host, authenticate });
  onTestFinished(() => residence.close(served));
  await residence.open(served, 0);
  const program = { command: 'never-started', args: [], home, env: {} };
  const place = {
    stateFolder,
    path: '/mcp',
    workspace: home,
    client: 'client-1',
    behind: '',
    platform: 'linux',
  } as const;
  const socket = await joinGateway({ ...place, program });
  expect(served.gateway.measures().pipes).toBe(1);
  await clock.advance(limits.gatewayIdleMs - 1_000);
  socket.destroy();
  await waitFor(() => expect(served.gateway.measures().pipes).toBe(0));
  await clock.advance(2_000);
  expect(residence.ended.aborted).toBe(false);
  await clock.advance(limits.gatewayIdleMs);
  expect(residence.ended.aborted).toBe(true);
});

test('sessions are counted by era: a link is one of its client, and what has ended counts no more', async () => {
  const home = createFolder();
  const stateFolder = join(home, '.local', 'state', 'plexus');
  const host = '127.0.0.1';
  const own = { env: {}, host, configuration: '/c', onError: fail, isOpen: false, endsWhenIdle: false };
  const residence = await openResidence({ ...own, stateFolder, store: createMemoryStore() });
  const { authenticate, token = '' } = residence;
  const served = await openServedGateway({ runtime: { discover: false, home }, host, authenticate });
  onTestFinished(() => residence.close(served));
  const { url } = await residence.open(served, 0);
  const { adminToken } = gatewayFiles(stateFolder);
  const admin = { authorization: `Bearer ${readFileSync(adminToken, 'utf8').trim()}` };
  const counted = async () => {
    const { body } = await sendTo(url, { path: '/metrics', method: 'GET', headers: admin });
    return ['legacy', 'modern'].map((era) =>
      Number(new RegExp(`plexus_sessions\\{era="${era}"\\} (\\d+)`).exec(body)?.[1]),
    );
  };
  const link = () =>
    joinGateway({
      ...{ stateFolder, path: '/mcp', workspace: home, client: 'client-1', behind: '', platform: 'linux' },
      program: { command: 'never-started', args: [], home, env: {} },
    });
  expect(await counted()).toEqual([0, 0]);
  const headers = { authorization: `Bearer ${token}` };
  const session = String((await sendTo(url, { headers, body: initialize() })).headers['mcp-session-id']);
  const [old, modern] = [await link(), await link()];
  old.write(`${JSON.stringify(initialize())}\n`);
  await waitFor(async () => expect(await counted()).toEqual([2, 1]));
  await sendTo(url, { method: 'DELETE', headers: { ...headers, 'mcp-session-id': session } });
  modern.destroy();
  await waitFor(async () => expect(await counted()).toEqual([1, 0]));
  old.destroy();
  await waitFor(async () => expect(await counted()).toEqual([0, 0]));
});

test('a gateway is not idle while a modern client is asked, who has nothing else open', async () => {
  const home = createFolder();
  const clock = createFakeClock();
  const host = '127.0.0.1';
  const own = { env: {}, host, configuration: '/c', onError: fail, isOpen: true, endsWhenIdle: true };
  const stateFolder = join(home, '.local', 'state', 'plexus');
  const residence = await openResidence({ ...own, stateFolder, store: createMemoryStore(), clock });
  const eliciting = fileURLToPath(new URL('../../servers/eliciting.mjs', import.meta.url));
  const servers = { s: { command: process.execPath, args: [eliciting] } };
  const runtime = { discover: false, home, servers, permissions: [{ tool: 'mcp__*', action: 'allow' as const }] };
  const served = await openServedGateway({ runtime, host, authenticate: residence.authenticate });
  onTestFinished(() => residence.close(served));
  const { url } = await residence.open(served, 0);
  const call = (more = {}) =>
    sendTo(new URL('/mcp/s/s', url).href, {
      headers: { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'register' },
      body: {
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'register', arguments: {}, _meta: modernMeta({ elicitation: {} }), ...more },
      },
    });
  const { inputRequests, requestState } = (await call()).message['result'] ?? {};
  await clock.advance(2 * limits.gatewayIdleMs);
  expect([served.gateway.measures(), residence.ended.aborted]).toMatchObject([
    { sessions: 0, pipes: 0, unanswered: 0, suspended: 1 },
    false,
  ]);
  const [key = ''] = Object.keys(inputRequests as object);
  const inputResponses = { [key]: { action: 'decline' } };
  expect((await call({ requestState, inputResponses })).message['result']).toHaveProperty('content');
  await clock.advance(2 * limits.gatewayIdleMs);
  expect(residence.ended.aborted).toBe(true);
});

test.each([
  [['token'], 'write token add NAME'],
  [['token', 'add', 'a b'], 'a name has'],
  [['token', 'add', 'a'], '--profile P'],
  [['token', 'list', 'x', 'y'], 'too many'],
])('serve %j is refused', async (positionals, sentence) => {
  const context = { positionals, values: {}, env: {}, home: createFolder() } as never;
  await expect(serveToken(context)).rejects.toThrow(sentence);
});
