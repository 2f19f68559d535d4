// Owns a real MCP server inside the host, for tests: its tools are functions, it speaks either era, records every call, and can
// change its tools, stall and crash on command.

import { isObject, type JsonObject } from '../kernel/json.ts';
import type { Channel, Message } from '../model/server.ts';
import type { ToolAnnotations } from '../model/tool.ts';

export interface FakeTool {
  readonly description?: string;
  readonly inputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  /** A text becomes a text block; an object is the whole result; throwing makes an error result. */
  readonly run: (args: JsonObject) => string | JsonObject | Promise<string | JsonObject>;
}

export type FakeTools = Readonly<Record<string, FakeTool>>;

export interface FakePrompt {
  readonly description?: string;
  readonly arguments?: readonly { readonly name: string; readonly description?: string; readonly required?: boolean }[];
  /** The text of the prompt's one message. */
  readonly get: (args: JsonObject) => string | Promise<string>;
}

export interface FakeServerOptions {
  /** Default: legacy. */
  readonly era?: 'legacy' | 'modern';
  /** For models: how to use the server. */
  readonly instructions?: string;
  /** Texts by their addresses. */
  readonly resources?: Readonly<Record<string, string>>;
  readonly prompts?: Readonly<Record<string, FakePrompt>>;
}

export interface FakeServer {
  /** For `createRuntime({ servers: { name: server.entry } })`. */
  readonly entry: { readonly serve: (channel: Channel) => Promise<void> };
  /** The tool calls so far, in order; of a legacy client with what its host gave as `meta`. */
  readonly calls: readonly { readonly tool: string; readonly arguments: unknown; readonly meta?: JsonObject }[];
  /** Replaces the tools and tells every client that its list has changed. */
  setTools(tools: FakeTools): Promise<void>;
  /** Answers nothing until the returned function is called; what came meanwhile is answered then. */
  stall(): () => void;
  /** Closes every connection, as a crash would. */
  crash(): Promise<void>;
}

const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';

type Method = (params: JsonObject, id: unknown, channel: Channel) => JsonObject | Promise<JsonObject>;

export function createFakeServer(tools: FakeTools, options: FakeServerOptions = {}): FakeServer {
  const { era = 'legacy' } = options;
  const calls: FakeServer['calls'][number][] = [];
  const channels = new Set<Channel>();
  /** Modern clients hear of changes on the streams they opened: channel and id of the request. */
  const streams = new Map<Channel, unknown>();
  let current = tools;
  let stalled: Promise<void> | undefined;

  const callTool: Method = async ({ name: asked, arguments: args, _meta: meta }) => {
    const name = String(asked);
    const { progressToken: _token, ...rest } = isObject(meta) ? meta : {};
    calls.push({
      tool: name,
      arguments: args,
      ...(era === 'legacy' && Object.keys(rest).length > 0 && { meta: rest }),
    });
    const tool = Object.hasOwn(current, name) ? current[name] : undefined;
    if (tool === undefined) throw new RpcError(-32602, `unknown tool ${name}`);
    try {
      const answer = await tool.run(isObject(args) ? args : {});
      return typeof answer === 'string' ? { content: [{ type: 'text', text: answer }] } : answer;
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      return { content: [{ type: 'text', text }], isError: true };
    }
  };

  const listen: Method = async (_params, id, channel) => {
    streams.set(channel, id);
    await channel.send({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { _meta: { [SUBSCRIPTION]: id }, notifications: { toolsListChanged: true } },
    });
    // The stream ends with its connection.
    return new Promise(() => undefined);
  };

  const methods: Readonly<Record<string, Method>> = {
    ...handshake(era, options),
    'tools/list': () => ({ tools: listed(current) }),
    'tools/call': callTool,
    ...(era === 'modern' && { 'subscriptions/listen': listen }),
    ...resourceMethods(options),
    ...promptMethods(options),
  };

  const answer = async (message: Message, channel: Channel): Promise<Message | undefined> => {
    const { id, method, params } = message;
    if (id === undefined || typeof method !== 'string') return undefined;
    const perform = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (perform === undefined) return { jsonrpc: '2.0', id, error: { code: -32601, message: `no method ${method}` } };
    try {
      const result = await perform(isObject(params) ? params : {}, id, channel);
      return { jsonrpc: '2.0', id, result: era === 'modern' ? { resultType: 'complete', ...result } : result };
    } catch (error) {
      const code = error instanceof RpcError ? error.code : -32603;
      return { jsonrpc: '2.0', id, error: { code, message: error instanceof Error ? error.message : String(error) } };
    }
  };

  return {
    calls,
    entry: {
      async serve(channel) {
        channels.add(channel);
        channel.onclose = () => {
          channels.delete(channel);
          streams.delete(channel);
        };
        channel.onmessage = async (message) => {
          await stalled;
          const reply = await answer(message, channel);
          if (reply && channels.has(channel)) await channel.send(reply);
        };
        await channel.start();
      },
    },
    async setTools(next) {
      current = next;
      const method = 'notifications/tools/list_changed';
      const told = [...channels].map((channel) => {
        const stream = streams.get(channel);
        if (era === 'legacy') return channel.send({ jsonrpc: '2.0', method });
        const params = { _meta: { [SUBSCRIPTION]: stream } };
        return stream === undefined ? undefined : channel.send({ jsonrpc: '2.0', method, params });
      });
      await Promise.all(told);
    },
    stall() {
      let resume: () => void = () => undefined;
      const paused = new Promise<void>((resolve) => {
        resume = resolve;
      });
      stalled = paused;
      return () => {
        if (stalled === paused) stalled = undefined;
        resume();
      };
    },
    async crash() {
      await Promise.all([...channels].map((channel) => channel.close()));
    },
  };
}

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

