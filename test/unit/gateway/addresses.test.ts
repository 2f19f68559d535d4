// Owns the proof of what an address of the gateway covers: a profile its search, completion and subscriptions too, as far as it allows; and a
// single server all lists with their true status, except for calls.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openProfile } from '../../../src/gateway/profiles.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { createRawServer } from '../../e2e/runtimes.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { initialize } from '../serving/served.ts';
import { front } from './fronted.ts';
import { createManualServer } from './manual-server.ts';

const offering = () =>
  createRawServer(
    { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} },
    {
      'tools/list': () => ({
        tools: [{ name: 'weigh', description: 'Weighs a letter.', inputSchema: { type: 'object' } }],
      }),
      'resources/list': () => ({ resources: [] }),
      'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'note://{id}', name: 'note' }] }),
      'prompts/list': () => ({ prompts: [{ name: 'hello' }] }),
      'completion/complete': () => ({ completion: { values: ['one'] } }),
      'resources/subscribe': () => ({}),
    },
  );

verifies(
  'EXT-33',
  'a profile is all that its search finds, and all that can be completed or watched at its address',
  async () => {
    const [a, b] = [offering(), offering()];
    const profiles = { few: { ...openProfile, servers: ['a'], expose: 'search' as const } };
    const fronted = await front({ a: a.entry, b: b.entry }, { profiles });
    const ask = async (path: string, method: string, params: JsonObject) =>
      (await fronted.modern(path, method, params)).message;
    const called = async (name: string, args: JsonObject) =>
      JSON.stringify(await ask('/mcp/p/few', 'tools/call', { name, arguments: args }));
    await fronted.modern('/mcp/p/few', 'prompts/list');
    const found = await called('mcp_search', { query: 'weigh a letter' });
    expect([found.includes('mcp__a__weigh'), found.includes('mcp__b__weigh')]).toEqual([true, false]);
    expect(await called('mcp_call', { name: 'mcp__a__weigh', arguments: {} })).toContain('done');
    expect(await called('mcp_call', { name: 'mcp__b__weigh', arguments: {} })).not.toContain('done');
    const typed = { name: 'id', value: 'o' };
    const complete = (name: string) =>
      ask('/mcp/p/few', 'completion/complete', { ref: { type: 'ref/prompt', name }, argument: typed });
    expect(await complete('a__hello')).toMatchObject({ result: { completion: { values: ['one'] } } });
    expect(await complete('b__hello')).toMatchObject({ error: { code: -32602 } });
    const session = await fronted.open('/mcp/p/few');
    const watch = async (uri: string) => (await session.request('resources/subscribe', { uri })).message;
    expect(await watch('plexus://a/note://1')).toMatchObject({ result: {} });
    expect(await watch('plexus://b/note://1')).toMatchObject({ error: { code: -32002 } });
    const reached = [a, b].map((each) =>
      ['tools/call', 'completion/complete', 'resources/subscribe'].map((method) => each.received(method).length),
    );
    expect(reached).toEqual([
      [1, 1, 1],
      [0, 0, 0],
    ]);
  },
);

verifies(
  'EXT-33',
  'a single server that cannot be used answers every list with its status, and a call with 200',
  async () => {
    const guard = createServer((_, response) => void response.writeHead(401).end()).listen(0, '127.0.0.1');
    onTestFinished(() => void guard.close());
    await waitFor(() => expect(guard.listening).toBe(true));
    const fronted = await front({
      broken: { command: '/no/such/program' },
      silent: {
        command: process.execPath,
        args: ['-e', 'process.stdin.resume()'],
        startupTimeoutMs: 300,
        reconnect: 'none',
      },
      guarded: { url: `http://127.0.0.1:${(guard.address() as AddressInfo).port}/mcp` },
    });
    const lists = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'server/discover'];
    const expected = {
      broken: [502, '/no/such/program'],
      silent: [504, ''],
      guarded: [503, 'plexus login guarded'],
    } as const;
    for (const [server, [status, words]] of Object.entries(expected)) {
      const path = `/mcp/s/${server}`;
      const answers = await Promise.all([
        ...lists.map((method) => fronted.modern(path, method)),
        fronted.send(path, { body: initialize() }),
      ]);
      expect(answers.map((each) => each.status)).toEqual(answers.map(() => status));
      for (const { message } of answers) expect(message['error']?.['message']).toContain(words);
      const call = await fronted.modern(path, 'tools/call', { name: 'x', arguments: {} });
      expect([call.status, call.message['result']?.['isError']]).toEqual([200, true]);
    }
  },
);

test('a gateway that stops refuses requests at every address, also where it had none before, and its calls end', async () => {
  const a = createManualServer();
  const fronted = await front({ a: a.entry }, { profiles: { few: openProfile } });
  const running = fronted.modern('/mcp', 'tools/call', { name: 'a__wait', arguments: {} });
  await waitFor(() => expect(a.calls).toHaveLength(1));
  const closing = fronted.gateway.close();
  for (const path of ['/mcp', '/mcp/p/few', '/mcp/s/a'])
    expect(await fronted.send(path, { body: initialize() }), path).toMatchObject({
      ...{ status: 503, headers: { 'retry-after': '5' }, message: { error: { message: 'The server stops' } } },
    });
  a.answer(a.calls[0], 'done');
  await closing;
  expect((await running).message['result']).toMatchObject({ content: [{ text: 'done' }] });
});
