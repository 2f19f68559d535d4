// Owns a visit of a real client to the fixtures of the conformance suite, wherever they are served: both official SDKs list, call, read, are
// asked, are told of progress and changes, and cancel.

import { Client as Client2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished, vi } from 'vitest';
import { waitFor } from '../wait-for.ts';

export const answer = { action: 'accept' as const, content: { name: 'Ada', username: 'ada', email: 'a@b.c' } };
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

export interface Visit {
  readonly client: SdkClient;
  call(name: string, options?: { signal?: AbortSignal; onprogress?: (progress: unknown) => void }): Promise<unknown>;
  changes(): number;
}

export async function visit({ client, call, changes }: Visit): Promise<void> {
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
  const cancelledBefore = Number(textOf(await call('test_cancelled')));
  const cancelling = new AbortController();
  const waiting = call('test_cancellation', { signal: cancelling.signal, onprogress: () => cancelling.abort() });
  await expect(waiting).rejects.toThrow();
  await waitFor(async () => expect(Number(textOf(await call('test_cancelled')))).toBe(cancelledBefore + 1));
  const before = changes();
  // More than once: the client may not listen yet.
  await vi.waitFor(
    async () => {
      await call('test_trigger_tool_change');
      await vi.waitFor(() => expect(changes()).toBeGreaterThan(before), { timeout: 2_000 });
    },
    { timeout: 45_000 },
  );
}

const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text;

/** `transport` is SDK v1's. */
export async function visitBySdk1(transport: unknown): Promise<void> {
  const client = new Client1(info, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => answer);
  let changes = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changes++;
  });
  await client.connect(transport as never);
  await visit({
    client: client as never,
    call: (name, options) => client.callTool({ name, arguments: {} }, undefined, options),
    changes: () => changes,
  });
}

/** `transport` is SDK v2's; `auto` finds out which era the server speaks. */
export async function visitBySdk2(transport: unknown, mode: 'legacy' | 'auto'): Promise<void> {
  let changes = 0;
  const onChanged = () => {
    changes++;
  };
  const client = new Client2(info, {
    capabilities: { elicitation: {} },
    versionNegotiation: { mode },
    listChanged: { tools: { debounceMs: 0, onChanged } },
  });
  client.setRequestHandler('elicitation/create', () => answer);
  await client.connect(transport as never);
  await visit({
    client: client as never,
    call: (name, options) => client.callTool({ name, arguments: {} }, options as never),
    changes: () => changes,
  });
}
