// Owns the tests of the agent as others see it over MCP: its two tools, its conversations as resources, and on whose terms they run.

import { mkdirSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ChatModel, createAgent } from '../../../src/agent/agent.ts';
import { samplingModel } from '../../../src/agent/models/client-model.ts';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { byToken } from '../../../src/serving/door.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { createFolder, start } from '../../e2e/runtimes.ts';
import type { ModelRequest } from '../../servers/models/script.ts';
import { sentResults } from '../../servers/models/sent.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { modernMeta, sendTo } from '../serving/served.ts';
import { answerQuestion, connectServed, openServed } from './served-scene.ts';

const echo = (text = 'hi') => ({ calls: [{ name: 'mcp__s__echo', arguments: { text } }] });
/** No rule decides about any tool. */
const asking = { permissions: [] };
const yes = { action: 'accept', content: { decision: 'once' } };

verifies(['SRV-06', 'SRV-09'], 'the agent offers two tools, and says what it can do', async () => {
  const { client } = await openServed([], { serve: { name: 'cocode' } });
  const { result } = await client.answer('init');
  expect((result as JsonObject)['capabilities']).toEqual({
    logging: {},
    tools: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    prompts: { listChanged: true },
    completions: {},
    experimental: { 'codex/sandbox-state': {} },
  });
  const { tools } = (await client.request('tools/list')) as { tools: JsonObject[] };
  expect(tools).toMatchObject([
    {
      name: 'cocode',
      inputSchema: { required: ['prompt'], additionalProperties: false },
      outputSchema: { type: 'object', required: ['session_id', 'response'] },
      annotations: { readOnlyHint: false, destructiveHint: true },
    },
    {
      name: 'cocode-reply',
      inputSchema: { required: ['session_id', 'message'] },
      outputSchema: { type: 'object', required: ['response'] },
      annotations: { readOnlyHint: false },
    },
  ]);
  const [begin] = tools as { inputSchema: { properties: JsonObject } }[];
  expect(Object.keys(begin?.inputSchema.properties ?? {})).toEqual(['prompt', 'permissions', 'sandbox', 'max_steps']);
});

verifies(['SRV-02', 'SRV-03'], 'a prompt begins a conversation, and a reply goes on with it', async () => {
  const { client, requests } = await openServed([echo(), { text: 'one' }, { text: 'two' }]);
  const begun = await client.call('plexus', { prompt: 'begin' });
  const { session_id: id } = begun.structuredContent;
  expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(begun).toEqual({
    content: [
      { type: 'text', text: 'one' },
      { type: 'text', text: `session_id: ${id}` },
    ],
    structuredContent: { session_id: id, response: 'one' },
  });
  expect(await client.call('plexus-reply', { session_id: id, message: 'go on' })).toEqual({
    content: [{ type: 'text', text: 'two' }],
    structuredContent: { response: 'two' },
  });
  expect(requests[2]?.body['messages']).toMatchObject([
    { role: 'system' },
    { role: 'user', content: 'begin' },
    { role: 'assistant' },
    { role: 'tool' },
    { role: 'assistant', content: 'one' },
    { role: 'user', content: 'go on' },
  ]);
});

verifies('SRV-03', 'an unknown conversation is an error of the tool that says so', async () => {
  const { client } = await openServed([]);
  for (const id of ['0'.repeat(32), '../../etc/passwd', ''])
    expect(await client.call('plexus-reply', { session_id: id, message: 'hello' })).toEqual({
      isError: true,
      content: [{ type: 'text', text: `There is no conversation "${id}". Start a new conversation.` }],
    });
});