function handshake(era: 'legacy' | 'modern', options: FakeServerOptions): Readonly<Record<string, Method>> {
  const { instructions, resources, prompts } = options;
  const capabilities = {
    tools: { listChanged: true },
    ...(resources && { resources: {} }),
    ...(prompts && { prompts: {} }),
  };
  const about = { capabilities, serverInfo: { name: 'fake', version: '1' }, ...(instructions && { instructions }) };
  return era === 'modern'
    ? { 'server/discover': () => ({ supportedVersions: [MODERN], ...about }) }
    : { initialize: () => ({ protocolVersion: LEGACY, ...about }), ping: () => ({}) };
}

const listed = (tools: FakeTools) =>
  Object.entries(tools).map(([name, { run: _run, inputSchema = { type: 'object' }, ...rest }]) => ({
    name,
    inputSchema,
    ...rest,
  }));

function resourceMethods({ resources }: FakeServerOptions): Readonly<Record<string, Method>> {
  if (resources === undefined) return {};
  return {
    'resources/list': () => ({ resources: Object.keys(resources).map((uri) => ({ uri, name: uri })) }),
    'resources/templates/list': () => ({ resourceTemplates: [] }),
    'resources/read': ({ uri }) => {
      const text = typeof uri === 'string' && Object.hasOwn(resources, uri) ? resources[uri] : undefined;
      if (text === undefined) throw new RpcError(-32602, `unknown resource ${String(uri)}`);
      return { contents: [{ uri, text }] };
    },
  };
}

function promptMethods({ prompts }: FakeServerOptions): Readonly<Record<string, Method>> {
  if (prompts === undefined) return {};
  return {
    'prompts/list': () => ({
      prompts: Object.entries(prompts).map(([name, { get: _get, ...rest }]) => ({ name, ...rest })),
    }),
    'prompts/get': async ({ name, arguments: args }) => {
      const prompt = typeof name === 'string' && Object.hasOwn(prompts, name) ? prompts[name] : undefined;
      if (prompt === undefined) throw new RpcError(-32602, `unknown prompt ${String(name)}`);
      const text = await prompt.get(isObject(args) ? args : {});
      return { messages: [{ role: 'user', content: { type: 'text', text } }] };
    },
  };
}

class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
