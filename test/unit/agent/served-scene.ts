// Owns a served agent for tests: the scripted model, tools in process, and a client that speaks raw lines.

import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ServeOptions } from '../../../src/agent/agent.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { McpServer } from '../../../src/serving/door.ts';
import { createFolder } from '../../e2e/runtimes.ts';
import type { ScriptedStep } from '../../servers/models/script.ts';
import { connectPipes, initialize, type ServedPipes } from '../serving/served.ts';
import { openScene, type SceneOptions } from './scene.ts';

export interface ServedSceneOptions extends SceneOptions {
  readonly serve?: ServeOptions;
  /** Of the client. */
  readonly capabilities?: JsonObject;
  readonly folder?: string;
}

export interface ServedClient extends ServedPipes {
  request(method: string, params?: JsonObject, id?: unknown): Promise<JsonObject>;
  /** The result of a tool. */
  call(name: string, args: JsonObject, id?: unknown): Promise<ToolResult>;
  notify(method: string, params?: JsonObject): void;
  /** The notifications of one method so far. */
  heard(method: string): readonly JsonObject[];
}

export interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent: { readonly session_id: string; readonly response: string };
}

export async function openServed(script: readonly ScriptedStep[], options: ServedSceneOptions = {}) {
  const { serve, capabilities = {}, folder = createFolder(), ...scene } = options;
  const opened = await openScene(script, { conversations: { folder: join(folder, 'conversations') }, ...scene });
  const server = opened.agent.serve(serve);
  return { ...opened, folder, server, client: await connectServed(server, capabilities) };
}

let last = 0;

/** The server is closed with the test. */
export async function connectServed(server: McpServer, capabilities: JsonObject = {}): Promise<ServedClient> {
  onTestFinished(() => server.close({ drainMs: 0 }));
  const pipes = connectPipes(server);
  const request = async (method: string, params: JsonObject = {}, id: unknown = ++last): Promise<JsonObject> => {
    pipes.write({ jsonrpc: '2.0', id, method, params });
    const { result, error } = await pipes.answer(id);
    return (result ?? error) as JsonObject;
  };
  const notify = (method: string, params: JsonObject = {}) => pipes.write({ jsonrpc: '2.0', method, params });
  pipes.write(initialize(capabilities));
  await pipes.answer('init');
  notify('notifications/initialized');
  return {
    ...pipes,
    request,
    notify,
    call: async (name, args, id) =>
      (await request('tools/call', { name, arguments: args, _meta: { progressToken: 'p' } }, id)) as never,
    heard: (method) =>
      pipes.said.filter((message) => message['method'] === method).map(({ params }) => params as JsonObject),
  };
}

/** Answers the next question of a method, and gives it. */
export async function answerQuestion(client: ServedClient, method: string, result: JsonObject): Promise<JsonObject> {
  const answered = new Set(client.said.filter((message) => message['method'] === method).map(({ id }) => id));
  for (;;) {
    const question = client.said.find((message) => message['method'] === method && !answered.has(message['id']));
    if (question !== undefined) {
      client.write({ jsonrpc: '2.0', id: question['id'], result });
      return question['params'] as JsonObject;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