verifies('SRV-03', 'replies in one conversation wait for each other, and other conversations do not', async () => {
  const gate = createDeferred<void>();
  const held = () => gate.promise.then(() => ({ text: 'second' }));
  const { client, requests } = await openServed([
    ...[{ text: 'first' }, held, { text: 'elsewhere' }, { text: 'third' }],
  ]);
  const { session_id } = (await client.call('plexus', { prompt: 'begin' })).structuredContent;
  const second = client.call('plexus-reply', { session_id, message: 'two' });
  await waitFor(() => expect(requests).toHaveLength(2));
  const third = client.call('plexus-reply', { session_id, message: 'three' });
  expect((await client.call('plexus', { prompt: 'another' })).structuredContent.response).toBe('elsewhere');
  gate.resolve();
  expect((await second).structuredContent.response).toBe('second');
  expect((await third).structuredContent.response).toBe('third');
  const said = ['begin', 'first', 'two', 'second', 'three'].map((content) => ({ content }));
  expect(requests[3]?.body['messages']).toMatchObject([{ role: 'system' }, ...said]);
});

test('a model that fails is an error of the tool, and the conversation can go on', async () => {
  const { client } = await openServed([{ fault: 'status', status: 401, message: 'no' }, { text: 'again' }]);
  const failed = await client.call('plexus', { prompt: 'begin' });
  expect(failed).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('401') }, {}] });
  const session_id = failed.content[1]?.text.replace('session_id: ', '');
  expect(await client.call('plexus-reply', { session_id, message: 'go on' })).toMatchObject({
    structuredContent: { response: 'again' },
  });
});

verifies('SRV-07', 'progress comes with each call, and while nothing happens at least every 15 s', async () => {
  const clock = createFakeClock();
  const [asked, answered] = [createDeferred<void>(), createDeferred<void>()];
  let step = 0;
  const model: ChatModel = {
    name: 'slow',
    async answer() {
      if (step++ === 0) return { text: '', calls: [{ id: '1', name: 'mcp__s__echo', arguments: '{"text":"hi"}' }] };
      asked.resolve();
      await answered.promise;
      return { text: 'done', calls: [] };
    },
  };
  const { runtime } = await openServed([]);
  const folder = join(createFolder(), 'conversations');
  const agent = createAgent({ runtime, model, clock, conversations: { folder } });
  const client = await connectServed(agent.serve());
  const call = client.call('plexus', { prompt: 'begin' });
  await asked.promise;
  await waitFor(() => expect(messages()).toHaveLength(4));
  for (let waited = 0; waited < 60_000; waited += 15_000) {
    const before = messages().length;
    await clock.advance(15_000);
    await waitFor(() => expect(messages().length).toBeGreaterThan(before));
  }
  answered.resolve();
  await call;
  expect(messages().slice(0, 5)).toEqual([
    'opening the conversation',
    'the model answers',
    'calling mcp__s__echo',
    'mcp__s__echo answered',
    'mcp__s__echo answered',
  ]);
  const counts = client.heard('notifications/progress').map(({ progress }) => progress);
  expect(counts).toEqual(counts.map((_, at) => at + 1));
  expect(clock.pending()).toBe(1);

  function messages() {
    return client.heard('notifications/progress').map(({ message }) => message);
  }
});

verifies('SRV-07', 'a cancelled call stops the model, and the conversation can go on', async () => {
  const { client, requests } = await openServed([{ text: 'one' }, { fault: 'stall' }, { text: 'three' }]);
  const { session_id } = (await client.call('plexus', { prompt: 'begin' })).structuredContent;
  client.write({
    ...{ jsonrpc: '2.0', id: 'slow', method: 'tools/call' },
    params: { name: 'plexus-reply', arguments: { session_id, message: 'wait' } },
  });
  await waitFor(() => expect(requests).toHaveLength(2));
  client.notify('notifications/cancelled', { requestId: 'slow' });
  const reply = await client.call('plexus-reply', { session_id, message: 'go on' });
  expect(reply.structuredContent.response).toBe('three');
  expect(client.said.some(({ id }) => id === 'slow')).toBe(false);
});

