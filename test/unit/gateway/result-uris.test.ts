// Owns the proof that whatever resource a server names in a result can be read by the client that got it, on a route of many servers too;
// and that its uri stays as it is where it leads to that server alone.

import { expect, test } from 'vitest';
import type { GatewayClient } from '../../../src/gateway/client.ts';
import { withUrisOf } from '../../../src/gateway/result-uris.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { createRawServer } from '../../e2e/runtimes.ts';
import { waitFor } from '../../wait-for.ts';
import { type Fronted, front } from './fronted.ts';

const link = (uri: string) => ({ type: 'resource_link', uri, name: uri });
const embedded = (uri: string) => ({ type: 'resource', resource: { uri, text: 'inside' } });
const named = (own: string) => [link('note://1'), link(own), link('made://up'), embedded('note://1')];

/** Two servers of this kind have `note://1` both, and each has one of its own; neither lists `made://up`. */
const noteServer = (own: string) =>
  createRawServer(
    { tools: {}, resources: { subscribe: true }, prompts: {} },
    {
      'resources/list': () => ({ resources: ['note://1', own].map((uri) => ({ uri, name: uri })) }),
      'resources/templates/list': () => ({ resourceTemplates: [] }),
      'resources/read': ({ uri }) => ({
        contents: [...new Set([uri, 'note://1', own])].map((each) => ({ uri: each })),
      }),
      'tools/call': () => ({ content: [{ type: 'text', text: 'see' }, ...named(own)] }),
      'prompts/list': () => ({ prompts: [{ name: 'p' }] }),
      'prompts/get': () => ({
        messages: [
          { role: 'user', content: link('note://1') },
          { role: 'user', content: named(own) },
        ],
      }),
    },
  );

const urisIn = (value: unknown) => [...JSON.stringify(value).matchAll(/"uri":"([^"]+)"/g)].map(([, uri]) => uri);

const asking = {
  modern: async (fronted: Fronted, path: string) => (method: string, params: JsonObject) =>
    fronted.modern(path, method, params),
  legacy: async (fronted: Fronted, path: string) => (await fronted.open(path)).request,
};

test.each(['legacy', 'modern'] as const)('a %s client reads what a call, a prompt and a resource name', async (era) => {
  const [a, b] = [noteServer('only://a'), noteServer('only://b')];
  const fronted = await front({ a: a.entry, b: b.entry });
  const ask = await asking[era](fronted, '/mcp');
  const get = async (method: string, params: JsonObject) => (await ask(method, params)).message['result'];
  await get('resources/list', {});
  const called = urisIn(await get('tools/call', { name: 'b__echo', arguments: {} }));
  expect(called).toEqual(['plexus://b/note://1', 'only://b', 'plexus://b/made://up', 'plexus://b/note://1']);
  expect(urisIn(await get('prompts/get', { name: 'b__p' }))).toEqual(['plexus://b/note://1', ...called]);
  expect(urisIn(await get('resources/read', { uri: 'only://b' }))).toEqual(['only://b', 'plexus://b/note://1']);
  for (const uri of called) expect(urisIn(await get('resources/read', { uri: String(uri) }))[0]).toBe(uri);
  const read = b.received('resources/read').map(({ params }) => (params as JsonObject)['uri']);
  expect(read).toEqual(['only://b', 'note://1', 'only://b', 'made://up', 'note://1']);
  expect(a.received('resources/read')).toEqual([]);
});

test('on a route of one server, and where there is no other with resources, nothing is renamed', async () => {
  const own = ['note://1', 'only://a', 'made://up', 'note://1'];
  const call = async (fronted: Fronted, path: string, name: string) =>
    urisIn((await fronted.modern(path, 'tools/call', { name, arguments: {} })).message['result']);
  const two = await front({ a: noteServer('only://a').entry, b: noteServer('only://b').entry });
  expect(await call(two, '/mcp/s/a', 'echo')).toEqual(own);
  const one = await front({ a: noteServer('only://a').entry, b: createRawServer({ tools: {} }).entry });
  await one.modern('/mcp', 'resources/list');
  expect(await call(one, '/mcp', 'a__echo')).toEqual(own);
});

test('a result that names nothing is not copied', () => {
  const client = { route: { server: undefined } } as unknown as GatewayClient;
  for (const result of [
    { content: [{ type: 'text', text: 'a' }] },
    { contents: [7] },
    { messages: [{}] },
    { other: 1 },
  ])
    expect(withUrisOf(client, 's', result)).toBe(result);
});

test('a template is completed by its server, also before anybody has asked for the list', async () => {
  const server = (uriTemplate: string) =>
    createRawServer(
      { resources: {}, completions: {} },
      {
        'resources/list': () => ({ resources: [] }),
        'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate, name: 'it' }] }),
        'completion/complete': ({ ref }) => ({ completion: { values: [JSON.stringify(ref)] } }),
      },
    );
  const fronted = await front({ a: server('note://{id}').entry, b: server('page://{id}').entry });
  const complete = async (uri: string) => {
    const ref = { type: 'ref/resource', uri };
    const argument = { name: 'id', value: '' };
    return (await fronted.modern('/mcp', 'completion/complete', { ref, argument })).message;
  };
  const values = [JSON.stringify({ type: 'ref/resource', uri: 'page://{id}' })];
  expect(await complete('page://{id}')).toMatchObject({ result: { completion: { values } } });
  expect(await complete('plexus://b/page://{id}')).toMatchObject({ result: { completion: { values } } });
});

test('a subscription to a uri that two servers have tells by the uri of the client', async () => {
  const server = () =>
    createRawServer(
      { resources: { subscribe: true } },
      {
        'resources/list': () => ({ resources: [{ uri: 'ui://view', name: 'view' }] }),
        'resources/subscribe': () => ({}),
      },
    );
  const [a, b] = [server(), server()];
  const fronted = await front({ a: a.entry, b: b.entry });
  const session = await fronted.open('/mcp');
  const uri = 'ui://plexus/b/view';
  expect((await session.request('resources/subscribe', { uri })).message['result']).toEqual({});
  expect([a, b].map((each) => each.received('resources/subscribe').map(({ params }) => params))).toMatchObject([
    [],
    [{ uri: 'ui://view' }],
  ]);
  await b.say('notifications/resources/updated', { uri: 'ui://view' });
  await waitFor(() =>
    expect(session.heard).toMatchObject([{ method: 'notifications/resources/updated', params: { uri } }]),
  );
});
