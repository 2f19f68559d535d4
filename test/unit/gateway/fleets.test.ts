// Owns the proof of what the gateway keeps of a fleet: its workspaces, its clients, its watched resources, and its lists.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { GatewayClient } from '../../../src/gateway/client.ts';
import { Clients } from '../../../src/gateway/clients.ts';
import { GatewayFleet } from '../../../src/gateway/gateway-fleet.ts';
import { openProfile } from '../../../src/gateway/profiles.ts';
import { Watched } from '../../../src/gateway/watched-resources.ts';
import { Workspaces } from '../../../src/gateway/workspaces.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { limits } from '../../../src/model/limits.ts';
import type { Peer, ServedSession } from '../../../src/serving/service.ts';
import { createFolder, createRawServer, start } from '../../e2e/runtimes.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { front } from './fronted.ts';

const route = { path: '/mcp', profile: openProfile, server: undefined };

const peerOf = (over: Partial<Peer> = {}): Peer => ({
  ...{ era: 'modern', protocolVersion: '2026-07-28', principal: { id: 'own' } },
  ...{ client: undefined, capabilities: {}, session: undefined, ...over },
});

async function workspacesIn(folder: string, servers = {}) {
  const open = (cwd: string) => start(folder, { cwd, servers });
  const workspaces = new Workspaces(await open(folder), { open, onFleet: () => undefined });
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

test('a workspace without clients gives way to another one, and one with a client never does', async () => {
  const folder = createFolder();
  const names = Array.from({ length: limits.relay.workspaces + 1 }, (_, at) => join(folder, `w${at}`));
  for (const name of names) mkdirSync(name);
  const workspaces = await workspacesIn(folder);
  const fleets = [];
  for (const name of names.slice(0, -1)) fleets.push(await workspaces.fleetOf(name));
  const [first, second, third] = fleets;
  if (first === undefined || second === undefined) throw new TypeError('there are too few');
  const client = new GatewayClient(first, route, peerOf(), false);
  // The second one is used again, so that the third is the one that was used least recently.
  await workspaces.fleetOf(second.workspace);
  const last = await workspaces.fleetOf(names.at(-1));
  expect(workspaces.open().length).toBe(limits.relay.workspaces + 1);
  expect([first, second, last].every((fleet) => workspaces.open().includes(fleet))).toBe(true);
  expect(workspaces.open()).not.toContain(third);
  await client.close();
  await workspaces.fleetOf(third?.workspace);
  expect(workspaces.open(), 'its client has ended').not.toContain(first);
});

test('a modern client on a link is forgotten when the link ends', async () => {
  const workspaces = await workspacesIn(createFolder());
  const clients = new Clients({ route, workspaces, clock: systemClock, trustsRoots: false, onError: () => undefined });
  onTestFinished(() => clients.close());
  const peer = peerOf({ principal: { id: 'linked' } });
  await clients.of(peer);
  expect(workspaces.own.clients).toBe(1);
  clients.unlinked(peer.principal);
  await waitFor(() => expect(workspaces.own.clients).toBe(0));
  expect(clients.isOf(peer, workspaces.own)).toBe(false);
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
  const watched = new Watched((_, uri) => told.push(uri));
  const resource = { server: 's', uri: 'note://1', told: 'plexus://s/note://1' };
  await Promise.all([watched.add(fleet, resource), watched.add(fleet, resource)]);
  expect(server.received('resources/subscribe')).toHaveLength(1);
  await server.say('notifications/resources/updated', { uri: 'note://1' });
  await waitFor(() => expect(told).toEqual(['plexus://s/note://1']));
  watched.remove(fleet, resource.told);
  expect(server.received('resources/unsubscribe')).toHaveLength(0);
  watched.remove(fleet, resource.told);
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