verifies(
  ['EVT-01', 'EVT-02'],
  'each call of the agent is heard as one beginning and one end with the id of the model, also one that fails or is cancelled',
  async () => {
    const hanging = createDeferred<void>();
    const moreTools = { hang: { inputSchema: { type: 'object' }, run: () => hanging.promise as never } };
    const calls = ['mcp__s__echo', 'mcp__s__fail', 'mcp__s__hang'].map((name, at) => ({
      ...{ id: `id-${at}`, name, arguments: { text: 'hi' } },
    }));
    const { client, runtime } = await openServed([{ calls }], { moreTools });
    const heard: string[] = [];
    runtime.on((event) => {
      if (event.type !== 'call.started' && event.type !== 'call.finished') return;
      heard.push(`${event.type} ${event.callId} ${event.tool?.server}/${event.tool?.tool}`);
    });
    client.write({
      ...{ jsonrpc: '2.0', id: 'slow', method: 'tools/call' },
      params: { name: 'plexus', arguments: { prompt: 'begin' } },
    });
    await waitFor(() => expect(heard).toHaveLength(5));
    client.notify('notifications/cancelled', { requestId: 'slow' });
    await waitFor(() => expect(heard).toHaveLength(6));
    hanging.resolve();
    const both = (at: number, tool: string) => [`call.finished id-${at} s/${tool}`, `call.started id-${at} s/${tool}`];
    expect(heard.toSorted()).toEqual([...both(0, 'echo'), ...both(1, 'fail'), ...both(2, 'hang')].toSorted());
  },
);

describe('approvals', () => {
  verifies('SRV-12', 'a client that can be asked decides; "session" counts for its conversation', async () => {
    const script = [echo(), echo('again'), { text: 'done' }, echo(), { text: 'other' }];
    const { client } = await openServed(script, { capabilities: { elicitation: {} }, runtimeOptions: asking });
    const call = client.call('plexus', { prompt: 'begin' });
    const question = await answerQuestion(client, 'elicitation/create', {
      action: 'accept',
      content: { decision: 'session' },
    });
    expect(question['message']).toContain('The agent wants to call the tool "echo" of server "s".');
    expect(question['message']).toContain('With these arguments: {"text":"hi"}');
    expect((await call).structuredContent.response).toBe('done');
    expect(client.heard('elicitation/create')).toHaveLength(1);
    const second = client.call('plexus', { prompt: 'another' });
    await answerQuestion(client, 'elicitation/create', { action: 'decline' });
    expect((await second).structuredContent.response).toBe('other');
  });

  verifies('SRV-12', 'a client that cannot be asked has said no at once', async () => {
    const { client, requests } = await openServed([echo(), { text: 'refused' }], { runtimeOptions: asking });
    expect((await client.call('plexus', { prompt: 'begin' })).structuredContent.response).toBe('refused');
    expect(requests[1] && sentResults(requests[1])).toMatchObject([{ text: expect.stringContaining('echo') }]);
    expect(JSON.stringify(requests[1]?.body)).not.toContain('echo hi');
    expect(client.heard('elicitation/create')).toEqual([]);
  });

  verifies(
    'SRV-12',
    'a modern client is asked with input_required, and the call goes on when it comes back',
    async () => {
      const { server, requests } = await openServed([echo(), { text: 'done' }], { runtimeOptions: asking });
      const { url } = await server.listen({ port: 0, authenticate: byToken('t'.repeat(32)) });
      const params = { name: 'plexus', arguments: { prompt: 'begin' } };
      const first = await request(url, 't'.repeat(32), 'tools/call', params);
      expect(first).toMatchObject({ resultType: 'input_required' });
      const [key = ''] = Object.keys(first['inputRequests'] as object);
      const retry = { ...params, requestState: first['requestState'], inputResponses: { [key]: yes } };
      expect(await request(url, 't'.repeat(32), 'tools/call', retry)).toMatchObject({
        structuredContent: { response: 'done' },
      });
      expect(JSON.stringify(requests[1]?.body)).toContain('echo hi');
    },
  );
});

/** The texts of all results that a request brought to the model. */
const resultsIn = (request: ModelRequest | undefined) =>
  request === undefined ? [] : sentResults(request).map(({ text }) => text);

