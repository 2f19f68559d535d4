// Owns the scripted model server: real HTTP on loopback, one script for all four APIs, and every request kept for the test to read.
// Knows no test framework: the tests that run with a newer Node use it too. The caller closes it.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isObject, type JsonObject, parseJson } from '../../../src/kernel/json.ts';
import { chatCompletions } from './chat-completions.ts';
import { generateContent } from './generate-content.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';
import type { Fault, ModelApi, ModelRequest, NumberedReply, Reply, ScriptedStep, Step } from './script.ts';

const apis: readonly ModelApi[] = [chatCompletions, responses, messages, generateContent];
const DEFAULT_USAGE = { input: 10, output: 5 };
const MODEL = 'scripted';

export interface ModelServer {
  /** Without a path: OpenAI's clients take `${url}/v1`, those of Anthropic and Google take it as it is. */
  readonly url: string;
  /** The requests to the model so far, oldest first. */
  readonly requests: readonly ModelRequest[];
  close(): Promise<void>;
}

/** Each request to a model takes the next step, whichever API it came by; beyond the last step the answer is status 500. */
export async function startModelServer(script: readonly ScriptedStep[]): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  let calls = 0;
  const number = (reply: Reply, model: string): NumberedReply => ({
    number: requests.length,
    model,
    text: reply.text ?? (reply.calls === undefined ? '' : undefined),
    calls: (reply.calls ?? []).map(({ id = `call_${++calls}`, name, arguments: args = {} }) => ({
      id,
      name,
      arguments: args,
    })),
    usage: reply.usage ?? DEFAULT_USAGE,
  });
  const answer = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = new URL(message.url ?? '/', 'http://127.0.0.1').pathname;
    const body = await bodyOf(message);
    const api = message.method === 'POST' ? apis.find((each) => each.serves(path)) : undefined;
    if (api === undefined) {
      const list = message.method === 'GET' ? modelList(path, message.headers) : undefined;
      return sendJson(response, list ? 200 : 404, list ?? { error: { message: `nothing is served at ${path}` } });
    }
    const refusal = api.refusal?.(body);
    if (refusal !== undefined) return sendJson(response, 400, api.error(400, refusal));
    const request: ModelRequest = { api: api.name, path, headers: message.headers, body };
    const scripted = script[requests.push(request) - 1];
    if (scripted === undefined)
      return sendJson(response, 500, api.error(500, `the script ends after ${script.length} steps`));
    const step: Step = typeof scripted === 'function' ? await scripted(request) : scripted;
    const model = typeof body['model'] === 'string' ? body['model'] : MODEL;
    const written = (reply: Reply): Written => write(api, number(reply, model), path, body);
    if ('fault' in step) return fail(response, step, { api, written });
    const { type, pieces } = written(step);
    response.writeHead(200, { 'content-type': type });
    for (const piece of pieces) response.write(piece);
    response.end();
  };
  const server = createServer((message, response) => {
    answer(message, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A reply as it goes over the wire, in pieces. */
interface Written {
  readonly type: string;
  readonly pieces: readonly string[];
}

function write(api: ModelApi, reply: NumberedReply, path: string, body: JsonObject): Written {
  if (!api.isStream(path, body)) return { type: 'application/json', pieces: [JSON.stringify(api.whole(reply))] };
  const pieces = api.events(reply, body).map(({ event, data }) => {
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;
  });
  return { type: 'text/event-stream', pieces };
}

interface FaultContext {
  readonly api: ModelApi;
  readonly written: (reply: Reply) => Written;
}

function fail(response: ServerResponse, fault: Fault, { api, written }: FaultContext): void {
  switch (fault.fault) {
    case 'status': {
      const { status, message = `status ${status}, as the script says`, retryAfterSec } = fault;
      if (retryAfterSec !== undefined) response.setHeader('retry-after', String(retryAfterSec));
      sendJson(response, status, api.error(status, message));
      return;
    }
    case 'garbage':
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('<html>not what was asked for');
      return;
    case 'cut':
      writeHalf(response, written(fault.reply), () => response.destroy());
      return;
    case 'stall':
      if (fault.reply !== undefined) writeHalf(response, written(fault.reply), () => undefined);
      return;
  }
}

function writeHalf(response: ServerResponse, { type, pieces }: Written, sent: () => void): void {
  const whole = pieces.join('');
  response.writeHead(200, { 'content-type': type });
  response.write(whole.slice(0, whole.length / 2), sent);
}

function sendJson(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function bodyOf(message: IncomingMessage): Promise<JsonObject> {
  let text = '';
  for await (const chunk of message.setEncoding('utf8')) text += chunk;
  const parsed = parseJson(text);
  return parsed.ok && isObject(parsed.value) ? parsed.value : {};
}

/** The one model, listed as OpenAI, Anthropic or Google lists its own. */
function modelList(path: string, headers: IncomingMessage['headers']): JsonObject | undefined {
  if (path === '/v1beta/models') return { models: [{ name: `models/${MODEL}`, displayName: MODEL }] };
  if (path !== '/v1/models') return undefined;
  if (headers['anthropic-version'] === undefined)
    return { object: 'list', data: [{ id: MODEL, object: 'model', created: 1_700_000_000, owned_by: 'plexus' }] };
  const model = { type: 'model', id: MODEL, display_name: MODEL, created_at: '2026-01-01T00:00:00Z' };
  return { data: [model], has_more: false, first_id: MODEL, last_id: MODEL };
}
