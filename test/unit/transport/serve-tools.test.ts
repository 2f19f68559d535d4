// Owns the proof that the server of a host's functions answers every message as the protocol wants, whatever it is asked.

import { expect, test } from 'vitest';
import type { Message } from '../../../src/model/server.ts';
import { openInProcess } from '../../../src/transport/in-process.ts';
import { type HostTool, serveTools } from '../../../src/transport/serve-tools.ts';
import { eventually } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';

/** A client of these tools, and what it heard. */
async function connect(tools: Readonly<Record<string, HostTool>>) {
  const channel = openInProcess(serveTools(tools).serve, 'app');
  const heard: Message[] = [];
  channel.onmessage = (message) => heard.push(message);
  await channel.start();
  let last = 0;
  const send = (method: string, params?: unknown) => channel.send({ jsonrpc: '2.0', id: ++last, method, params });
  return {
    channel,
    heard,
    send,
    async ask(method: string, params?: unknown) {
      await send(method, params);
      const id = last;
      await eventually(() => heard.some((message) => message['id'] === id));
      const { result, error } = heard.find((message) => message['id'] === id) ?? {};
      return result ?? error;
    },
  };
}

verifies(
  'INT-03',
  'tools are listed with all that the host says of them, and with a schema where it gives none',
  async () => {
    const annotations = { readOnlyHint: true };
    const inputSchema = { type: 'object', required: ['a'] };
    const { ask } = await connect({
      plain: { run: () => '' },
      full: {
        title: 'Full',
        description: 'All.',
        inputSchema,
        outputSchema: { type: 'object' },
        annotations,
        run: () => '',
      },
    });
    expect(await ask('tools/list')).toEqual({
      resultType: 'complete',
      tools: [
        { name: 'plain', inputSchema: { type: 'object' } },
        {
          name: 'full',
          title: 'Full',
          description: 'All.',
          inputSchema,
          outputSchema: { type: 'object' },
          annotations,
        },
      ],
    });
    expect(await ask('server/discover')).toMatchObject({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
    });
    expect(await ask('ping')).toEqual({ resultType: 'complete' });
  },
);

test('what it does not know is an error, also by the name of something that every object has', async () => {
  const { ask, channel, heard } = await connect({ plain: { run: (args) => JSON.stringify(args) } });
  for (const name of ['none', '__proto__', 'constructor', undefined, 5])
    expect(await ask('tools/call', { name })).toMatchObject({ code: -32602 });
  expect(await ask('resources/list')).toMatchObject({ code: -32601 });
  const before = heard.length;
  await channel.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await channel.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 99 } });
  expect(await ask('tools/call', { name: 'plain', arguments: [1] })).toMatchObject({ content: [{ text: '{}' }] });
  expect(heard.length, 'a notification has no answer').toBe(before + 1);
});

test('a cancelled call is aborted, and only that one; the end of the connection aborts the rest', async () => {
  const aborted: unknown[] = [];
  const running: unknown[] = [];
  const wait: HostTool = {
    run: ({ name }, { signal }) => {
      running.push(name);
      signal.addEventListener('abort', () => aborted.push(name));
      return new Promise(() => undefined);
    },
  };
  const { send, channel } = await connect({ wait });
  for (const name of ['first', 'second']) await send('tools/call', { name: 'wait', arguments: { name } });
  await eventually(() => running.length === 2);
  await channel.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  await eventually(() => aborted.length === 1);
  expect(aborted).toEqual(['first']);
  await channel.close();
  await eventually(() => aborted.length === 2);
});

test('a function that ends after its connection disturbs nobody', async () => {
  let finish: (text: string) => void = () => undefined;
  const late = { run: () => new Promise((resolve) => (finish = resolve)) };
  const { send, channel, heard } = await connect({ late });
  await send('tools/call', { name: 'late' });
  await new Promise((resolve) => setImmediate(resolve));
  await channel.close();
  finish('too late');
  await new Promise((resolve) => setImmediate(resolve));
  expect(heard).toEqual([]);
});
