// Owns the headers of HTTP requests: those of the protocol win over those of the entry, in any spelling of upper and lower case.

import { unescape as decoded } from 'node:querystring';
import { encodeHeaderValue } from '../kernel/header-value.ts';
import { isObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import { identity } from '../model/identity.ts';
import type { ServerName } from '../model/names.ts';
import type { Message } from '../model/server.ts';

/** Names and values in turn, built once and sent with every message. */
export type HeaderBlock = readonly string[];

/** Added to every request that carries a message. */
export const MESSAGE_HEADERS: HeaderBlock = [
  'accept',
  'application/json, text/event-stream',
  'content-type',
  'application/json',
];

/** Added to every request for an event stream. */
export const STREAM_HEADERS: HeaderBlock = ['accept', 'text/event-stream'];

export type Headers = Readonly<Record<string, string>>;

/** Headers that the connection or the message decides; an entry cannot set them. */
const RESERVED = new Set([
  ...['accept', 'accept-encoding', 'content-type', 'content-length', 'content-encoding', 'host', 'last-event-id'],
  ...['connection', 'keep-alive', 'transfer-encoding', 'te', 'trailer', 'upgrade', 'expect'],
  ...['proxy-authorization', 'proxy-connection'],
  ...['mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name'],
]);

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The entry's headers as they are sent. Throws before anything is sent, and never shows a value: most values are secrets. */
export function configuredHeaders(server: ServerName, headers: Headers): HeaderBlock {
  const block: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (!NAME.test(name))
      throw invalid(server, `has a header ${JSON.stringify(name)}, which is not a valid header name`);
    if (!VALUE.test(value)) throw invalid(server, `has a header "${name}" with characters that no header can hold`);
    if (!RESERVED.has(name.toLowerCase())) block.push(name, value);
  }
  return hasHeader(block, 'user-agent') ? block : [...block, 'user-agent', `${identity.name}/${identity.version}`];
}

function invalid(server: ServerName, problem: string): RuntimeError {
  return new RuntimeError('CONFIG_INVALID', { problem: `server "${server}" ${problem}` });
}

export function hasHeader(block: HeaderBlock, name: string): boolean {
  return block.some((each, index) => index % 2 === 0 && each.toLowerCase() === name);
}

/** Adds the headers of one message. They may replace headers of the entry, except those that authenticate the client. */
export function withMessageHeaders(block: HeaderBlock, headers: Headers | undefined): HeaderBlock {
  if (headers === undefined) return block;
  const added = Object.entries(headers).filter(([name]) => isReplaceable(name.toLowerCase()));
  if (added.length === 0) return block;
  const replaced = new Set(added.map(([name]) => name.toLowerCase()));
  const kept = block.filter((_, index) => !replaced.has((block[index - (index % 2)] as string).toLowerCase()));
  return [...kept, ...added.flat()];
}

const isReplaceable = (name: string) => !RESERVED.has(name) && name !== 'authorization' && name !== 'dpop';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

/** The protocol version that a message of the modern era carries; `undefined` for a message of the older era. */
export function modernVersionOf(message: Message): string | undefined {
  const params = message['params'];
  const meta = isObject(params) ? params['_meta'] : undefined;
  const version = isObject(meta) ? meta[VERSION_KEY] : undefined;
  return typeof version === 'string' ? version : undefined;
}

/** The protocol version in the answer to `initialize`, as a header value. */
export function agreedVersion({ result }: Message): string | undefined {
  const version = isObject(result) ? result['protocolVersion'] : undefined;
  return typeof version === 'string' ? headerValue(version) : undefined;
}

/** The parameter that names the subject of a message. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** The modern era repeats these parts of a message as headers, so that proxies can route it without reading the body. */
export function modernHeaders(message: Message, version: string): HeaderBlock {
  const { method, params } = message;
  const block = ['mcp-protocol-version', encodeHeaderValue(version)];
  if (typeof method !== 'string') return block;
  block.push('mcp-method', encodeHeaderValue(method));
  const field = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined;
  const name = field !== undefined && isObject(params) ? params[field] : undefined;
  if (typeof name === 'string') block.push('mcp-name', encodeHeaderValue(name));
  return block;
}

/** A server's own text as a header value, byte for byte. `undefined` if no header can carry it. */
export function headerValue(text: string): string | undefined {
  const bytes = Buffer.from(text, 'utf8').toString('latin1');
  return VALUE.test(bytes) ? bytes : undefined;
}

/** The user name and password of a URL as the value of an Authorization header. */
export function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`;
}
