// Owns a visit of a real client to the fixtures of the conformance suite, wherever they are served: it does what a client of MCP can do.
// How each client does it is in `visits.ts`.

import { tmpdir } from 'node:os';
import { pathToFileURL } from 'node:url';
import { expect, vi } from 'vitest';
import { waitFor } from '../wait-for.ts';

export const answer = { action: 'accept' as const, content: { name: 'Ada', username: 'ada', email: 'a@b.c' } };
export const thought = { model: 'none', role: 'assistant' as const, content: { type: 'text' as const, text: 'Paris' } };
export const folder = { uri: pathToFileURL(tmpdir()).href, name: 'work' };
export const watched = 'test://static-text';
export const page = 'https://page.example/1';
const template = 'test://template/{id}/data';

type LogLevel = 'debug' | 'info' | 'error';
interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: unknown) => void;
}

/** The same methods in every SDK; their types differ. */
export interface VisitingClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  listResourceTemplates(): Promise<unknown>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  readResource(params: { uri: string }): Promise<unknown>;
  getPrompt(params: { name: string; arguments?: Record<string, string> }): Promise<unknown>;
  complete(params: object): Promise<unknown>;
}

export interface Visit {
  readonly client: VisitingClient;
  call(name: string, options?: CallOptions, meta?: object): Promise<unknown>;
  /** From now on the client wants log messages of that level; what a request has to carry for it. */
  wantLog(level: LogLevel): Promise<object>;
  subscribe(uri: string): Promise<() => Promise<unknown>>;
  /** What the client was told of, so far. */
  readonly heard: Heard;
  /** The code by which the client is told of an unknown resource. */
  readonly notFound: number;
  /** What the server reads of roots. Default: those of the client. */
  readonly roots?: string | undefined;
  /** The tool or prompt of the server, as the client knows it. Default: by its own name. */
  readonly named?: ((name: string) => string) | undefined;
}

export interface Heard {
  toolChanges: number;
  promptChanges: number;
  resourceChanges: number;
  updates: number;
  readonly logs: unknown[];
  readonly pages: unknown[];
}

export const nothingHeard = (): Heard => ({
  ...{ toolChanges: 0, promptChanges: 0, resourceChanges: 0 },
  ...{ updates: 0, logs: [], pages: [] },
});

export async function visit(given: Visit): Promise<void> {
  await lists(given);
  await results(given);
  await questions(given);
  await progressAndCancellation(given);
  await logMessages(given);
  await news(given);
}

const asItIs = (name: string) => name;

async function lists({ client, named = asItIs }: Visit): Promise<void> {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain(named('test_simple_text'));
  expect(tools.find(({ name }) => name === named('test_structured'))).toMatchObject({
    outputSchema: { required: ['answer'] },
    annotations: { readOnlyHint: true },
    _meta: { 'test/kind': 'structured' },
  });
  expect((await client.listResources()).resources.map(({ uri }) => uri)).toContain(watched);
  expect(await client.listResourceTemplates()).toMatchObject({ resourceTemplates: [{ uriTemplate: template }] });
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain(named('test_simple_prompt'));
  const ref = { type: 'ref/prompt', name: named('test_prompt_with_arguments') };
  const completed = { completion: { values: ['paris', 'park', 'party'] } };
  expect(await client.complete({ ref, argument: { name: 'arg1', value: 'par' } })).toMatchObject(completed);
  const byTemplate = { ref: { type: 'ref/resource', uri: template }, argument: { name: 'id', value: 'par' } };
  expect(await client.complete(byTemplate)).toMatchObject(completed);
}

