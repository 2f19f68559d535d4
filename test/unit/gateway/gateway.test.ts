// Owns the proof that the gateway hands on what clients ask for: merged and single routes, both eras on both sides.

import { describe, expect, test } from 'vitest';
import { createRawServer } from '../../e2e/runtimes.ts';
import { verifies } from '../../verifies.ts';
import { echoService, serveHttp } from '../serving/served.ts';
import { front } from './fronted.ts';

/** A legacy server that answers whatever it is called with. */
const legacy = () =>
  createRawServer(
    { tools: {}, resources: {}, prompts: {} },
    {
      'tools/call': (params) => ({
        content: [{ type: 'text', text: JSON.stringify(params['arguments']) }],
        structuredContent: { said: params['arguments'] },
        _meta: { kept: true },
      }),
    },
  );

/** A modern server, over HTTP. */
const modern = async () => ({ url: (await serveHttp({ service: echoService() })).url });

test('a merged list has the tools of all servers, each named with its server, and the status tool', async () => {
  const fronted = await front({ old: legacy().entry, new: await modern() });
  const { message, status } = await fronted.modern('/mcp', 'tools/list');
  expect(status).toBe(200);
  const { tools, _meta: meta } = message['result'] as { tools: { name: string }[]; _meta: object };
  expect(tools.map(({ name }) => name).sort()).toEqual([
    ...['new__ask', 'new__break', 'new__echo', 'new__hang', 'old__echo', 'plexus_status'],
  ]);
  expect(meta).toMatchObject({ 'plexus/servers': { old: { state: 'connected' }, new: { state: 'connected' } } });
});

describe.each(['legacy', 'modern'] as const)('a %s client', (era) => {
  const call = async (fronted: Awaited<ReturnType<typeof front>>, path: string, name: string, args: object) => {
    const params = { name, arguments: args };
    if (era === 'modern') return (await fronted.modern(path, 'tools/call', params)).message['result'];
    return (await (await fronted.open(path)).request('tools/call', params)).message['result'];
  };

  test('calls a legacy server, and gets its result as it is', async () => {
    const fronted = await front({ old: legacy().entry });
    expect(await call(fronted, '/mcp', 'old__echo', { a: 1 })).toMatchObject({
      content: [{ type: 'text', text: '{"a":1}' }],
      structuredContent: { said: { a: 1 } },
      _meta: { kept: true },
    });
  });

  test('calls a modern server', async () => {
    const fronted = await front({ new: await modern() });
    expect(await call(fronted, '/mcp', 'new__echo', { text: 'hi' })).toMatchObject({ content: [{ text: 'hi' }] });
  });

  verifies('EXT-33', 'sees one server as it is on a route of its own', async () => {
    const fronted = await front({ old: legacy().entry, new: await modern() });
    expect(await call(fronted, '/mcp/s/new', 'echo', { text: 'hi' })).toMatchObject({ content: [{ text: 'hi' }] });
    const { message } = await fronted.modern('/mcp/s/old', 'tools/list');
    expect(message['result']).toMatchObject({ tools: [{ name: 'echo' }] });
  });
});

test('a request on which authenticate throws is answered, and disturbs no other', async () => {
  const errors: unknown[] = [];
  const broken = new TypeError('this cookie is no JSON');
  const fronted = await front(
    { s: createRawServer({ tools: {} }).entry },
    {
      onError: (error) => void errors.push(error),
      authenticate(request) {
        if (request.headers.cookie !== undefined) throw broken;
        return { id: 'known' };
      },
    },
  );
  const list = { headers: { cookie: 'broken' } };
  expect(await fronted.modern('/mcp', 'tools/list', {}, list)).toMatchObject({
    ...{ status: 500, message: { error: { code: -32603, message: 'Internal error' } } },
  });
  expect(errors).toEqual([broken]);
  expect((await fronted.modern('/mcp', 'tools/list')).status).toBe(200);
});
