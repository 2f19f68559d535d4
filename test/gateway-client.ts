// Owns a light client of the gateway in either era, over HTTP: one request at a time or many, each answered once or failed. Knows no test
// framework.

import { Agent, request } from 'node:http';
import type { JsonObject } from '../src/kernel/json.ts';

export type Era = 'legacy' | 'modern';

export interface GatewayClient {
  readonly era: Era;
  /** Resolves with the answer: a message with `result` or `error`. Rejects if the answer does not belong to the request. */
  ask(method: string, params?: JsonObject): Promise<JsonObject>;
  close(): Promise<void>;
}

const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';

export interface ClientOptions {
  readonly era: Era;
  readonly url: string;
  readonly name: string;
  readonly capabilities?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function openGatewayClient(options: ClientOptions): Promise<GatewayClient> {
  const { era, url, name, capabilities = {}, headers = {} } = options;
  const agent = new Agent({ keepAlive: true });
  const clientInfo = { name, version: '1.0.0' };
  let last = 0;
  let session: Readonly<Record<string, string>> = {};

  const send = (message: JsonObject, more: Readonly<Record<string, string>>, verb = 'POST') =>
    new Promise<{ readonly status: number; readonly session: string | undefined; readonly text: string }>(
      (resolve, reject) => {
        const sent = request(
          url,
          {
            ...{ method: verb, agent },
            headers: {
              ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
              ...headers,
              ...more,
            },
          },
          (response) => {
            let text = '';
            response.setEncoding('utf8').on('data', (chunk) => {
              text += chunk;
            });
            response.on('error', reject).on('end', () => {
              const id = response.headers['mcp-session-id'];
              resolve({ status: response.statusCode ?? 0, session: typeof id === 'string' ? id : undefined, text });
            });
          },
        );
        sent.on('error', reject);
        sent.end(verb === 'POST' ? JSON.stringify(message) : undefined);
      },
    );

  const ask = async (method: string, params: JsonObject = {}): Promise<JsonObject> => {
    const id = `${name} ${++last}`;
    const { status, text } = await send(
      { jsonrpc: '2.0', id, method, params: inEra(params) },
      headersOf(method, params),
    );
    const answers = messagesIn(text).filter((message) => message['method'] === undefined);
    if (answers.length !== 1 || answers[0]?.['id'] !== id)
      throw new Error(`${method} of "${id}" was answered ${status} with ${text || 'nothing'}`);
    return answers[0];
  };
  const inEra = (params: JsonObject): JsonObject =>
    era === 'legacy'
      ? params
      : {
          ...params,
          _meta: {
            ...(params['_meta'] as JsonObject | undefined),
            'io.modelcontextprotocol/protocolVersion': MODERN,
            'io.modelcontextprotocol/clientCapabilities': capabilities,
            'io.modelcontextprotocol/clientInfo': clientInfo,
          },
        };
  const headersOf = (method: string, { name: named, uri }: JsonObject): Readonly<Record<string, string>> => {
    if (era === 'legacy') return session;
    const target = typeof named === 'string' ? named : uri;
    return {
      ...{ 'mcp-protocol-version': MODERN, 'mcp-method': method },
      ...(typeof target === 'string' && { 'mcp-name': target }),
    };
  };

  if (era === 'legacy') {
    const params = { protocolVersion: LEGACY, capabilities, clientInfo };
    const opened = await send({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, {});
    if (opened.session === undefined) throw new Error(`no session: ${opened.status} ${opened.text}`);
    session = { 'mcp-session-id': opened.session, 'mcp-protocol-version': LEGACY };
    await send({ jsonrpc: '2.0', method: 'notifications/initialized' }, session);
  }
  return {
    era,
    ask,
    async close() {
      if (era === 'legacy') await send({}, session, 'DELETE');
      agent.destroy();
    },
  };
}

function messagesIn(text: string): readonly JsonObject[] {
  if (text.startsWith('{')) return [JSON.parse(text)];
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''));
}
