// Owns the proof that a client is told of every changed list that it sees, and of no other: whatever it has asked for before, on whichever
// route it is, in whichever folder.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Access, WORKSPACE_HEADER } from '../../../src/gateway/access.ts';
import { openProfile } from '../../../src/gateway/profiles.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { createFolder, createRawServer, start } from '../../e2e/runtimes.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { type Fronted, type FrontOptions, front } from './fronted.ts';

const kinds = ['tools', 'prompts', 'resources'] as const;
const all = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

/** A server whose lists grow. */
function growingServer() {
  let size = 1;
  const items = () => Array.from({ length: size }, (_, at) => ({ name: `it${at}`, uri: `it://${at}` }));
  const declared = { listChanged: true };
  const server = createRawServer(
    { tools: declared, prompts: declared, resources: declared },
    {
      'tools/list': () => ({ tools: items().map(({ name }) => ({ name, inputSchema: { type: 'object' } })) }),
      'prompts/list': () => ({ prompts: items() }),
      'resources/list': () => ({ resources: items() }),
      'resources/templates/list': () => ({ resourceTemplates: [] }),
    },
  );
  const grow = async () => {
    size++;
    for (const kind of kinds) await server.say(`notifications/${kind}/list_changed`);
  };
  return { ...server, grow };
}

const changesIn = (heard: readonly JsonObject[]) =>
  new Set(heard.flatMap(({ method }) => (String(method).endsWith('/list_changed') ? [String(method)] : [])));
const onePrompt = 'notifications/prompts/list_changed';
const everyChange = new Set(kinds.map((kind) => `notifications/${kind}/list_changed`));

const listAll = async (fronted: Fronted, path: string) => {
  for (const kind of kinds) await fronted.modern(path, `${kind}/list`);
};

verifies(['EVT-06', 'EXT-33'], 'a change is told on the routes that show its server, and on no other', async () => {
  const [a, b] = [growingServer(), growingServer()];
  const only = (server: string) => ({ ...openProfile, servers: [server] });
  const fronted = await front({ a: a.entry, b: b.entry }, { profiles: { a: only('a'), b: only('b') } });
  const heard: Record<string, (readonly JsonObject[])[]> = {};
  for (const path of ['/mcp', '/mcp/s/a', '/mcp/s/b', '/mcp/p/a', '/mcp/p/b']) {
    await listAll(fronted, path);
    const session = await fronted.open(path);
    for (const kind of kinds) await session.request(`${kind}/list`);
    heard[path] = [session.heard, await fronted.listen(path, all)];
  }
  await a.grow();
  for (const path of ['/mcp', '/mcp/s/a', '/mcp/p/a']) {
    for (const each of heard[path] ?? []) await waitFor(() => expect(changesIn(each), path).toEqual(everyChange));
    await listAll(fronted, path);
  }
  // Whatever was told before comes before this on the same stream.
  await b.say(onePrompt);
  for (const path of ['/mcp/s/b', '/mcp/p/b'])
    for (const each of heard[path] ?? []) {
      await waitFor(() => expect(changesIn(each).size).toBeGreaterThan(0));
      expect([...changesIn(each)], path).toEqual([onePrompt]);
    }
});

const mayNameFolder: FrontOptions['authenticate'] = () => ({
  id: 'connect',
  details: { mayNameWorkspace: true } satisfies Access,
});

verifies('EVT-06', 'a client that only listens is told, in its folder and in no other', async () => {
  const folder = createFolder();
  const [one, other] = ['one', 'other'].map((name) => {
    const path = join(folder, name);
    mkdirSync(path);
    return { path, server: growingServer() };
  });
  if (one === undefined || other === undefined) return;
  const serverIn = (cwd: string) => (cwd === one.path ? one : other).server;
  const fronted = await front(
    {},
    { authenticate: mayNameFolder, openWorkspace: (cwd) => start(cwd, { servers: { s: serverIn(cwd).entry } }) },
  );
  const headersOf = ({ path }: typeof one) => ({ [WORKSPACE_HEADER]: encodeURIComponent(path) });
  // Another client of each folder opens its fleet.
  for (const each of [one, other])
    for (const kind of kinds) await fronted.modern('/mcp', `${kind}/list`, {}, { headers: headersOf(each) });
  const sessions = await Promise.all([one, other].map((each) => fronted.open('/mcp', { headers: headersOf(each) })));
  await waitFor(() => expect(fronted.gateway.measures().sessions).toBe(2));
  await one.server.grow();
  await waitFor(() => expect(changesIn(sessions[0]?.heard ?? [])).toEqual(everyChange));
  await other.server.say(onePrompt);
  await waitFor(() => expect([...changesIn(sessions[1]?.heard ?? [])]).toEqual([onePrompt]));
});

test('a modern client that has sent nothing but its wish to listen is told', async () => {
  const server = growingServer();
  const fronted = await front({ s: server.entry });
  const session = await fronted.open('/mcp/s/s');
  await session.request('tools/list');
  const heard = await fronted.listen('/mcp', all);
  expect(heard).toMatchObject([{ method: 'notifications/subscriptions/acknowledged' }]);
  await server.grow();
  await waitFor(() => expect(changesIn(heard)).toEqual(everyChange));
});
