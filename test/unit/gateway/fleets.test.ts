// Owns the proof of what the gateway keeps of a fleet: its workspaces, its clients, its watched resources, and its lists.

import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { type Access, identify, WORKSPACE_HEADER } from '../../../src/gateway/access.ts';
import { GatewayClient } from '../../../src/gateway/client.ts';
import { Clients } from '../../../src/gateway/clients.ts';
import { gatewayHandlers } from '../../../src/gateway/gateway.ts';
import { GatewayFleet } from '../../../src/gateway/gateway-fleet.ts';
import { openProfile } from '../../../src/gateway/profiles.ts';
import { Watched } from '../../../src/gateway/watched-resources.ts';
import { Workspaces } from '../../../src/gateway/workspaces.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { limits } from '../../../src/model/limits.ts';
import type { Channel } from '../../../src/model/server.ts';
import type { Peer, Principal, ServedSession } from '../../../src/serving/service.ts';
import { createFolder, createRawServer, start } from '../../e2e/runtimes.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { modernMeta } from '../serving/served.ts';
import { front } from './fronted.ts';

const route = { path: '/mcp', profile: openProfile, server: undefined };

const peerOf = (over: Partial<Peer> = {}): Peer => ({
  ...{ era: 'modern', protocolVersion: '2026-07-28', principal: { id: 'own' } },
  ...{ client: undefined, capabilities: {}, session: undefined, ...over },
});

async function workspacesIn(folder: string, servers = {}, isUsed: (fleet: GatewayFleet) => boolean = () => true) {
  const open = (cwd: string) => start(folder, { cwd, servers });
  const workspaces = new Workspaces(await open(folder), { open, onFleet: () => undefined, isUsed });
  onTestFinished(() => workspaces.close());
  return workspaces;
}

verifies('EXT-32', 'each folder has a fleet of its own, opened once, and a client gets that of its root', async () => {
  const folder = createFolder();
  for (const name of ['a', 'b']) mkdirSync(join(folder, name));
  const workspaces = await workspacesIn(folder);
  const [a, again, b] = await Promise.all(['a', 'a', 'b'].map((name) => workspaces.fleetOf(join(folder, name))));
  expect(again).toBe(a);
  expect(b).not.toBe(a);
  expect(a?.roots()).toEqual([{ uri: pathToFileURL(join(folder, 'a')).href }]);
  expect(await workspaces.fleetOf(undefined)).toBe(workspaces.own);
  await expect(workspaces.fleetOf(join(folder, 'none'))).rejects.toMatchObject({ status: 400 });
  const asked: string[] = [];
  const session = {
    ...{ id: '1', level: undefined, notify: () => undefined },
    ask: async (method: string): Promise<JsonObject> => {
      asked.push(method);
      return { roots: [{ uri: pathToFileURL(join(folder, 'b')).href }] };
    },
  } as ServedSession;
  const deps = { route, workspaces, clock: systemClock, onError: () => undefined };
  const clients = new Clients({ ...deps, trustsRoots: true });
  onTestFinished(() => clients.close());
  const peer = peerOf({ era: 'legacy', session, capabilities: { roots: {} } });
  expect((await clients.of(peer)).fleet).toBe(b);
  expect(clients.of(peer), 'known from then on').toBeInstanceOf(GatewayClient);
  expect(clients.isOf(peer, workspaces.own)).toBe(false);
  const far = new Clients({ ...deps, trustsRoots: false });
  onTestFinished(() => far.close());
  expect((await far.of(peer)).fleet, 'from another machine its roots say nothing').toBe(workspaces.own);
  expect(asked).toEqual(['roots/list']);
});

