// Owns a visit of a real client to the fixtures of the conformance suite, wherever they are served: both official SDKs list, call, read,
// complete, subscribe, are asked for all that a client can be asked for, are told of progress and changes, and cancel.

import { tmpdir } from 'node:os';
import { pathToFileURL } from 'node:url';
import { Client as Client2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
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
  complete(params: object): Promise<unknown>;
  close(): Promise<void>;
}

const folder = { uri: pathToFileURL(tmpdir()).href, name: 'work' };
const thought = { model: 'none', role: 'assistant' as const, content: { type: 'text' as const, text: 'Paris' } };
const capabilities = { elicitation: {}, sampling: {}, roots: {} };
const watched = 'test://static-text';

export interface Visit {
  readonly client: SdkClient;
  call(name: string, options?: { signal?: AbortSignal; onprogress?: (progress: unknown) => void }): Promise<unknown>;
  changes(): number;
  /** Subscribes to the resource of that uri. */
  subscribe(uri: string): Promise<unknown>;
  /** How often it was told of an update. */
  updates(): number;
  /** What the server reads of roots. Default: those of the client. */
  readonly roots?: string;
}

export async function visit({ client, call, changes, subscribe, updates, roots = folder.uri }: Visit): Promise<void> {
  onTestFinished(() => client.close());
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('test_simple_text');
  expect(await call('test_simple_text')).toMatchObject({
    content: [{ text: 'This is a simple text response for testing.' }],
  });
  expect(await client.readResource({ uri: 'test://static-text' })).toMatchObject({
    contents: [{ mimeType: 'text/plain' }],
  });
  expect(await client.getPrompt({ name: 'test_simple_prompt' })).toMatchObject({ messages: [{ role: 'user' }] });
  const ref = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
  expect(await client.complete({ ref, argument: { name: 'arg1', value: 'par' } })).toMatchObject({
    completion: { values: ['paris', 'park', 'party'] },
  });
  expect(await call('test_input_required_result_elicitation')).toMatchObject(ada);
  expect(await call('test_input_required_result_sampling')).toMatchObject({ content: [{ text: 'Paris' }] });
  expect(await call('test_input_required_result_list_roots')).toMatchObject({
    content: [{ text: expect.stringContaining(roots) }],
  });
  const progress: unknown[] = [];
  await call('test_tool_with_progress', { onprogress: (each) => progress.push(each) });
  expect(progress).toMatchObject([{ progress: 0 }, { progress: 50 }, { progress: 100 }]);
  const cancelledBefore = Number(textOf(await call('test_cancelled')));
  const cancelling = new AbortController();
  const waiting = call('test_cancellation', { signal: cancelling.signal, onprogress: () => cancelling.abort() });
  await expect(waiting).rejects.toThrow();
  await waitFor(async () => expect(Number(textOf(await call('test_cancelled')))).toBe(cancelledBefore + 1));
  await subscribe(watched);
  await until('test_trigger_update', updates);
  await until('test_trigger_tool_change', changes);

  async function until(trigger: string, told: () => number) {
    const before = told();
    // More than once: the client may not listen yet.
    await vi.waitFor(
      async () => {
        await call(trigger);
        await vi.waitFor(() => expect(told()).toBeGreaterThan(before), { timeout: 2_000 });
      },
      { timeout: 45_000 },
    );
  }
}

const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text;

/** `transport` is SDK v1's. */
export async function visitBySdk1(transport: unknown): Promise<void> {
  const client = new Client1(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => answer);
  client.setRequestHandler(CreateMessageRequestSchema, () => thought);
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [folder] }));
  let [changes, updates] = [0, 0];
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    if (params.uri === watched) updates++;
  });
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changes++;
  });
  await client.connect(transport as never);
  await visit({
    client: client as never,
    call: (name, options) => client.callTool({ name, arguments: {} }, undefined, options),
    changes: () => changes,
    subscribe: (uri) => client.subscribeResource({ uri }),
    updates: () => updates,
  });
}

/** `transport` is SDK v2's; `auto` finds out which era the server speaks. */
export async function visitBySdk2(transport: unknown, mode: 'legacy' | 'auto', roots?: string): Promise<void> {
  let [changes, updates] = [0, 0];
  const onChanged = () => {
    changes++;
  };
  const client = new Client2(info, {
    capabilities,
    versionNegotiation: { mode },
    listChanged: { tools: { debounceMs: 0, onChanged } },
  });
  client.setRequestHandler('elicitation/create', () => answer);
  client.setRequestHandler('sampling/createMessage', () => thought);
  client.setRequestHandler('roots/list', () => ({ roots: [folder] }));
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    if (params.uri === watched) updates++;
  });
  await client.connect(transport as never);
  await visit({
    client: client as never,
    call: (name, options) => client.callTool({ name, arguments: {} }, options as never),
    changes: () => changes,
    subscribe: (uri) =>
      mode === 'legacy' ? client.subscribeResource({ uri }) : client.listen({ resourceSubscriptions: [uri] }),
    updates: () => updates,
    ...(roots !== undefined && { roots }),
  });
}
