// Owns the tests of the agent's loop, with the scripted model and a real runtime.

import { describe, expect, test } from 'vitest';
import { type AgentEvent, type ChatModel, createAgent } from '../../../src/agent/agent.ts';
import { endWords } from '../../../src/agent/loop.ts';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { createFakeServer } from '../../../src/testing/fake-server.ts';
import { createFolder, start } from '../../e2e/runtimes.ts';
import { sentResults, sentTools } from '../../servers/models/sent.ts';
import { verifies } from '../../verifies.ts';
import { waitFor } from '../../wait-for.ts';
import { apiNames, halfInText, long, openScene, told } from './scene.ts';

const echo = (text: string) => ({ name: 'mcp__s__echo', arguments: { text } });

describe.each(apiNames)('with %s', (api) => {
  test('the model calls tools in parallel and answers with what they said', async () => {
    const usage = { input: 10, output: 2 };
    const script = [
      { calls: [echo('one'), echo('two')], usage },
      { text: 'both done', usage },
    ];
    const { agent, events, onEvent, requests } = await openScene(script, { api, system: 'Be kind.' });
    const reply = await agent.run('say one and two', { onEvent });
    expect(reply).toEqual({
      conversationId: expect.stringMatching(/^[0-9a-f]{32}$/),
      text: 'both done',
      end: 'replied',
      steps: 2,
      usage: { inputTokens: 20, outputTokens: 4 },
    });
    const [first, second] = requests;
    expect(first && sentTools(first).map(({ name }) => name)).toContain('mcp__s__echo');
    expect(JSON.stringify(first?.body)).toContain('Be kind.');
    const sent = second ? sentResults(second) : [];
    expect(sent.map(({ callId }) => callId)).toEqual(['call_1', 'call_2']);
    expect(sent.map(({ text }) => text)).toEqual([
      expect.stringContaining('echo one'),
      expect.stringContaining('echo two'),
    ]);
    expect(events.map(({ type }) => type).filter((type) => type !== 'text.received')).toEqual([
      'conversation.started',
      'call.requested',
      'call.requested',
      'call.answered',
      'call.answered',
      'step.finished',
      'step.finished',
      'conversation.replied',
    ]);
    expect(events.every(({ conversationId }) => conversationId === reply.conversationId)).toBe(true);
    expect(JSON.parse(JSON.stringify(events))).toEqual(events);
  });

  test('unknown tools, failing tools and arguments that are no JSON are results that the model reads', async () => {
    const calls = [{ name: 'nothing' }, { name: 'mcp__s__fail' }, { name: 'mcp__s__echo', arguments: '{"text":' }];
    const { agent, requests } = await openScene([{ calls }, { text: 'I see' }], { api });
    expect((await agent.run('try')).text).toBe('I see');
    expect(requests[1] && sentResults(requests[1]).map(({ text }) => text)).toEqual([
      expect.stringContaining('TOOL_UNKNOWN'),
      expect.stringContaining('broken'),
      expect.stringContaining('no JSON'),
    ]);
  });

  test('half a stream is told, and the step repeated as long as no call began in it', async () => {
    const { agent, events, onEvent } = await openScene([{ fault: 'cut', reply: halfInText }, { text: 'whole' }], {
      api,
    });
    expect(await agent.run('go', { onEvent })).toMatchObject({ text: 'whole', steps: 1 });
    expect(told(events, 'step.interrupted')).toEqual([
      { type: 'step.interrupted', reason: expect.any(String), isRepeated: true },
    ]);
    const calls = [echo(long)];
    const other = await openScene([{ fault: 'cut', reply: { calls } }, { text: 'whole' }], { api });
    await expect(other.agent.run('go', { onEvent: other.onEvent })).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
    });
    expect(told(other.events, 'step.interrupted')).toMatchObject([{ isRepeated: false }]);
    expect(other.requests).toHaveLength(1);
  });
});