verifies(
  'EXT-32',
  'a client whose roots have changed moves with them; in the same folder it stays what it was',
  async () => {
    const folder = createFolder();
    for (const name of ['a', 'b']) mkdirSync(join(folder, name));
    const workspaces = await workspacesIn(folder);
    let [root, asked] = ['a', 0];
    const session = {
      ...{ id: '1', level: undefined, notify: () => undefined },
      ask: async (): Promise<JsonObject> => {
        asked++;
        return { roots: [{ uri: pathToFileURL(join(folder, root)).href }] };
      },
    } as ServedSession;
    const clients = new Clients({ route, workspaces, clock: systemClock, onError: () => undefined, trustsRoots: true });
    onTestFinished(() => clients.close());
    const peer = peerOf({ era: 'legacy', session, capabilities: { roots: {} } });
    const first = await clients.of(peer);
    expect(clients.rootsChanged(peer)).toBe(true);
    // Its approvals and its taint are kept with it.
    expect(await clients.of(peer)).toBe(first);
    // It changes again while it is asked.
    clients.rootsChanged(peer);
    const opening = clients.of(peer);
    clients.rootsChanged(peer);
    expect([await clients.of(peer), await opening]).toEqual([first, first]);
    root = 'b';
    clients.rootsChanged(peer);
    const moved = await clients.of(peer);
    expect([moved === first, moved.fleet.workspace, asked]).toEqual([false, join(folder, 'b'), 5]);
    const linked = {
      ...peer,
      principal: identify(
        { id: 'c', details: { mayNameWorkspace: true } },
        { headers: { [WORKSPACE_HEADER]: encodeURIComponent(join(folder, 'a')) } },
      ) as Principal,
    };
    const there = await clients.of({ ...linked, session: { ...session } });
    expect([clients.rootsChanged(linked), there.fleet]).toEqual([false, first.fleet]);
  },
);

verifies(
  'EXT-32',
  'a folder is one workspace, however a client writes its path, and so are the folders of one project',
  async () => {
    const folder = createFolder();
    const [project, sub, other] = [join(folder, 'project'), join(folder, 'project', 'sub'), join(folder, 'other')];
    for (const each of [sub, other]) mkdirSync(each, { recursive: true });
    symlinkSync(project, join(folder, 'link'));
    const open = (cwd: string) => start(folder, { cwd });
    const workspaceOf = (each: string) => (each === sub ? project : each);
    const workspaces = new Workspaces(await open(folder), {
      ...{ open, folder: `${folder}/`, workspaceOf, onFleet: () => undefined, isUsed: () => true },
    });
    onTestFinished(() => workspaces.close());
    const written = [
      project,
      `${project}/`,
      join(folder, 'link'),
      `${folder}/./other/../link/`,
      sub,
      join(folder, 'link', 'sub'),
    ];
    const fleets = await Promise.all(written.map((each) => workspaces.fleetOf(each)));
    expect(new Set(fleets).size).toBe(1);
    expect(fleets[0]?.roots()).toEqual([{ uri: pathToFileURL(project).href }]);
    expect(await workspaces.fleetOf(other)).not.toBe(fleets[0]);
    expect(await workspaces.fleetOf(folder)).toBe(workspaces.own);
    expect(await workspaces.use(join(folder, 'link'), async (fleet) => fleet)).toBe(fleets[0]);
    // A link that leads elsewhere by now means the other folder.
    rmSync(join(folder, 'link'));
    symlinkSync(other, join(folder, 'link'));
    expect((await workspaces.fleetOf(join(folder, 'link'))).workspace).toBe(other);
  },
);

test('at the limit of workspaces, the one without clients that was used least recently makes room; with clients in all the next is refused', async () => {
  const folder = createFolder();
  const folders = Array.from({ length: limits.relay.workspaces + 1 }, (_, at) => join(folder, `w${at}`));
  for (const each of folders) mkdirSync(each);
  const unused = new Set<GatewayFleet | undefined>();
  const workspaces = await workspacesIn(folder, {}, (fleet) => !unused.has(fleet));
  const next = folders.pop() ?? '';
  const fleets = await Promise.all(folders.map((each) => workspaces.fleetOf(each)));
  // They were waited for until now.
  await new Promise(setImmediate);
  await expect(workspaces.fleetOf(next)).rejects.toMatchObject({ status: 503 });
  unused.add(fleets[3]).add(fleets[5]);
  await workspaces.fleetOf(folders[3]);
  await new Promise(setImmediate);
  expect((await workspaces.fleetOf(next)).workspace).toBe(next);
  expect((await workspaces.all()).map(({ workspace }) => workspace)).toEqual([
    undefined,
    ...folders.filter((_, at) => at !== 3 && at !== 5),
    ...[folders[3], next],
  ]);
});