describe('the terms of a call', () => {
  verifies('SRV-02', 'permissions deny and ask, allow nothing, and hold after a restart', async () => {
    const loose = await openServed([echo(), { text: 'one' }], { runtimeOptions: asking });
    await loose.client.call('plexus', { prompt: 'begin', permissions: [{ tool: 'mcp__*', action: 'allow' }] });
    expect(resultsIn(loose.requests[1])).toEqual([expect.not.stringContaining('echo hi')]);

    const first = await openServed([echo(), { text: 'one' }]);
    const permissions = [{ tool: 'mcp__s__echo', action: 'deny' }];
    const begun = await first.client.call('plexus', { prompt: 'begin', permissions });
    expect(resultsIn(first.requests[1])).toEqual([expect.stringContaining('denied')]);
    await first.server.close();
    const again = await openServed([echo(), { text: 'two' }], { folder: first.folder });
    const { session_id } = begun.structuredContent;
    const reply = await again.client.call('plexus-reply', { session_id, message: 'go on' });
    expect(reply.structuredContent.response).toBe('two');
    expect(resultsIn(again.requests[1]).at(-1)).toContain('denied');
  });

  test('rules that cannot be read, or kept, are an error of the tool', async () => {
    const { client } = await openServed([]);
    const long = [{ tool: 'mcp__*', action: 'deny', args: { path: 'x'.repeat(20_000) } }];
    expect(await client.call('plexus', { prompt: 'begin', permissions: long })).toMatchObject({
      isError: true,
      content: [{ text: 'The permissions are too long: at most 16384 characters are kept.' }],
    });
    const permissions = [{ tool: 'mcp__*', action: 'deny', args: { path: {} } }];
    expect(await client.call('plexus', { prompt: 'begin', permissions })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('permissions[0]') }],
    });
  });

  const bothTools = { calls: [{ name: 'mcp__s__echo', arguments: { text: 'hi' } }, { name: 'mcp__s__fail' }] };
  const denied = expect.stringContaining('may only read');

  verifies(
    'SRV-02',
    'in a read-only sandbox only tools run that are known to only read, by hints that are trusted',
    async () => {
      for (const [trustHints, results] of [
        [true, [expect.stringContaining('echo hi'), denied]],
        [false, [denied, denied]],
      ] as const) {
        const { client, requests } = await openServed([bothTools, { text: 'one' }], { entry: { trustHints } });
        await client.call('plexus', { prompt: 'begin', sandbox: 'read-only' });
        expect(resultsIn(requests[1])).toEqual(results);
      }
    },
  );

  verifies(
    'SRV-10',
    'the sandbox state of a client tightens all its conversations, and never loosens one',
    async () => {
      const script = [bothTools, { text: 'a' }, bothTools, { text: 'b' }, bothTools, { text: 'c' }];
      const { client, requests } = await openServed(script, { entry: { trustHints: true } });
      const tell = (type: string) =>
        client.notify('codex/sandbox-state/update', { sandboxPolicy: { type }, sandboxCwd: '/' });
      tell('read-only');
      const { session_id } = (await client.call('plexus', { prompt: 'begin' })).structuredContent;
      expect(resultsIn(requests[1])).toEqual([expect.stringContaining('echo hi'), denied]);
      tell('danger-full-access');
      await client.call('plexus-reply', { session_id, message: 'go on' });
      expect(resultsIn(requests[3]).slice(2)).toEqual([
        expect.stringContaining('echo hi'),
        expect.stringContaining('broken'),
      ]);
      // As a request, as other clients send it; and the terms of the conversation stay.
      expect(
        await client.request('codex/sandbox-state/update', { sandboxPolicy: { type: 'workspace-write' } }),
      ).toEqual({});
      await client.call('plexus', { prompt: 'begin', sandbox: 'read-only' });
      expect(resultsIn(requests[5])).toEqual([expect.stringContaining('echo hi'), denied]);
    },
  );

  verifies('SRV-10', 'a modern client tells its sandbox state too, over HTTP and over pipes', async () => {
    const script = [bothTools, { text: 'a' }, bothTools, { text: 'b' }];
    const { client, server, requests } = await openServed(script, { entry: { trustHints: true } });
    const method = 'codex/sandbox-state/update';
    const state = { sandboxPolicy: { type: 'read-only' }, _meta: modernMeta() };
    const results = [expect.stringContaining('echo hi'), denied];

    const { url } = await server.listen({ port: 0, authenticate: byToken('t'.repeat(32)) });
    const headers = { authorization: `Bearer ${'t'.repeat(32)}`, 'mcp-protocol-version': '2026-07-28' };
    const told = await sendTo(url, { body: { jsonrpc: '2.0', method, params: state }, headers });
    expect(told.status).toBe(202);
    await request(url, 't'.repeat(32), 'tools/call', { name: 'plexus', arguments: { prompt: 'begin' } });
    expect(resultsIn(requests[1])).toEqual(results);

    client.notify(method, state);
    await client.request('tools/call', {
      ...{ name: 'plexus', arguments: { prompt: 'begin' }, _meta: modernMeta() },
    });
    expect(resultsIn(requests[3])).toEqual(results);
  });

  verifies('SRV-02', 'max_steps lowers the budget and never raises it', async () => {
    const script = [echo('1'), echo('2'), echo('3'), echo('4')];
    const { client, requests } = await openServed(script, { budget: { steps: 2 } });
    const one = await client.call('plexus', { prompt: 'begin', max_steps: 1 });
    expect(one.structuredContent.response).toBe('[The agent stopped: the steps for one prompt are used up.]');
    expect(requests).toHaveLength(1);
    await client.call('plexus', { prompt: 'begin', max_steps: 100 });
    expect(requests).toHaveLength(3);
  });

  verifies('SRV-02', 'a model is taken from the list that is offered', async () => {
    const other: ChatModel = { name: 'other', answer: async () => ({ text: 'I am other', calls: [] }) };
    const { client } = await openServed([{ text: 'usual' }], { serve: { models: [other] } });
    expect((await client.call('plexus', { prompt: 'who?', model: 'other' })).structuredContent.response).toBe(
      'I am other',
    );
    expect((await client.call('plexus', { prompt: 'who?' })).structuredContent.response).toBe('usual');
    expect(await client.call('plexus', { prompt: 'who?', model: 'gpt' })).toMatchObject({ isError: true });
  });

  verifies('SRV-02', 'a folder must lie in the own one or in one that is allowed, also behind links', async () => {
    const [own, allowed, foreign] = [createFolder(), createFolder(), createFolder()];
    for (const folder of [own, allowed]) mkdirSync(join(folder, 'inner'));
    symlinkSync(foreign, join(own, 'link'));
    const opened: string[] = [];
    const closed: string[] = [];
    const open = async (cwd: string) => {
      opened.push(cwd);
      const runtime = await start(cwd, {});
      return { ...runtime, close: () => runtime.close().then(() => void closed.push(cwd)) };
    };
    const script = [{ text: 'one' }, { text: 'two' }, { text: 'three' }];
    const { client, server } = await openServed(script, { cwd: own, serve: { folders: { allowed: [allowed], open } } });
    for (const cwd of [own, 'inner', join(allowed, 'inner')])
      expect(await client.call('plexus', { prompt: 'here', cwd })).not.toHaveProperty('isError');
    for (const cwd of [foreign, 'link', '..', join(allowed, '..'), 'missing', '/'])
      expect(await client.call('plexus', { prompt: 'here', cwd })).toMatchObject({ isError: true });
    expect(opened).toEqual([join(own, 'inner'), join(allowed, 'inner')]);
    await server.close();
    expect(closed.toSorted()).toEqual(opened.toSorted());
  });
});