test('the same call in three steps in a row ends the run, before it is made again', async () => {
  const orders = ['{"text":"x"}', '{ "text": "x" }', '{"text":"x"}'];
  const script = orders.map((args) => ({ text: 'again', calls: [{ name: 'mcp__s__echo', arguments: args }] }));
  const { agent, events, onEvent } = await openScene(script);
  expect(await agent.run('go', { onEvent })).toMatchObject({ end: 'repetition', steps: 3, text: 'again' });
  expect(told(events, 'call.requested')).toHaveLength(2);
});

test('a call between two equal ones makes them no repetition', async () => {
  const script = ['x', 'x', 'y', 'x', 'x'].map((text) => ({ calls: [echo(text)] }));
  const { agent } = await openScene([...script, { text: 'done' }]);
  expect(await agent.run('go')).toMatchObject({ end: 'replied', steps: 6 });
});

test.each([
  ['steps', { steps: 2 }],
  ['tokens', { tokens: 25 }],
] as const)('a run ends when its %s are used up, and the conversation goes on', async (end, budget) => {
  const usage = { input: 10, output: 3 };
  const script = [
    { calls: [echo('a')], usage },
    { calls: [echo('b')], usage },
    { text: 'more', usage },
  ];
  const { agent, requests } = await openScene(script, { budget });
  const conversation = await agent.open();
  expect(await conversation.run('go')).toMatchObject({ end, steps: 2 });
  expect(await conversation.run('go on')).toMatchObject({ end: 'replied', text: 'more' });
  expect(requests[2] && sentResults(requests[2]).map(({ text }) => text)).toEqual([
    expect.stringContaining('echo a'),
    `This call was not made, because the run ended: ${endWords[end]}.`,
  ]);
  await conversation.close();
});

test.each(['model', 'tool'])('time runs out while the %s works', async (where) => {
  const clock = createFakeClock();
  const begun = createDeferred<void>();
  const never = {
    inputSchema: { type: 'object' },
    run: () => {
      begun.resolve();
      return new Promise<never>(() => undefined);
    },
  };
  const stall = () => {
    begun.resolve();
    return { fault: 'stall' as const };
  };
  const script = where === 'model' ? [stall] : [{ calls: [{ name: 'mcp__s__never' }] }];
  const { agent } = await openScene(script, { clock, moreTools: { never } });
  const work = agent.run('go');
  await begun.promise;
  await clock.advance(600_000);
  expect(await work).toMatchObject({ end: 'time' });
});

test('a model that does not stop is not waited for, and says nothing any more', async () => {
  const clock = createFakeClock();
  const { runtime } = await openScene([]);
  let say: ((text: string) => void) | undefined;
  const model: ChatModel = {
    name: 'deaf',
    answer: (_request, { onText }) => {
      say = onText;
      return new Promise<never>(() => undefined);
    },
  };
  const conversation = await createAgent({ runtime, model, clock }).open();
  const events: AgentEvent[] = [];
  const onEvent = (event: AgentEvent) => events.push(event);
  const stop = new AbortController();
  const stopped = conversation.run('go', { signal: stop.signal, onEvent });
  void Promise.allSettled([stopped]);
  await waitFor(() => expect(say).toBeDefined());
  stop.abort(new Error('enough'));
  await expect(stopped).rejects.toThrow('enough');
  say?.('too late');
  expect(events.map(({ type }) => type)).toEqual(['conversation.started']);
  say = undefined;
  const late = conversation.run('go');
  await waitFor(() => expect(say).toBeDefined());
  await clock.advance(600_000);
  expect(await late).toMatchObject({ end: 'time' });
  await conversation.close();
});

verifies(
  ['EVT-01', 'EVT-02'],
  'an agent that is cancelled in a call hears of its end, and so does the runtime',
  async () => {
    const begun = createDeferred<void>();
    const never = {
      inputSchema: { type: 'object' },
      run: () => {
        begun.resolve();
        return new Promise<never>(() => undefined);
      },
    };
    const script = [{ calls: [{ id: 'c1', name: 'mcp__s__never' }] }, { text: 'fine' }];
    const { agent, events, onEvent, runtime, requests } = await openScene(script, { moreTools: { never } });
    const stop = new AbortController();
    const conversation = await agent.open();
    const work = conversation.run('go', { signal: stop.signal, onEvent });
    void Promise.allSettled([work]);
    await begun.promise;
    stop.abort(new Error('enough'));
    await expect(work).rejects.toThrow('enough');
    expect(told(events, 'call.requested', 'call.answered')).toMatchObject([
      { type: 'call.requested', callId: 'c1' },
      { type: 'call.answered', callId: 'c1', isError: true },
    ]);
    const ends = runtime.events.filter(({ type }) => type === 'call.started' || type === 'call.finished');
    expect(ends).toMatchObject([
      { type: 'call.started', callId: 'c1', tool: { server: 's', tool: 'never' } },
      { type: 'call.finished', callId: 'c1' },
    ]);
    expect(await conversation.run('and now?')).toMatchObject({ text: 'fine' });
    expect(requests[1] && sentResults(requests[1])).toHaveLength(1);
    await conversation.close();
  },
);

