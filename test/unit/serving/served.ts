// Owns a served echo for tests: over HTTP with raw requests, and over pipes with raw lines. It ends with the test.

import { request as httpRequest } from 'node:http';
import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { byToken, withoutToken } from '../../../src/serving/access.ts';
import {
  createMcpServer,
  createServerIn,
  type HttpOptions,
  type McpServer,
  type McpServerOptions,
} from '../../../src/serving/mcp-server.ts';
import { createOwnService, type OwnTool } from '../../../src/serving/own-service.ts';
import type { Service } from '../../../src/serving/service.ts';
import type { ServingRoom } from '../../../src/serving/serving-room.ts';

export const MODERN = '2026-07-28';
export const TOKEN = 'a-token-that-is-long-enough-for-a-test';

const yesNo = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };

/** Tools that the tests share. */
export const tools: Record<string, OwnTool> = {
  echo: {
    description: 'Says it again.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    run: ({ text }) => String(text),
  },
  ask: {
    description: 'Asks for a yes.',
    async run(_, call) {
      const params = { message: 'Sure?', requestedSchema: yesNo };
      const { action, content } = await call.ask('elicitation/create', params, { key: 'sure' });
      return `${String(action)} ${JSON.stringify(content)}`;
    },
  },
  hang: {
    description: 'Waits until it is cancelled.',
    run: (_, call) =>
      new Promise((_resolve, reject) => call.signal.addEventListener('abort', () => reject(call.signal.reason))),
  },
  break: {
    description: 'Throws something odd.',
    run() {
      throw new Error('broken');
    },
  },
};

export const echoService = (more: Partial<Service> = {}): Service => ({
  ...createOwnService({
    ...{ name: 'echo', version: '1.0.0', tools },
    resources: { 'note://1': { name: 'note', read: () => 'noted' } },
    prompts: { hello: { description: 'Hello.', get: () => 'Hello' } },
  }),
  ...more,
});

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** The body as JSON, or the last event's data. */
  readonly message: Readonly<Record<string, JsonObject>> & { readonly id?: unknown };
  /** The data of all events. */
  readonly events: readonly JsonObject[];
}

export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent as it is. */
  readonly body?: unknown;
}

export interface ServedHttp {
  readonly server: McpServer;
  readonly url: string;
  readonly port: number;
  send(sent: Sent): Promise<HttpAnswer>;
  /** Opens a session and gives the headers of its requests. */
  open(capabilities?: JsonObject, version?: string): Promise<Readonly<Record<string, string>>>;
  /** One request of the modern era. */
  modern(method: string, params?: JsonObject, options?: ModernOptions): Promise<HttpAnswer>;
}

export interface ModernOptions {
  readonly capabilities?: JsonObject;
  readonly meta?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  readonly id?: number;
}

export const modernMeta = (capabilities: JsonObject = {}) => ({
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientCapabilities': capabilities,
});

export interface ServeOptions extends McpServerOptions {
  readonly service?: Service;
  readonly http?: Partial<HttpOptions>;
  /** Shared with other servers. */
  readonly room?: ServingRoom;
}

export async function serveHttp(given: ServeOptions = {}): Promise<ServedHttp> {
  const { service = echoService(), http, room, ...options } = given;
  const server = room === undefined ? createMcpServer(service, options) : createServerIn(room, service, options);
  const { url, port } = await server.listen({ port: 0, authenticate: withoutToken, ...http });
  onTestFinished(() => server.close({ drainMs: 0 }));
  const send = (sent: Sent) => sendTo(url, sent);
  return {
    ...{ server, url, port, send },
    async open(capabilities = {}, version = '2025-11-25') {
      const params = { protocolVersion: version, capabilities, clientInfo: { name: 'test', version: '1' } };
      const opened = await send({ body: { jsonrpc: '2.0', id: 'init', method: 'initialize', params } });
      return { 'mcp-session-id': String(opened.headers['mcp-session-id']), 'mcp-protocol-version': version };
    },
    modern: (method, params = {}, { capabilities, meta, headers, id = 1 } = {}) =>
      send({
        body: { jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...modernMeta(capabilities), ...meta } } },
        headers: {
          'mcp-protocol-version': MODERN,
          'mcp-method': method,
          ...(typeof params['name'] === 'string' && { 'mcp-name': params['name'] }),
          ...(typeof params['uri'] === 'string' && { 'mcp-name': params['uri'] }),
          ...headers,
        },
      }),
  };
}

export const tokenAccess = byToken(TOKEN);

export function sendTo(url: string, { method = 'POST', path, headers, body }: Sent): Promise<HttpAnswer> {
  const target = path === undefined ? url : new URL(path, url);
  const standard = {
    ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    // As nearly all clients do; a connection that ends with its answer is Node's, and is for `plain-connection.test.ts` to compare.
    connection: 'keep-alive',
  };
  return new Promise((resolve, reject) => {
    const sending = httpRequest(target, { method, headers: { ...standard, ...headers }, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve(answerOf(response.statusCode ?? 0, response.headers, text));
      });
    });
    sending.on('error', reject);
    sending.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
  });
}

function answerOf(status: number, headers: HttpAnswer['headers'], body: string): HttpAnswer {
  const events = eventsIn(body);
  const message = events.at(-1) ?? (body.startsWith('{') ? JSON.parse(body) : {});
  return { status, headers, body, events, message };
}

export const eventsIn = (text: string): readonly JsonObject[] =>
  [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''));

export interface ServedPipes<Server = Pick<McpServer, 'stdio'>> {
  readonly server: Server;
  readonly input: PassThrough;
  /** The messages written so far. */
  readonly said: readonly JsonObject[];
  /** Resolves with the message with that id. */
  answer(id: unknown): Promise<JsonObject>;
  write(message: unknown): void;
  readonly done: Promise<void>;
}

export const servePipes = ({ service = echoService(), ...options }: ServeOptions = {}): ServedPipes<McpServer> =>
  connectPipes(createMcpServer(service, options));

export function connectPipes<Server extends Pick<McpServer, 'stdio'>>(server: Server): ServedPipes<Server> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const said: JsonObject[] = [];
  const waiting: (() => void)[] = [];
  let rest = '';
  output.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    said.push(...lines.map((line) => JSON.parse(line)));
    for (const look of waiting.splice(0)) look();
  });
  return {
    ...{ server, input, said, done: server.stdio({ input, output }) },
    write: (message) => input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
    async answer(id) {
      for (;;) {
        const found = said.find((message) => message['id'] === id && message['method'] === undefined);
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}

export const initialize = (capabilities: JsonObject = {}, version = '2025-11-25') => ({
  ...{ jsonrpc: '2.0', id: 'init', method: 'initialize' },
  params: { protocolVersion: version, capabilities, clientInfo: { name: 'test', version: '1' } },
});