describe('conversations', () => {
  const tokens = ['a', 'b'].map((letter) => letter.repeat(32));

  verifies(
    'SRV-03',
    'a conversation belongs to the token that opened it, for replies and resources alike',
    async () => {
      const { server, client } = await openServed([{ text: 'one' }, { text: 'two' }, { text: 'three' }]);
      const [mine, theirs] = await Promise.all(
        tokens.map(async (token) => (await server.listen({ port: 0, authenticate: byToken(token) })).url),
      );
      const ask = (index: number, method: string, params: JsonObject) =>
        request(index === 0 ? mine : theirs, tokens[index], method, params);
      const begun = await ask(0, 'tools/call', { name: 'plexus', arguments: { prompt: 'secret plan' } });
      const { session_id } = begun['structuredContent'] as { session_id: string };
      const uri = `conversation://plexus/${session_id}`;
      const reply = { name: 'plexus-reply', arguments: { session_id, message: 'go on' } };
      const unknown = { isError: true, content: [{ text: expect.stringContaining('There is no conversation') }] };
      const found = { resources: [{ uri, name: session_id, title: 'secret plan', mimeType: 'application/json' }] };
      // While it is open, and over stdio too, which is another client.
      expect(await ask(1, 'tools/call', reply)).toMatchObject(unknown);
      expect(await client.call('plexus-reply', reply.arguments)).toMatchObject(unknown);
      expect(await ask(1, 'resources/list', {})).toMatchObject({ resources: [] });
      expect(await ask(1, 'resources/read', { uri })).toMatchObject({ code: -32602 });
      expect(await client.request('resources/read', { uri })).toMatchObject({ code: -32002 });
      expect(await ask(0, 'resources/list', {})).toMatchObject(found);
      expect(await ask(0, 'tools/call', reply)).toMatchObject({ structuredContent: { response: 'two' } });
      const { contents } = (await ask(0, 'resources/read', { uri })) as { contents: { text: string }[] };
      expect(JSON.parse(contents[0]?.text ?? '')).toMatchObject({
        session_id,
        messages: [{ text: 'secret plan' }, { text: 'one' }, { text: 'go on' }, { text: 'two' }],
      });
    },
  );

  test('two servers on one folder do not mix: neither by name nor at the same time', async () => {
    const first = await openServed([{ text: 'one' }, { text: 'two' }]);
    const { session_id } = (await first.client.call('plexus', { prompt: 'begin' })).structuredContent;
    const reply = { session_id, message: 'go on' };
    const other = await openServed([], { folder: first.folder, serve: { name: 'other' } });
    expect(await other.client.call('other-reply', reply)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('There is no conversation') }],
    });
    expect(await other.client.request('resources/list')).toEqual({ resources: [] });
    // The same client at a second server: while the first one has it open, it is told so.
    const second = await openServed([{ text: 'three' }], { folder: first.folder });
    expect(await second.client.call('plexus-reply', reply)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('another') }],
    });
    await first.server.close();
    expect((await second.client.call('plexus-reply', reply)).structuredContent.response).toBe('three');
  });

  verifies('SRV-08', 'conversations are resources, with news of them, and prompts are an empty list', async () => {
    const { client } = await openServed([{ text: 'one' }, { text: 'two' }]);
    expect(await client.request('prompts/list')).toEqual({ prompts: [] });
    expect(await client.request('resources/list')).toEqual({ resources: [] });
    const { session_id } = (await client.call('plexus', { prompt: 'begin\nwith this' })).structuredContent;
    const uri = `conversation://plexus/${session_id}`;
    expect(client.heard('notifications/resources/list_changed')).toHaveLength(1);
    expect(await client.request('resources/list')).toMatchObject({ resources: [{ uri, title: 'begin' }] });
    expect(await client.request('resources/templates/list')).toMatchObject({
      resourceTemplates: [{ uriTemplate: 'conversation://plexus/{id}' }],
    });
    await client.request('resources/subscribe', { uri });
    await client.call('plexus-reply', { session_id, message: 'go on' });
    expect(client.heard('notifications/resources/updated')).toEqual([{ uri }]);
    expect(client.heard('notifications/resources/list_changed')).toHaveLength(1);
    const ref = { type: 'ref/resource', uri: 'conversation://plexus/{id}' };
    const argument = { name: 'id', value: session_id.slice(0, 4) };
    expect(await client.request('completion/complete', { ref, argument })).toMatchObject({
      completion: { values: [session_id] },
    });
  });

  test('they expire by age and by count', async () => {
    const folder = createFolder();
    const conversations = { folder: join(folder, 'conversations'), maxCount: 2, maxAgeMs: 60_000 };
    const texts = ['one', 'two', 'three', 'four'].map((text) => ({ text }));
    const { client, server } = await openServed(texts, { folder, conversations });
    const ids: string[] = [];
    for (const prompt of ['one', 'two', 'three'])
      ids.push((await client.call('plexus', { prompt })).structuredContent.session_id);
    await server.close();
    for (const [at, id] of ids.entries()) age(id, at === 1 ? 3_600 : 30 - at);
    const again = await openServed([{ text: 'four' }], { folder, conversations });
    const listed = (await again.client.request('resources/list')) as { resources: JsonObject[] };
    expect(listed.resources.map(({ title }) => title)).toEqual(['three', 'one']);
    await again.client.call('plexus', { prompt: 'four' });
    const later = (await again.client.request('resources/list')) as { resources: JsonObject[] };
    expect(later.resources.map(({ title }) => title)).toEqual(['four', 'three']);

    function age(id: string, seconds: number) {
      const at = Date.now() / 1_000 - seconds;
      utimesSync(join(folder, 'conversations', `${id}.jsonl`), at, at);
    }
  });

  test('an idle conversation is closed after a while, and opened again by a reply', async () => {
    const clock = createFakeClock(Date.now());
    const folder = createFolder();
    const { client, server } = await openServed([{ text: 'one' }, { text: 'two' }], { folder, clock });
    const { session_id } = (await client.call('plexus', { prompt: 'begin' })).structuredContent;
    await clock.advance(300_000);
    // Another server can open it now.
    const other = await openServed([{ text: 'elsewhere' }], { folder });
    await waitFor(async () =>
      expect(await other.client.call('plexus-reply', { session_id, message: 'there' })).not.toHaveProperty('isError'),
    );
    await other.server.close();
    expect((await client.call('plexus-reply', { session_id, message: 'here' })).structuredContent.response).toBe('two');
    await server.close();
  });
});

