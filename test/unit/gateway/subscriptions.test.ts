// Owns the proof that a subscription belongs to one client, one route and one server, and leaves nothing behind, whenever its client
// goes.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { type Access, WORKSPACE_HEADER } from '../../../src/gateway/access.ts';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { createFolder, createRawServer, start } from '../../e2e/runtimes.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { connectPipes, initialize, type ServedPipes } from '../serving/served.ts';
import { front } from './fronted.ts';

const uri = 'note://1';

/** `list` is called before the server lists its resources. */
const noteServer = (list: () => Promise<void> | void = () => undefined) =>
  createRawServer(
    { resources: { subscribe: true } },
    {
      'resources/list': async () => {
        await list();
        return { resources: [{ uri, name: 'note' }] };
      },
      'resources/templates/list': () => ({ resourceTemplates: [] }),
      'resources/subscribe': () => ({}),
      'resources/unsubscribe': () => ({}),
    },
  );

/** A client that has asked for a subscription, before its server is known to have the resource. */
async function subscribing() {
  const listed = createDeferred<void>();
  const server = noteServer(() => listed.promise);
  const fronted = await front({ s: server.entry });
  const session = await fronted.open('/mcp');
  const answered = session.request('resources/subscribe', { uri });
  await waitFor(() => expect(server.received('resources/list')).not.toEqual([]));
  const counts = () => ['resources/subscribe', 'resources/unsubscribe'].map((method) => server.received(method).length);
  return { session, answered, counts, goOn: () => listed.resolve() };
}

const updates = (heard: readonly JsonObject[]) =>
  heard.filter(({ method }) => method === 'notifications/resources/updated');

verifies('EXT-33', 'a client hears of its own server, not of another one that has the same uri', async () => {
  const [a, b] = [noteServer(), noteServer()];
  const fronted = await front({ a: a.entry, b: b.entry });
  const [ofA, ofB] = await Promise.all([fronted.open('/mcp/s/a'), fronted.open('/mcp/s/b')]);
  await ofA.request('resources/subscribe', { uri });
  await ofB.request('resources/subscribe', { uri });
  expect([a, b].map((server) => server.received('resources/subscribe').length)).toEqual([1, 1]);
  await b.say('notifications/resources/updated', { uri });
  await waitFor(() => expect(updates(ofB.heard)).toHaveLength(1));
  expect(updates(ofA.heard)).toEqual([]);
});

test('a client that leaves before it is subscribed leaves no subscription behind', async () => {
  const { session, answered, counts, goOn } = await subscribing();
  await session.end();
  goOn();
  await answered;
  await waitFor(() => expect(counts()).toEqual([1, 1]));
});

test('a subscription that is ended before it has begun ends at the server', async () => {
  const { session, answered, counts, goOn } = await subscribing();
  const ended = session.request('resources/unsubscribe', { uri });
  goOn();
  expect((await answered).message['result']).toEqual({});
  expect((await ended).message['result']).toEqual({});
  await waitFor(() => expect(counts()).toEqual([1, 1]));
});

test('a client whose folder is gone may still end its subscription', async () => {
  const server = noteServer();
  const servers = { s: server.entry };
  const folder = createFolder();
  const fronted = await front(servers, {
    trustsRoots: true,
    openWorkspace: async (cwd) => start(cwd, { servers }),
  });
  let root = folder;
  const session = await fronted.open('/mcp', {
    capabilities: { roots: { listChanged: true } },
    answer: () => ({ result: { roots: [{ uri: `file://${root}` }] } }),
  });
  await session.request('resources/subscribe', { uri });
  root = join(folder, 'gone');
  await session.notify('notifications/roots/list_changed');
  expect((await session.request('resources/unsubscribe', { uri })).message['result']).toEqual({});
  await waitFor(() => expect(server.received('resources/unsubscribe')).toHaveLength(1));
});

test.each([
  [['subscribe', 'unsubscribe', 'subscribe'], 1],
  [['subscribe', 'unsubscribe', 'subscribe', 'unsubscribe'], 0],
])('of %j in one go, the last counts', async (words, left) => {
  const { server, client } = await piped();
  await pipelined(client, words);
  await waitFor(() => expect(server.received('resources/subscribe')).not.toEqual([]));
  await waitFor(() => expect(balance(server)).toBe(left));
});

