// Owns what the tests of the agent share: the scripted model on its port, a runtime with tools in process, and an agent on both.

import { onTestFinished } from 'vitest';
import { type AgentEvent, type AgentOptions, type ChatModel, createAgent } from '../../../src/agent/agent.ts';
import { chatCompletionsModel, type ModelOptions } from '../../../src/agent/models/chat-completions.ts';
import { anthropicModel } from '../../../src/agent/models/messages.ts';
import type { RuntimeOptions } from '../../../src/index.ts';
import { createFakeServer, type FakeTools } from '../../../src/testing/fake-server.ts';
import { createFolder, start } from '../../e2e/runtimes.ts';
import type { ScriptedStep } from '../../servers/models/script.ts';
import { startModelServer } from '../../servers/models/server.ts';

export const apis = {
  'chat-completions': (url: string, more: Partial<ModelOptions> = {}): ChatModel =>
    chatCompletionsModel({ model: 'scripted', key: 'sk-secret-key', ...more, url: `${url}/v1` }),
  messages: (url: string, more: Partial<ModelOptions> = {}): ChatModel =>
    anthropicModel({ model: 'scripted', key: 'sk-secret-key', ...more, url }),
};

export type Api = keyof typeof apis;
export const apiNames = Object.keys(apis) as readonly Api[];

export async function openModelServer(script: readonly ScriptedStep[]) {
  const server = await startModelServer(script);
  onTestFinished(() => server.close());
  return server;
}

const tools: FakeTools = {
  echo: {
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    annotations: { readOnlyHint: true },
    run: (args) => ({ content: [{ type: 'text', text: `echo ${String((args as { text: unknown }).text)}` }] }),
  },
  fail: {
    inputSchema: { type: 'object' },
    run: () => ({ isError: true, content: [{ type: 'text', text: 'broken' }] }),
  },
  draw: {
    inputSchema: { type: 'object' },
    run: () => ({ content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }] }),
  },
};

export interface SceneOptions extends Partial<Omit<AgentOptions, 'runtime' | 'model'>> {
  readonly api?: Api;
  readonly modelOptions?: Partial<ModelOptions>;
  readonly runtimeOptions?: RuntimeOptions;
  readonly moreTools?: FakeTools;
  /** Settings of the server with the tools. */
  readonly entry?: { readonly trustHints?: boolean };
}

export async function openScene(script: readonly ScriptedStep[], options: SceneOptions = {}) {
  const { api = 'chat-completions', modelOptions, runtimeOptions, moreTools, entry, ...agentOptions } = options;
  const server = await openModelServer(script);
  const fake = createFakeServer({ ...tools, ...moreTools });
  const runtime = await start(createFolder(), { servers: { s: { ...fake.entry, ...entry } }, ...runtimeOptions });
  const model = apis[api](server.url, modelOptions);
  const events: AgentEvent[] = [];
  const agent = createAgent({ runtime, model, ...agentOptions });
  const onEvent = (event: AgentEvent) => void events.push(event);
  return { agent, runtime, model, events, onEvent, requests: server.requests };
}

/** The events of these types, without the conversation's id. */
export const told = (events: readonly AgentEvent[], ...types: readonly string[]) =>
  events.filter(({ type }) => types.includes(type)).map(({ conversationId: _, ...event }) => event);

export const long = 'word '.repeat(400);
/** Half of it ends within the text, behind the first piece. */
export const halfInText = { text: long, calls: [{ name: 'echo', arguments: { text: 'word '.repeat(200) } }] };