test('an approval is asked in place: session counts for one conversation, a no is a result', async () => {
  const asked: string[] = [];
  const permissions = [{ tool: 'mcp__*', action: 'ask' as const }];
  const answers = ['session', 'no'] as const;
  const approve = async (request: { readonly kind: string }) => {
    asked.push(request.kind);
    return answers[asked.length - 1] ?? 'no';
  };
  const script = [
    { calls: [echo('a')] },
    { calls: [echo('b')] },
    { text: 'done' },
    { calls: [echo('c')] },
    { text: 'denied' },
  ];
  const { agent, requests } = await openScene(script, { approve, runtimeOptions: { permissions } });
  expect((await agent.run('go')).text).toBe('done');
  expect(asked).toEqual(['tool']);
  expect((await agent.run('go')).text).toBe('denied');
  expect(asked).toEqual(['tool', 'tool']);
  expect(requests[4] && sentResults(requests[4])).toMatchObject([
    { text: expect.stringContaining('APPROVAL_REFUSED') },
  ]);
});

test('tools of a large fleet are found by searching, and join the next step', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 400 }, (_, at) => [
      `tool_${at}`,
      {
        description: `Does thing number ${at} `.repeat(20),
        inputSchema: { type: 'object' },
        run: () => ({ content: [] }),
      },
    ]),
  );
  const weather = {
    description: 'Reads the weather of a city.',
    inputSchema: { type: 'object' },
    run: () => ({ content: [{ type: 'text', text: 'rain' }] }),
  };
  const script = [
    { calls: [{ name: 'mcp_search', arguments: { query: 'weather of a city' } }] },
    { calls: [{ name: 'mcp__s__weather' }] },
    { text: 'rain' },
  ];
  const { agent, requests } = await openScene(script, { moreTools: { ...many, weather } });
  expect((await agent.run('how is the weather?')).text).toBe('rain');
  const names = requests.map((request) => sentTools(request).map(({ name }) => name));
  expect(names[0]).toContain('mcp_search');
  expect(names[0]).not.toContain('mcp__s__weather');
  expect(names[1]).toContain('mcp__s__weather');
});

test('prompts of one conversation wait for each other', async () => {
  const gate = createDeferred<void>();
  const slow = async () => {
    await gate.promise;
    return { text: 'first' };
  };
  const { agent, requests } = await openScene([slow, { text: 'second' }]);
  const conversation = await agent.open();
  const both = Promise.all([conversation.run('one'), conversation.run('two')]);
  await waitFor(() => expect(requests).toHaveLength(1));
  gate.resolve();
  expect((await both).map(({ text }) => text)).toEqual(['first', 'second']);
  expect(conversation.messages.map(({ text }) => text)).toEqual(['one', 'first', 'two', 'second']);
  await conversation.close();
});

test('a host brings its own model', async () => {
  const runtime = await start(createFolder(), { servers: { s: createFakeServer({}).entry } });
  const model: ChatModel = {
    name: 'parrot',
    async answer({ messages }, { onText }) {
      const text = messages.at(-1)?.text ?? '';
      onText(text);
      return { text, calls: [] };
    },
  };
  const events: AgentEvent[] = [];
  const reply = await createAgent({ runtime, model }).run('polly', { onEvent: (event) => events.push(event) });
  expect(reply).toMatchObject({ text: 'polly', end: 'replied', usage: { outputTokens: 1 } });
});