test('as many workspaces as may be open are, however many are asked for at once', async () => {
  const folder = createFolder();
  const folders = Array.from({ length: limits.relay.workspaces + 3 }, (_, at) => join(folder, `w${at}`));
  for (const each of folders) mkdirSync(each);
  const workspaces = await workspacesIn(folder);
  const opened = await Promise.allSettled(folders.map((each) => workspaces.fleetOf(each)));
  expect(opened.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))).toMatchObject([
    ...[{ status: 503 }, { status: 503 }, { status: 503 }],
  ]);
  expect((await workspaces.all()).length).toBe(limits.relay.workspaces + 1);
});

test('one subscription serves all clients of a fleet, and ends with the last', async () => {
  const server = createRawServer(
    { resources: { subscribe: true } },
    {
      'resources/list': () => ({ resources: [{ uri: 'note://1', name: 'note' }] }),
      'resources/subscribe': () => ({}),
      'resources/unsubscribe': () => ({}),
    },
  );
  const fleet = new GatewayFleet(await start(createFolder(), { servers: { s: server.entry } }));
  await fleet.whenListed('resources');
  const told: string[] = [];
  const watched = new Watched((uri) => told.push(uri));
  const resource = { server: 's', uri: 'note://1', told: 'plexus://s/note://1' };
  const peers = [peerOf(), peerOf()];
  const ends = await Promise.all(peers.map((peer) => watched.add(fleet, resource, peer)));
  expect(server.received('resources/subscribe')).toHaveLength(1);
  await server.say('notifications/resources/updated', { uri: 'note://1' });
  await waitFor(() => expect(told).toEqual(['plexus://s/note://1']));
  ends[0]?.();
  expect(server.received('resources/unsubscribe')).toHaveLength(0);
  ends[1]?.();
  await waitFor(() => expect(server.received('resources/unsubscribe')).toHaveLength(1));
});

verifies(
  'EVT-06',
  'a list that a server says has changed is told at once, and fetched when it is asked for',
  async () => {
    let tools = [{ name: 'one', inputSchema: { type: 'object' } }];
    const server = createRawServer({ tools: { listChanged: true } }, { 'tools/list': () => ({ tools }) });
    const fleet = new GatewayFleet(await start(createFolder(), { servers: { s: server.entry } }));
    const told: string[] = [];
    fleet.onListChanged((kind) => told.push(kind));
    tools = [...tools, { name: 'two', inputSchema: { type: 'object' } }];
    await server.say('notifications/tools/list_changed');
    await waitFor(() => expect(told).toEqual(['tools']));
    await fleet.whenToolsListed();
    expect(fleet.servers.catalog.snapshot().tools.map(({ id }) => id.tool)).toEqual(['one', 'two']);
  },
);

verifies(
  'EXT-32',
  'a local server is one process for each workspace, and with share = "machine" one for all',
  async () => {
    const folder = createFolder();
    for (const name of ['a', 'b']) mkdirSync(join(folder, name));
    const program = fileURLToPath(new URL('../../servers/talking.mjs', import.meta.url));
    const entry = { command: process.execPath, args: [program] };
    const workspaces = await workspacesIn(folder, { own: entry, one: { ...entry, share: 'machine' } });
    const fleets = await Promise.all(['a', 'b'].map((name) => workspaces.fleetOf(join(folder, name))));
    const pids = async (server: string) => {
      const sessions = await Promise.all(fleets.map((fleet) => fleet.session(server)));
      return new Set(sessions.map(({ pid }) => pid)).size;
    };
    expect([await pids('own'), await pids('one')]).toEqual([2, 1]);
    const lines = (server: string) => new Set(fleets.map((fleet) => fleet.lineOf(server))).size;
    expect([lines('own'), lines('one')], 'as many lines of clients as processes').toEqual([2, 1]);
  },
);

/** Writes down the folder that it runs in and what its client can do. */
const tellingServer = (file: string) => `
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const { capabilities = {}, protocolVersion } = params ?? {};
    const result = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'telling', version: '1' } };
    const told = JSON.stringify({ cwd: process.cwd(), hasRoots: capabilities.roots !== undefined });
    if (method === 'initialize') fs.writeFileSync(${JSON.stringify(file)} + process.argv[1], told);
    const answer = method === 'initialize' ? { result } : method === 'tools/list' ? { result: { tools: [] } } : { error: { code: -32601, message: 'no' } };
    console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  });`;

