// Owns the proof that real clients use what is served, over stdio and HTTP: both official SDKs, in both eras, and Plexus itself list,
// call, read, are asked, are told of progress and changes, and cancel.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { waitFor } from '../wait-for.ts';
import { createFolder, start, textOf } from './runtimes.ts';

const program = fileURLToPath(new URL('../servers/conformance.mjs', import.meta.url));
const command = { command: process.execPath, args: [program, 'stdio'] };
const transports = ['stdio', 'http'] as const;

async function listen(): Promise<string> {
  const child = fork(program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  onTestFinished(() => {
    child.disconnect();
  });
  const [url] = await once(child, 'message');
  return url;
}

const answer = { action: 'accept' as const, content: { name: 'Ada', username: 'ada', email: 'a@b.c' } };
const ada = { content: [{ type: 'text', text: 'Hello, Ada!' }] };
const info = { name: 'test', version: '1' };

/** The same visit for each SDK; their types differ, their methods do not. */
interface SdkClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: object, ...more: never[]): Promise<unknown>;
  readResource(params: { uri: string }): Promise<unknown>;
  getPrompt(params: { name: string }): Promise<unknown>;
  close(): Promise<void>;
}

interface Visit {
  readonly client: SdkClient;
  call(name: string, options?: { signal?: AbortSignal; onprogress?: (progress: unknown) => void }): Promise<unknown>;
  changes(): number;
}

async function visit({ client, call, changes }: Visit): Promise<void> {
  onTestFinished(() => client.close());
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('test_simple_text');
  expect(await call('test_simple_text')).toMatchObject({
    content: [{ text: 'This is a simple text response for testing.' }],
  });
  expect(await client.readResource({ uri: 'test://static-text' })).toMatchObject({
    contents: [{ mimeType: 'text/plain' }],
  });
  expect(await client.getPrompt({ name: 'test_simple_prompt' })).toMatchObject({ messages: [{ role: 'user' }] });
  expect(await call('test_input_required_result_elicitation')).toMatchObject(ada);
  const progress: unknown[] = [];
  await call('test_tool_with_progress', { onprogress: (each) => progress.push(each) });
  expect(progress).toMatchObject([{ progress: 0 }, { progress: 50 }, { progress: 100 }]);
  const cancelling = new AbortController();
  const waiting = call('test_cancellation', { signal: cancelling.signal, onprogress: () => cancelling.abort() });
  await expect(waiting).rejects.toThrow();
  await waitFor(async () => expect(await call('test_cancelled')).toMatchObject({ content: [{ text: '1' }] }));
  const before = changes();
  await waitFor(async () => {
    await call('test_trigger_tool_change');
    expect(changes()).toBeGreaterThan(before);
  });
}

describe.each(transports)('over %s', (kind) => {
  test('SDK v1', async () => {
    const client = new Client1(info, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, () => answer);
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      changes++;
    });
    await client.connect(kind === 'stdio' ? new Stdio1(command) : (new Http1(new URL(await listen())) as never));
    await visit({
      client: client as never,
      call: (name, options) => client.callTool({ name, arguments: {} }, undefined, options),
      changes: () => changes,
    });
  });

  test.each(['legacy', 'auto'] as const)('SDK v2 as a %s client', async (mode) => {
    const client = new Client2(info, {
      capabilities: { elicitation: {} },
      versionNegotiation: { mode },
      listChanged: {
        tools: {
          debounceMs: 0,
          onChanged: () => {
            changes++;
          },
        },
      },
    });
    let changes = 0;
    client.setRequestHandler('elicitation/create', () => answer);
    await client.connect(kind === 'stdio' ? new Stdio2(command) : new Http2(new URL(await listen())));
    await visit({
      client: client as never,
      call: (name, options) => client.callTool({ name, arguments: {} }, options as never),
      changes: () => changes,
    });
  });

  test('Plexus', async () => {
    const entry = kind === 'stdio' ? command : { url: await listen() };
    const runtime = await start(createFolder(), { servers: { it: entry }, elicit: async () => answer });
    await runtime.ready();
    expect(runtime.status()).toMatchObject([{ name: 'it', protocol: '2026-07-28', status: 'connected' }]);
    const turn = runtime.turn();
    expect(textOf(await turn.call('mcp__it__test_input_required_result_elicitation'))).toBe('Hello, Ada!');
    expect(textOf(await turn.call('mcp__it__test_custom_header', { region: 'eu' }))).toBe('region: eu');
    const cancelling = new AbortController();
    const waiting = turn.call('mcp__it__test_cancellation', {}, { signal: cancelling.signal });
    const unsubscribe = runtime.on((event) => {
      if (event.type === 'call.progressed') cancelling.abort();
    });
    await expect(waiting).rejects.toThrow('aborted');
    unsubscribe();
    await waitFor(async () => expect(textOf(await runtime.turn().call('mcp__it__test_cancelled'))).toBe('1'));
  });
});
