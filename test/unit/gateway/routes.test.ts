// Owns the proof of the parts of a route by themselves: whose a name is, what is listed, which tool is called, what is handed on.

import { expect, onTestFinished, test } from 'vitest';
import { CallRelays } from '../../../src/gateway/call-relay.ts';
import { GatewayClient } from '../../../src/gateway/client.ts';
import type { Clients } from '../../../src/gateway/clients.ts';
import { GatewayFleet } from '../../../src/gateway/gateway-fleet.ts';
import { Measures } from '../../../src/gateway/measures.ts';
import { openProfile } from '../../../src/gateway/profiles.ts';
import { RouteCalls } from '../../../src/gateway/route-calls.ts';
import { RouteCatalog } from '../../../src/gateway/route-catalog.ts';
import { RouteLists } from '../../../src/gateway/route-lists.ts';
import { RouteRequests } from '../../../src/gateway/route-requests.ts';
import { RoundSeal } from '../../../src/gateway/state-of-round.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { Peer, ServedCall } from '../../../src/serving/service.ts';
import { createFolder, createRawServer, start } from '../../e2e/runtimes.ts';

const peer: Peer = {
  ...{ era: 'modern', protocolVersion: '2026-07-28', principal: { id: 'own' } },
  ...{ client: undefined, capabilities: {}, session: undefined },
};

const noteServer = () =>
  createRawServer(
    { tools: {}, resources: {}, prompts: {}, completions: {} },
    {
      'resources/list': () => ({ resources: [{ uri: 'note://1', name: 'note' }] }),
      'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'note://{id}', name: 'notes' }] }),
      'resources/read': ({ uri }) => ({ contents: [{ uri, text: 'noted' }] }),
      'prompts/list': () => ({ prompts: [{ name: 'hello' }] }),
      'prompts/get': () => ({ messages: [] }),
      'completion/complete': ({ ref }) => ({ completion: { values: [JSON.stringify(ref)] } }),
    },
  );

/** A client of `/mcp` in front of two equal servers, or of one of them alone. */
async function clientOf(server?: 'a' | 'b') {
  const [a, b] = [noteServer(), noteServer()];
  const fleet = new GatewayFleet(await start(createFolder(), { servers: { a: a.entry, b: b.entry } }));
  const route = { path: '/mcp', profile: openProfile, server };
  const client = new GatewayClient(fleet, route, peer, false);
  onTestFinished(() => client.close());
  await Promise.all([fleet.whenListed('resources'), fleet.whenListed('prompts'), fleet.whenToolsListed()]);
  const catalog = new RouteCatalog(route);
  const seal = new RoundSeal({ clock: systemClock });
  const calls = new CallRelays({ seal, measures: new Measures(), clock: systemClock, queuedCalls: 1 });
  const clients = { of: () => client } as unknown as Clients;
  return { a, b, client, catalog, lists: new RouteLists(catalog), ...{ calls, seal, clients, clock: systemClock } };
}

const served = (method: string, params: JsonObject): ServedCall =>
  ({
    ...{ id: 1, method, params, meta: {}, peer, signal: new AbortController().signal },
    ...{ onCancel: () => undefined, progress: () => undefined, log: () => undefined, notify: () => undefined },
  }) as unknown as ServedCall;

test('a name leads to its server; one that two servers have needs the server in it', async () => {
  const { catalog, client } = await clientOf();
  await expect(catalog.ownerOf(client, 'note://1')).rejects.toMatchObject({ code: 'RESOURCE_AMBIGUOUS' });
  expect(await catalog.ownerOf(client, 'plexus://b/note://1')).toEqual({ server: 'b', uri: 'note://1' });
  expect(catalog.templateOwner(client, 'note://{id}')).toBeUndefined();
  expect(await catalog.promptOf(client, 'b__hello')).toMatchObject({ server: 'b', name: 'hello' });
  await expect(catalog.promptOf(client, 'hello')).rejects.toMatchObject({ code: 'PROMPT_UNKNOWN' });
  const alone = await clientOf('b');
  expect(await alone.catalog.ownerOf(alone.client, 'note://1')).toEqual({ server: 'b', uri: 'note://1' });
  expect(await alone.catalog.promptOf(alone.client, 'hello')).toEqual({ server: 'b', name: 'hello' });
});

test('a list of all servers has the names of servers in it, that of one server has not', async () => {
  const names = async ({ lists, client }: Awaited<ReturnType<typeof clientOf>>) => {
    const [tools, resources, templates, prompts] = (await Promise.all([
      lists.tools(client, peer),
      lists.resources(client),
      lists.templates(client),
      lists.prompts(client),
    ])) as Record<string, JsonObject[]>[];
    return [
      ...(tools?.['tools'] ?? []).map(({ name }) => name),
      ...(resources?.['resources'] ?? []).map(({ uri }) => uri),
      ...(templates?.['resourceTemplates'] ?? []).map(({ uriTemplate }) => uriTemplate),
      ...(prompts?.['prompts'] ?? []).map(({ name }) => name),
    ];
  };
  expect(await names(await clientOf())).toEqual([
    ...['a__echo', 'b__echo', 'plexus_status', 'plexus://a/note://1', 'plexus://b/note://1'],
    ...['plexus://a/note://{id}', 'plexus://b/note://{id}', 'a__hello', 'b__hello'],
  ]);
  expect(await names(await clientOf('a'))).toEqual(['echo', 'note://1', 'note://{id}', 'hello']);
});

test('a call goes to the tool that its name means on the route, and no other is called', async () => {
  const { a, b, ...deps } = await clientOf();
  const calls = new RouteCalls(deps);
  const call = (name: unknown) => calls.call(served('tools/call', { name, arguments: {} }));
  expect(await call('b__echo')).toMatchObject({ content: [{ text: 'done' }] });
  expect(await call('plexus_status')).toMatchObject({ structuredContent: { servers: { a: { state: 'connected' } } } });
  await expect(call('echo')).rejects.toMatchObject({ code: -32602, message: 'Unknown tool: echo' });
  expect(() => call(7)).toThrow('name must be a string');
  expect([a, b].map((each) => each.received('tools/call').length)).toEqual([0, 1]);
});

test('a request is handed on in the words of its server, and its answer comes back in those of the route', async () => {
  const { a, b, client, ...deps } = await clientOf();
  const requests = new RouteRequests(deps);
  const read = await requests.read(client, served('resources/read', { uri: 'plexus://b/note://1' }));
  expect(read).toMatchObject({ contents: [{ uri: 'plexus://b/note://1', text: 'noted' }] });
  await requests.getPrompt(client, served('prompts/get', { name: 'b__hello', arguments: { to: 'Ada' } }));
  const ref = { type: 'ref/resource', uri: 'plexus://b/note://{id}' };
  const completed = await requests.complete(client, served('completion/complete', { ref, argument: {} }));
  expect(completed).toMatchObject({ completion: { values: ['{"type":"ref/resource","uri":"note://{id}"}'] } });
  expect(b.received('resources/read')).toMatchObject([{ params: { uri: 'note://1' } }]);
  expect(b.received('prompts/get')).toMatchObject([{ params: { name: 'hello', arguments: { to: 'Ada' } } }]);
  expect(a.received('resources/read')).toEqual([]);
  await expect(requests.complete(client, served('completion/complete', { ref: {} }))).rejects.toThrow('ref must name');
});