verifies(
  'EXT-32',
  'a server of the whole machine runs in the home folder and hears of no roots; that of a workspace there, with its root',
  async () => {
    const folder = createFolder();
    const [home, cwd] = [join(folder, 'home'), join(folder, 'work')];
    for (const each of [home, cwd]) mkdirSync(each);
    const entry = (name: string) => ({
      command: process.execPath,
      args: ['-e', tellingServer(join(folder, 'told ')), name],
    });
    const servers = { own: entry('own'), one: { ...entry('one'), share: 'machine' as const } };
    const runtime = await start(folder, {
      cwd,
      home,
      servers,
      ...gatewayHandlers({ roots: [{ uri: pathToFileURL(cwd).href }] }),
    });
    const fleet = new GatewayFleet(runtime, cwd);
    await Promise.all(['own', 'one'].map((server) => fleet.session(server)));
    const told = (server: string) => JSON.parse(readFileSync(join(folder, `told ${server}`), 'utf8'));
    expect([told('own'), told('one')]).toEqual([
      { cwd, hasRoots: true },
      { cwd: home, hasRoots: false },
    ]);
  },
);

verifies('EXT-32', 'a server with per_client is refused to a client that nothing tells from others', async () => {
  const server = createRawServer({ tools: {}, prompts: {} }, { 'prompts/list': () => ({ prompts: [{ name: 'p' }] }) });
  const fronted = await front({ s: { ...server.entry, perClient: true } });
  const { message } = await fronted.modern('/mcp', 'tools/call', { name: 's__echo', arguments: {} });
  expect(message['result']).toMatchObject({ isError: true, _meta: { 'plexus/error': { code: 'SERVER_DENIED' } } });
  const prompt = await fronted.modern('/mcp', 'prompts/get', { name: 's__p' });
  expect(prompt.message['error']?.['message']).toContain('per_client');
  const session = await fronted.open('/mcp');
  const called = await session.request('tools/call', { name: 's__echo', arguments: {} });
  expect(called.message['result']).toMatchObject({ content: [{ text: 'done' }] });
  expect(server.received('initialize'), 'a connection of its own beside the shared one').toHaveLength(2);
});

verifies(
  'EXT-32',
  'a subscription at a server with per_client is refused: it would be that of another connection',
  async () => {
    const resource = { uri: 'note://1', name: 'note' };
    const answers = { 'resources/list': () => ({ resources: [resource] }), 'resources/subscribe': () => ({}) };
    const own = createRawServer({ resources: { subscribe: true } }, answers);
    const shared = createRawServer({ resources: { subscribe: true } }, answers);
    const fronted = await front({ own: { ...own.entry, perClient: true }, shared: shared.entry });
    for (const [server, isRefused] of [
      ['own', true],
      ['shared', false],
    ] as const) {
      const session = await fronted.open(`/mcp/s/${server}`);
      const { message } = await session.request('resources/subscribe', { uri: resource.uri });
      expect([server, String(message['error']?.['message']).includes('per_client')]).toEqual([server, isRefused]);
    }
    expect(own.received('resources/subscribe')).toEqual([]);
    expect(shared.received('resources/subscribe')).toHaveLength(1);
  },
);

test('a modern client on a pipe takes its own connections with it; so does a caller whose access is withdrawn', async () => {
  const server = createRawServer({ tools: {} });
  let open = 0;
  const serve = async (channel: Channel) => {
    open++;
    channel.onclose = () => {
      open--;
    };
    await server.entry.serve(channel);
  };
  const named = (client: string): Principal => ({ id: client, details: { client } satisfies Access });
  const fronted = await front({ s: { serve, perClient: true } }, { authenticate: () => named('by http') });
  const calling = { name: 's__echo', arguments: {} };
  await fronted.modern('/mcp', 'tools/call', calling);
  const shared = open - 1;
  const [input, output] = [new PassThrough(), new PassThrough()];
  const request = { url: '/mcp', headers: {} } as IncomingMessage;
  const served = fronted.gateway.link(request, named('by pipe'), { input, output });
  const params = { ...calling, _meta: modernMeta() };
  input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n`);
  await once(output, 'data');
  expect(open).toBe(shared + 2);
  input.end();
  await served;
  await waitFor(() => expect(open).toBe(shared + 1));
  fronted.gateway.endSessions(({ id }) => id === 'by http');
  await waitFor(() => expect(open).toBe(shared));
});
