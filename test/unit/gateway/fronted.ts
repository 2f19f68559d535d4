// Owns a gateway for tests: in front of the servers that a test names, over HTTP, with raw requests of both eras. It ends with the test.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Runtime, RuntimeOptions } from '../../../src/api.ts';
import { createGateway, type Gateway, type GatewayOptions, gatewayHandlers } from '../../../src/gateway/gateway.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { withoutToken } from '../../../src/serving/access.ts';
import { createFolder, start } from '../../e2e/runtimes.ts';
import { type HttpAnswer, initialize, MODERN, modernMeta, type Sent, sendTo } from '../serving/served.ts';

export interface Fronted {
  readonly gateway: Gateway;
  readonly runtime: Runtime;
  readonly url: string;
  send(path: string, sent: Sent): Promise<HttpAnswer>;
  /** One request of the modern era. */
  modern(path: string, method: string, params?: JsonObject, options?: FrontedOptions): Promise<HttpAnswer>;
  /** Listens as a modern client, until the test ends; resolves with what it hears, once the first message has come. */
  listen(path: string, notifications: JsonObject): Promise<readonly JsonObject[]>;
  /** Opens a session of the older era. */
  open(path: string, options?: FrontedOptions): Promise<FrontedSession>;
}

export interface FrontedOptions {
  readonly capabilities?: JsonObject;
  readonly meta?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  /** Answers the questions that come on the stream of the session. */
  readonly answer?: (question: JsonObject) => JsonObject;
}

export interface FrontedSession {
  readonly opened: HttpAnswer;
  /** Every message of the server that was no answer to a request of the test. */
  readonly heard: JsonObject[];
  request(method: string, params?: JsonObject): Promise<HttpAnswer>;
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Ends the session, as its client. */
  end(): Promise<void>;
  /** Sends a call and answers the question that comes on its stream. */
  answering(method: string, params: JsonObject, answer: (question: JsonObject) => JsonObject): Promise<JsonObject>;
}

export interface FrontOptions extends Partial<GatewayOptions> {
  readonly runtime?: RuntimeOptions;
}

export async function front(servers: RuntimeOptions['servers'], options: FrontOptions = {}): Promise<Fronted> {
  const { runtime: runtimeOptions, ...own } = options;
  const runtime = await start(createFolder(), { ...gatewayHandlers(), servers, ...runtimeOptions } as RuntimeOptions);
  const gateway = createGateway(runtime, {
    authenticate: withoutToken,
    onError: (error) => errors.push(error),
    ...own,
  });
  const errors: unknown[] = [];
  const host = createServer((request, response) => void gateway.handler(request, response));
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  onTestFinished(async () => {
    await gateway.close({ drainMs: 0 });
    host.closeAllConnections();
    await new Promise((resolve) => host.close(resolve));
  });
  const send = (path: string, sent: Sent) => sendTo(`${url}${path}`, sent);
  return {
    ...{ gateway, runtime, url, send },
    modern: (path, method, params = {}, { capabilities, meta, headers } = {}) =>
      send(path, {
        body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { ...modernMeta(capabilities), ...meta } } },
        headers: {
          'mcp-protocol-version': MODERN,
          'mcp-method': method,
          ...(typeof params['name'] === 'string' && { 'mcp-name': params['name'] }),
          ...(typeof params['uri'] === 'string' && { 'mcp-name': params['uri'] }),
          ...headers,
        },
      }),
    listen: (path, notifications) => listenAt(`${url}${path}`, notifications),
    open: (path, options) => openSession(`${url}${path}`, options),
  };
}

async function listenAt(url: string, notifications: JsonObject): Promise<readonly JsonObject[]> {
  const method = 'subscriptions/listen';
  const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': method };
  const accept = 'application/json, text/event-stream';
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const { body } = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 'listen', method, params: { notifications, _meta: modernMeta() } }),
  });
  const heard: JsonObject[] = [];
  const messages = messagesIn(body, stop.signal);
  const { value: first } = await messages.next();
  if (first !== undefined) heard.push(first);
  const hear = async () => {
    for await (const message of messages) heard.push(message);
  };
  void hear();
  return heard;
}

async function openSession(
  url: string,
  { capabilities = {}, headers: given = {}, answer: answerTo }: FrontedOptions = {},
): Promise<FrontedSession> {
  const opened = await sendTo(url, { body: initialize(capabilities), headers: given });
  const headers = { ...given, 'mcp-session-id': String(opened.headers['mcp-session-id']) };
  const heard: JsonObject[] = [];
  let last = 0;
  const post = (body: JsonObject) => sendTo(url, { body: { jsonrpc: '2.0', ...body }, headers });
  const listening = fetch(url, { headers: { ...headers, accept: 'text/event-stream' } });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  // Resolved with the headers, and ended with the test.
  const hear = async ({ body }: Response) => {
    for await (const message of messagesIn(body, stop.signal)) {
      heard.push(message);
      const isQuestion = message['id'] !== undefined && message['method'] !== undefined;
      if (isQuestion && answerTo !== undefined) await post({ id: message['id'], ...answerTo(message) });
    }
  };
  void listening.then(hear).catch(String);
  return {
    opened,
    heard,
    request: (method, params = {}) => post({ id: ++last, method, params }),
    async notify(method, params = {}) {
      await post({ method, params });
    },
    async end() {
      await sendTo(url, { method: 'DELETE', headers });
    },
    async answering(method, params, answer) {
      const id = ++last;
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      });
      if (response.headers.get('content-type') === 'application/json') return (await response.json()) as JsonObject;
      for await (const message of messagesIn(response.body, stop.signal)) {
        if (message['id'] === id && message['method'] === undefined) return message;
        if (message['id'] === undefined) heard.push(message);
        else await post({ id: message['id'], ...answer(message) });
      }
      throw new Error(`the stream of ${method} ended without an answer`);
    },
  };
}

async function* messagesIn(body: ReadableStream<Uint8Array> | null, signal: AbortSignal): AsyncGenerator<JsonObject> {
  if (body === null) return;
  let text = '';
  const reader = body.getReader();
  signal.addEventListener('abort', () => void reader.cancel().catch(String));
  for (;;) {
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }) as const);
    if (done) return;
    text += Buffer.from(value).toString();
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const data = /^data: (\{.*)$/m.exec(event)?.[1];
      if (data !== undefined) yield JSON.parse(data);
    }
  }
}
