// Owns a real MCP server inside the host, for tests: its tools are functions, it speaks either era and records every call.

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

export interface FakeServer {
  /** For `createRuntime({ servers: { name: server.entry } })`. */
  readonly entry: { readonly serve: (channel: Channel) => Promise<void> };
  /** The tool calls so far, in order. */
  readonly calls: readonly { readonly tool: string; readonly arguments: unknown }[];
  /** Closes every connection, as a crash would. */
  crash(): Promise<void>;
}

const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';

export function createFakeServer(
  tools: Readonly<Record<string, FakeTool>>,
  era: 'legacy' | 'modern' = 'legacy',
): FakeServer {
  const calls: { tool: string; arguments: unknown }[] = [];
  const channels = new Set<Channel>();

  const list = Object.entries(tools).map(([name, { run: _run, inputSchema = { type: 'object' }, ...rest }]) => ({
    name,
    inputSchema,
    ...rest,
  }));
  const capabilities = { tools: {} };
  const serverInfo = { name: 'fake', version: '1' };

  const callTool = async (params: JsonObject): Promise<JsonObject> => {
    const name = String(params['name']);
    calls.push({ tool: name, arguments: params['arguments'] });
    const tool = tools[name];
    if (tool === undefined) throw new RpcError(-32602, `unknown tool ${name}`);
    try {
      const answer = await tool.run(isObject(params['arguments']) ? params['arguments'] : {});
      return typeof answer === 'string' ? { content: [{ type: 'text', text: answer }] } : answer;
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      return { content: [{ type: 'text', text }], isError: true };
    }
  };

  const methods: Record<string, (params: JsonObject) => JsonObject | Promise<JsonObject>> = {
    'tools/list': () => ({ tools: list }),
    'tools/call': callTool,
    ...(era === 'modern'
      ? { 'server/discover': () => ({ supportedVersions: [MODERN], capabilities, serverInfo }) }
      : { initialize: () => ({ protocolVersion: LEGACY, capabilities, serverInfo }), ping: () => ({}) }),
  };

  const answer = async (message: Message): Promise<Message | undefined> => {
    const { id, method, params } = message;
    if (id === undefined || typeof method !== 'string') return undefined;
    const perform = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (perform === undefined) return { jsonrpc: '2.0', id, error: { code: -32601, message: `no method ${method}` } };
    try {
      const result = await perform(isObject(params) ? params : {});
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
        channel.onclose = () => channels.delete(channel);
        channel.onmessage = async (message) => {
          const reply = await answer(message);
          if (reply && channels.has(channel)) await channel.send(reply);
        };
        await channel.start();
      },
    },
    async crash() {
      await Promise.all([...channels].map((channel) => channel.close()));
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
