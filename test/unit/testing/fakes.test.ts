// Owns the proof that the fakes we test with keep the contracts of what they stand for.

import { describe, expect, test } from 'vitest';
import type { Channel, Message } from '../../../src/model/server.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { createFakeServer, type FakeServer } from '../../../src/testing/fake-server.ts';
import { createScriptedTransport } from '../../../src/testing/scripted-transport.ts';
import { openInProcess } from '../../../src/transport/in-process.ts';

describe('the clock that is moved by hand', () => {
  test('stands still until it is moved, and starts where it is told', async () => {
    const clock = createFakeClock(1_000);
    expect(clock.now()).toBe(1_000);
    await clock.advance(5);
    expect(clock.now()).toBe(1_005);
  });

  test('fires what falls due in the order of time, then of arrival, each at its own hour', async () => {
    const clock = createFakeClock();
    const fired: unknown[] = [];
    const due = (ms: number, name: string) => clock.after(ms, () => fired.push([name, clock.now()]));
    due(20, 'c');
    due(10, 'a');
    due(20, 'd');
    due(10, 'b');
    due(21, 'later');
    await clock.advance(20);
    expect(fired).toEqual([
      ['a', 10],
      ['b', 10],
      ['c', 20],
      ['d', 20],
    ]);
    expect(clock.pending()).toBe(1);
  });

  test('fires in the same move what was set meanwhile, promises included', async () => {
    const clock = createFakeClock();
    const fired: number[] = [];
    const tick = async (): Promise<void> => {
      await clock.sleep(10);
      fired.push(clock.now());
      await tick();
    };
    void tick();
    await clock.advance(35);
    expect(fired).toEqual([10, 20, 30]);
  });

  test('never fires what was cancelled, not even in the same move', async () => {
    const clock = createFakeClock();
    const fired: string[] = [];
    const cancel = clock.after(10, () => fired.push('cancelled'));
    clock.after(5, () => {
      cancel();
      cancel();
      fired.push('first');
    });
    await clock.advance(10);
    expect([fired, clock.pending()]).toEqual([['first'], 0]);
  });
});

async function connect(server: FakeServer): Promise<{ channel: Channel; ask: (message: Message) => Promise<Message> }> {
  const channel = openInProcess(server.entry.serve, 'fake');
  const waiting: ((message: Message) => void)[] = [];
  channel.onmessage = (message) => waiting.shift()?.(message);
  await channel.start();
  const ask = (message: Message) =>
    new Promise<Message>((resolve) => {
      waiting.push(resolve);
      void channel.send(message);
    });
  return { channel, ask };
}

describe('the server in process', () => {
  const tools = {
    text: { description: 'Says hello.', run: () => 'hello' },
    whole: { annotations: { readOnlyHint: true }, run: async () => ({ content: [], structuredContent: { a: 1 } }) },
    fail: {
      run: () => {
        throw new Error('it does not work');
      },
    },
  };
  const request = (id: number, method: string, params?: unknown) => ({ jsonrpc: '2.0', id, method, params });

  test('answers calls with texts, whole results and errors, and remembers them', async () => {
    const server = createFakeServer(tools);
    const { ask } = await connect(server);
    const call = (id: number, name: string, args?: unknown) =>
      ask(request(id, 'tools/call', { name, arguments: args }));
    expect([
      await call(1, 'text', { a: 1 }),
      await call(2, 'whole'),
      await call(3, 'fail'),
      await call(4, 'none'),
    ]).toEqual([
      { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'hello' }] } },
      { jsonrpc: '2.0', id: 2, result: { content: [], structuredContent: { a: 1 } } },
      { jsonrpc: '2.0', id: 3, result: { content: [{ type: 'text', text: 'it does not work' }], isError: true } },
      { jsonrpc: '2.0', id: 4, error: { code: -32602, message: 'unknown tool none' } },
    ]);
    expect(server.calls).toEqual([
      { tool: 'text', arguments: { a: 1 } },
      { tool: 'whole', arguments: undefined },
      { tool: 'fail', arguments: undefined },
      { tool: 'none', arguments: undefined },
    ]);
  });

  test('lists its tools without what they do', async () => {
    const { ask } = await connect(createFakeServer(tools));
    expect(await ask(request(1, 'tools/list'))).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        tools: [
          { name: 'text', description: 'Says hello.', inputSchema: { type: 'object' } },
          { name: 'whole', annotations: { readOnlyHint: true }, inputSchema: { type: 'object' } },
          { name: 'fail', inputSchema: { type: 'object' } },
        ],
      },
    });
  });

  test('speaks one era at a time', async () => {
    const [legacy, modern] = [
      await connect(createFakeServer({})),
      await connect(createFakeServer({}, { era: 'modern' })),
    ];
    const codeOf = async ({ ask }: typeof legacy, method: string) =>
      ((await ask(request(1, method)))['error'] as { code: number } | undefined)?.code;
    expect([await codeOf(legacy, 'initialize'), await codeOf(legacy, 'server/discover')]).toEqual([undefined, -32601]);
    expect([await codeOf(modern, 'initialize'), await codeOf(modern, 'server/discover')]).toEqual([-32601, undefined]);
    expect(await codeOf(modern, 'constructor')).toBe(-32601);
  });

  test('drops every connection when it crashes', async () => {
    const server = createFakeServer({});
    const closed: string[] = [];
    for (const name of ['a', 'b']) {
      const { channel } = await connect(server);
      await new Promise((resolve) => setImmediate(resolve));
      channel.onclose = () => closed.push(name);
    }
    await server.crash();
    await new Promise((resolve) => setImmediate(resolve));
    expect(closed).toEqual(['a', 'b']);
  });
});

describe('the scripted transport', () => {
  test('writes down what was sent and says what it is told', async () => {
    const channel = createScriptedTransport();
    const heard: Message[] = [];
    channel.onmessage = (message) => heard.push(message);
    await channel.start();
    await channel.send({ method: 'a', id: 1 });
    await channel.send({ method: 'a', id: 2 });
    channel.receive({ id: 2 });
    expect([channel.sent, channel.request('a'), heard]).toEqual([
      [
        { method: 'a', id: 1 },
        { method: 'a', id: 2 },
      ],
      { method: 'a', id: 2 },
      [{ id: 2 }],
    ]);
    expect(() => channel.request('b')).toThrow('nothing was sent with the method b');
  });

  test('is dropped once, with a reason, and then takes nothing more', async () => {
    const channel = createScriptedTransport();
    let closed = 0;
    channel.onclose = () => {
      closed += 1;
    };
    channel.drop({ reason: 'it exited', stderr: 'last words' });
    channel.drop();
    await channel.close();
    expect([closed, channel.closed, channel.report?.()]).toEqual([
      1,
      true,
      { reason: 'it exited', stderr: 'last words' },
    ]);
    await expect(channel.send({})).rejects.toThrow('the channel is down');
  });
});