async function results({ client, call, notFound, named = asItIs }: Visit): Promise<void> {
  expect(await call('test_simple_text')).toMatchObject({
    content: [{ text: 'This is a simple text response for testing.' }],
  });
  expect(await call('test_multiple_content_types')).toMatchObject({
    content: [{ type: 'text' }, { type: 'image' }, { type: 'resource' }],
  });
  expect(await call('test_structured', {}, { 'test/sent': 'a word' })).toMatchObject({
    structuredContent: { answer: 42 },
    _meta: { 'test/seen': 'a word' },
  });
  expect(await call('test_error_handling')).toMatchObject({
    isError: true,
    content: [{ text: 'This tool intentionally returns an error for testing' }],
  });
  await expect(call('no_such_tool')).rejects.toMatchObject({ code: -32602 });
  expect(await client.readResource({ uri: watched })).toMatchObject({ contents: [{ mimeType: 'text/plain' }] });
  expect(await client.readResource({ uri: 'test://template/7/data' })).toMatchObject({
    contents: [{ uri: 'test://template/7/data', text: expect.stringContaining('"id":"7"') }],
  });
  const missing = client.readResource({ uri: 'test://missing' });
  await expect(missing).rejects.toMatchObject({ code: notFound });
  expect(await client.getPrompt({ name: named('test_simple_prompt') })).toMatchObject({ messages: [{ role: 'user' }] });
  const filled = { name: named('test_prompt_with_arguments'), arguments: { arg1: 'one', arg2: 'two' } };
  expect(await client.getPrompt(filled)).toMatchObject({
    messages: [{ content: { text: "Prompt with arguments: arg1='one', arg2='two'" } }],
  });
  await expect(client.getPrompt({ name: 'no_such_prompt' })).rejects.toMatchObject({ code: -32602 });
}

async function questions({ client, call, heard, roots = folder.uri, named = asItIs }: Visit): Promise<void> {
  expect(await call('test_input_required_result_elicitation')).toMatchObject({ content: [{ text: 'Hello, Ada!' }] });
  expect(await client.getPrompt({ name: named('test_input_required_result_prompt') })).toMatchObject({
    messages: [{ content: { text: expect.stringContaining('Context: ') } }],
  });
  expect(await call('test_elicitation_page')).toMatchObject({ content: [{ text: 'visit: accept' }] });
  expect(heard.pages).toEqual([page]);
  expect(await call('test_input_required_result_sampling')).toMatchObject({ content: [{ text: 'Paris' }] });
  expect(await call('test_input_required_result_list_roots')).toMatchObject({
    content: [{ text: expect.stringContaining(roots) }],
  });
}

async function progressAndCancellation({ call }: Visit): Promise<void> {
  const progress: unknown[] = [];
  await call('test_tool_with_progress', { onprogress: (each) => progress.push(each) });
  expect(progress).toMatchObject([{ progress: 0 }, { progress: 50 }, { progress: 100 }]);
  const before = Number(textOf(await call('test_cancelled')));
  const cancelling = new AbortController();
  const waiting = call('test_cancellation', { signal: cancelling.signal, onprogress: () => cancelling.abort() });
  await expect(waiting).rejects.toThrow();
  await waitFor(async () => expect(Number(textOf(await call('test_cancelled')))).toBe(before + 1));
}

/** The server logs at the level `info`. */
async function logMessages({ call, wantLog, heard }: Visit): Promise<void> {
  await call('test_logging_tool', {}, await wantLog('error'));
  expect(heard.logs).toEqual([]);
  await call('test_logging_tool', {}, await wantLog('info'));
  await waitFor(() => expect(heard.logs).toEqual(['logged']));
}

async function news({ call, subscribe, heard }: Visit): Promise<void> {
  const unsubscribe = await subscribe(watched);
  await until('test_trigger_update', () => heard.updates);
  await until('test_trigger_tool_change', () => heard.toolChanges);
  await until('test_trigger_prompt_change', () => heard.promptChanges);
  await until('test_trigger_resource_change', () => heard.resourceChanges);
  await unsubscribe();
  // What was told before the end of the subscription has arrived when a later change has.
  await until('test_trigger_tool_change', () => heard.toolChanges);
  const before = heard.updates;
  await call('test_trigger_update');
  await until('test_trigger_tool_change', () => heard.toolChanges);
  expect(heard.updates).toBe(before);

  async function until(trigger: string, told: () => number) {
    const earlier = told();
    // More than once: the client may not listen yet.
    await vi.waitFor(
      async () => {
        await call(trigger);
        await vi.waitFor(() => expect(told()).toBeGreaterThan(earlier), { timeout: 2_000 });
      },
      { timeout: 45_000 },
    );
  }
}

export const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text;
