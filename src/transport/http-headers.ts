// Owns the headers of what we send: ours win over those of the entry, whatever the case they are written in.

import { unescape as decoded } from 'node:querystring';
import { encodeHeaderValue } from '../kernel/header-value.ts';
import { isObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import { identity } from '../model/identity.ts';
import type { ServerName } from '../model/names.ts';
import type { Message } from '../model/server.ts';

/** Names and values in turn: made once, and sent as they are with every message. */
export type HeaderBlock = readonly string[];

export type Headers = Readonly<Record<string, string>>;

/** What the connection or the message decides is not for an entry to say. */
const OWN = new Set([
  ...['accept', 'accept-encoding', 'content-type', 'content-length', 'content-encoding', 'host', 'last-event-id'],
  ...['connection', 'keep-alive', 'transfer-encoding', 'te', 'trailer', 'upgrade', 'expect'],
  ...['proxy-authorization', 'proxy-connection'],
  ...['mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name'],
]);

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The entry's headers as they are sent. Fails before anything is, and never shows a value: most of them are secrets. */
export function configuredHeaders(server: ServerName, headers: Headers): HeaderBlock {
  const block: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (!NAME.test(name)) throw invalid(server, `has a header ${JSON.stringify(name)}, which is no name for one`);
    if (!VALUE.test(value)) throw invalid(server, `has a header "${name}" with a value that no header can have`);
    if (!OWN.has(name.toLowerCase())) block.push(name, value);
  }
  return hasHeader(block, 'user-agent') ? block : [...block, 'user-agent', `${identity.name}/${identity.version}`];
}

function invalid(server: ServerName, problem: string): RuntimeError {
  return new RuntimeError('CONFIG_INVALID', { problem: `server "${server}" ${problem}` });
}

export function hasHeader(block: HeaderBlock, name: string): boolean {
  return block.some((each, index) => index % 2 === 0 && each.toLowerCase() === name);
}

/** What one message adds. It may replace a header of the entry, but for what proves who we are. */
export function withMessageHeaders(block: HeaderBlock, headers: Headers | undefined): HeaderBlock {
  if (headers === undefined) return block;
  const added = Object.entries(headers).filter(([name]) => isFree(name.toLowerCase()));
  if (added.length === 0) return block;
  const replaced = new Set(added.map(([name]) => name.toLowerCase()));
  const kept = block.filter((_, index) => !replaced.has((block[index - (index % 2)] as string).toLowerCase()));
  return [...kept, ...added.flat()];
}

const isFree = (name: string) => !OWN.has(name) && name !== 'authorization' && name !== 'dpop';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

/** The version that a message of the modern era carries with it; nothing for one of the older era. */
export function modernVersionOf(message: Message): string | undefined {
  const params = message['params'];
  const meta = isObject(params) ? params['_meta'] : undefined;
  const version = isObject(meta) ? meta[VERSION_KEY] : undefined;
  return typeof version === 'string' ? version : undefined;
}

/** What both sides have agreed on, by the answer to the handshake of the older era. */
export function agreedVersion({ result }: Message): string | undefined {
  const version = isObject(result) ? result['protocolVersion'] : undefined;
  return typeof version === 'string' ? headerValue(version) : undefined;
}

/** Which of its parameters a message is about. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** What the modern era wants to be readable without opening the message, so that it can be routed by it. */
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

/** Text of a server that is sent back to it, as the bytes it is made of. Nothing for what no header can carry. */
export function headerValue(text: string): string | undefined {
  const bytes = Buffer.from(text, 'utf8').toString('latin1');
  return VALUE.test(bytes) ? bytes : undefined;
}

/** A login as it stands in an address, as the value of a header. */
export function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`;
}