test('a client that unsubscribes and subscribes in one go stays subscribed', async () => {
  const { server, client } = await piped();
  await pipelined(client, ['subscribe']);
  await pipelined(client, ['unsubscribe', 'subscribe']);
  expect(balance(server)).toBe(1);
  await server.say('notifications/resources/updated', { uri });
  await waitFor(() => expect(updates(client.said)).toHaveLength(1));
  await pipelined(client, ['unsubscribe']);
  await waitFor(() => expect(balance(server)).toBe(0));
});

/** A client on a pipe, so that its messages arrive in their order. */
async function piped() {
  const server = noteServer();
  const fronted = await front({ s: server.entry });
  await fronted.modern('/mcp', 'resources/list');
  const client = connectPipes({ stdio: (pipes) => fronted.gateway.stdio(pipes && { pipes }) });
  onTestFinished(() => void client.input.end());
  client.write(initialize());
  await client.answer('init');
  return { server, fronted, client };
}

let last = 0;

/** Resolves when all requests are answered. */
async function pipelined({ write, answer }: ServedPipes, words: readonly string[]): Promise<void> {
  const requests = words.map((word) => ({ id: ++last, method: `resources/${word}` }));
  write(requests.map((request) => JSON.stringify({ jsonrpc: '2.0', ...request, params: { uri } })).join('\n'));
  for (const { id } of requests) expect(await answer(id)).toMatchObject({ result: {} });
}

/** How many subscriptions the server has. */
const balance = ({ received }: ReturnType<typeof noteServer>) =>
  received('resources/subscribe').length - received('resources/unsubscribe').length;

test('a client that listens hears what it can, and reads in the answer what it cannot', async () => {
  const refusing = createRawServer(
    { resources: { subscribe: true } },
    { 'resources/list': () => ({ resources: [{ uri: 'bad://1', name: 'bad' }] }) },
  );
  const server = noteServer();
  const fronted = await front({ s: server.entry, refusing: refusing.entry });
  await fronted.modern('/mcp', 'resources/list');
  const heard = await fronted.listen('/mcp', {
    ...{ toolsListChanged: true, resourceSubscriptions: ['bad://1', uri, 'plexus://gone/x://1'] },
  });
  expect(heard).toMatchObject([
    {
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { toolsListChanged: true, resourceSubscriptions: [uri] } },
    },
  ]);
  await server.say('notifications/resources/updated', { uri });
  await waitFor(() => expect(updates(heard)).toHaveLength(1));
  const alone = { notifications: { resourceSubscriptions: ['bad://1'] } };
  expect((await fronted.modern('/mcp', 'subscriptions/listen', alone)).message).toMatchObject({ error: {} });
});

verifies(
  'EXT-32',
  'of two workspaces that share a process, one that unsubscribes takes nothing from the other',
  async () => {
    const home = createFolder();
    const program = fileURLToPath(new URL('../../servers/offering.mjs', import.meta.url));
    const shared = {
      command: process.execPath,
      args: [program, '--era', 'legacy', '--subscribed'],
      share: 'machine' as const,
    };
    const fronted = await front(
      {},
      {
        authenticate: () => ({ id: 'connect', details: { mayNameWorkspace: true } satisfies Access }),
        openWorkspace: (cwd) => start(cwd, { home, servers: { s: shared } }),
      },
    );
    const sessions = await Promise.all(
      ['a', 'b'].map(async (name) => {
        mkdirSync(join(home, name));
        const session = await fronted.open('/mcp', {
          headers: { [WORKSPACE_HEADER]: encodeURIComponent(join(home, name)) },
        });
        expect((await session.request('resources/subscribe', { uri })).message['result']).toEqual({});
        return session;
      }),
    );
    const pids = (await fronted.gateway.status()).flatMap(({ servers }) => servers.map(({ pid }) => pid));
    expect([pids.length, new Set(pids).size]).toEqual([2, 1]);
    const [one, other] = sessions;
    const touch = async () => {
      await one?.request('tools/call', { name: 's__touch', arguments: { uri } });
    };
    await touch();
    for (const each of sessions) await waitFor(() => expect(updates(each.heard)).toHaveLength(1));
    expect((await one?.request('resources/unsubscribe', { uri }))?.message['result']).toEqual({});
    await touch();
    await waitFor(() => expect(updates(other?.heard ?? [])).toHaveLength(2));
    expect(updates(one?.heard ?? [])).toHaveLength(1);
  },
);
