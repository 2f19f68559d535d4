// Owns a server made of the host's own functions: they become tools like those of any other server, with the same rules,
// approvals, events and shaping. It speaks the modern era only, since its one client is the runtime.

import { isObject, type JsonObject, parseJson } from '../kernel/json.ts';
import type { Channel, InProcessLaunch, Message, MessageId } from '../model/server.ts';
import type { ToolAnnotations } from '../model/tool.ts';

/** One function of the host, as a tool. */
export interface HostTool {
  readonly title?: string;
  /** The text that a model reads about the tool. */
  readonly description?: string;
  /** The JSON Schema of the arguments, which are checked before `run` is called. Default: any object. */
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  /**
   * A text is the result as it is; an object with a list `content` is a whole MCP result; any other value is sent as JSON. Throwing
   * makes a result with `isError`, which tells the model the error's message.
   */
  readonly run: (args: JsonObject, context: HostToolContext) => unknown;
}

export interface HostToolContext {
  /** Aborts when the call is cancelled, or runs out of time. */
  readonly signal: AbortSignal;
  /** The `_meta` of the request. */
  readonly meta: JsonObject;
  /** Reaches the `onProgress` of the call, and starts its time limit for silence anew. */
  readonly progress: (progress: number, details?: { readonly total?: number; readonly message?: string }) => void;
}

/** For `createRuntime({ servers: { name: serveTools({ … }) } })`; settings of a server may stand beside it. */
export function serveTools(tools: Readonly<Record<string, HostTool>>): Pick<InProcessLaunch, 'serve'> {
  return {
    async serve(channel) {
      const served = new ServedTools(tools, channel);
      channel.onmessage = (message) => served.receive(message);
      channel.onclose = () => served.cancelAll();
      await channel.start();
    },
  };
}

const PROTOCOL = '2026-07-28';
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;

/** The tools on one connection. */
class ServedTools {
  readonly #tools: ReadonlyMap<string, HostTool>;
  readonly #channel: Channel;
  readonly #running = new Map<MessageId, AbortController>();

  constructor(tools: Readonly<Record<string, HostTool>>, channel: Channel) {
    this.#tools = new Map(Object.entries(tools));
    this.#channel = channel;
  }

  receive({ id, method, params }: Message): void {
    const given = isObject(params) ? params : {};
    if (method === 'notifications/cancelled') this.#running.get(given['requestId'] as MessageId)?.abort();
    if (typeof id !== 'string' && typeof id !== 'number') return;
    if (method === 'tools/call') void this.#call(id, given);
    else this.#answer(id, this.#answerTo(method));
  }

  cancelAll(): void {
    for (const controller of this.#running.values()) controller.abort();
  }

  #answerTo(method: unknown): JsonObject {
    switch (method) {
      case 'server/discover':
        return result({
          supportedVersions: [PROTOCOL],
          capabilities: { tools: {} },
          serverInfo: { name: 'host', version: '1' },
        });
      case 'tools/list':
        return result({ tools: [...this.#tools].map(([name, tool]) => definitionOf(name, tool)) });
      case 'ping':
        return result({});
      default:
        return failure(METHOD_NOT_FOUND, `there is no method ${String(method)}`);
    }
  }

  async #call(id: MessageId, { name, arguments: args, _meta: sent }: JsonObject): Promise<void> {
    const tool = this.#tools.get(String(name));
    if (tool === undefined) return this.#answer(id, failure(INVALID_PARAMS, `there is no tool ${String(name)}`));
    const controller = new AbortController();
    this.#running.set(id, controller);
    const { progressToken, ...meta } = isObject(sent) ? sent : {};
    const { signal } = controller;
    const progress: HostToolContext['progress'] = (done, details) =>
      this.#notify('notifications/progress', { progressToken, progress: done, ...details });
    const answer = await resultOf(async () => tool.run(isObject(args) ? args : {}, { signal, meta, progress }));
    this.#running.delete(id);
    this.#answer(id, result(answer));
  }

  #notify(method: string, params: JsonObject): void {
    this.#send({ jsonrpc: '2.0', method, params });
  }

  #answer(id: MessageId, answer: JsonObject): void {
    this.#send({ jsonrpc: '2.0', id, ...answer });
  }

  /** A closed connection takes no message: what still runs is of no use to a caller any more. */
  #send(message: Message): void {
    this.#channel.send(message).catch(() => this.cancelAll());
  }
}

const result = (value: JsonObject): JsonObject => ({ result: { resultType: 'complete', ...value } });
const failure = (code: number, message: string): JsonObject => ({ error: { code, message } });
const textResult = (text: string): JsonObject => ({ content: [{ type: 'text', text }] });

function definitionOf(name: string, { run: _run, inputSchema = { type: 'object' }, ...rest }: HostTool): JsonObject {
  return { name, inputSchema, ...rest };
}

/** The host keeps its objects: a result is a copy of them, as JSON. */
async function resultOf(run: () => Promise<unknown>): Promise<JsonObject> {
  try {
    const value = await run();
    if (typeof value === 'string') return textResult(value);
    const json = JSON.stringify(value);
    const copied = json === undefined ? undefined : parseJson(json);
    if (!copied?.ok) return { content: [] };
    if (!isObject(copied.value)) return textResult(json);
    return Array.isArray(copied.value['content']) ? copied.value : { content: [], structuredContent: copied.value };
  } catch (error) {
    return { ...textResult(error instanceof Error ? error.message : String(error)), isError: true };
  }
}