async function request(url: string | undefined, token = '', method = '', params: JsonObject = {}): Promise<JsonObject> {
  const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: modernMeta({ elicitation: {} }) } };
  const headers = {
    authorization: `Bearer ${token}`,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...('name' in params && { 'mcp-name': String(params['name']) }),
    ...('uri' in params && { 'mcp-name': String(params['uri']) }),
  };
  const { result, error } = (await sendTo(url ?? '', { body, headers })).message;
  return (result ?? error) as JsonObject;
}

describe("the client's own model", () => {
  const tool = { type: 'tool_use', id: 'c1', name: 'mcp__s__echo', input: { text: 'hi' } };
  const options = { serve: { models: [samplingModel] } };

  test('is asked over sampling, with the tools and their results', async () => {
    const { client } = await openServed([], { ...options, capabilities: { sampling: { tools: {} } } });
    const call = client.call('plexus', { prompt: 'begin', model: 'sampling' });
    const method = 'sampling/createMessage';
    const first = await answerQuestion(client, method, { role: 'assistant', model: 'm', content: [tool] });
    expect(first).toMatchObject({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'begin' }] }],
      systemPrompt: expect.stringContaining('tool'),
    });
    expect((first['tools'] as JsonObject[]).map(({ name }) => name)).toContain('mcp__s__echo');
    const done = { role: 'assistant', model: 'm', content: { type: 'text', text: 'done' } };
    expect(await answerQuestion(client, method, done)).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant', content: [tool] },
        { role: 'user', content: [{ type: 'tool_result', toolUseId: 'c1', content: [{ type: 'text' }] }] },
      ],
    });
    expect((await call).structuredContent.response).toBe('done');
  });

  test('is nobody outside of a call', async () => {
    const { runtime } = await openServed([]);
    await expect(createAgent({ runtime, model: samplingModel }).run('begin')).rejects.toThrow('no client has asked');
  });

  test('is refused to a client that does not declare sampling.tools, and to a modern one', async () => {
    const asked = { prompt: 'begin', model: 'sampling' };
    const refused = { isError: true, content: [{ text: expect.stringContaining('sampling.tools') }, {}] };
    const { client, server } = await openServed([], { ...options, capabilities: { sampling: {} } });
    expect(await client.call('plexus', asked)).toMatchObject(refused);
    const { url } = await server.listen({ port: 0, authenticate: byToken('t'.repeat(32)) });
    expect(await request(url, 't'.repeat(32), 'tools/call', { name: 'plexus', arguments: asked })).toMatchObject(
      refused,
    );
  });
});
