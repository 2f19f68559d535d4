// Owns reading a modern request's own description of itself: which era a message is of, its `_meta`, and whether the HTTP headers
// that mirror the body agree with it.

import { decodeHeaderValue } from '../kernel/header-value.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { paramHeaders } from '../model/param-headers.ts';
import type { ClientNotification, ClientRequest } from './message.ts';
import { codes, invalidParams, legacyVersions, metaKeys, modernVersions, ProtocolError } from './protocol.ts';
import { metaOf } from './running-call.ts';
import type { Peer, Principal } from './service.ts';

/** The headers of a request by their names in lower case, as Node has them. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

export const headerOf = (headers: RequestHeaders, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
};

/** A message of the modern era names its revision itself; `server/discover` exists in no other. */
export function isModern(method: string, params: JsonObject, headers: RequestHeaders = {}): boolean {
  const named = metaOf(params)[metaKeys.version];
  if (named !== undefined) return !legacyVersions.includes(named as string);
  if (method === 'server/discover') return true;
  const version = headerOf(headers, 'mcp-protocol-version');
  return version !== undefined && headers['mcp-session-id'] === undefined && !legacyVersions.includes(version);
}

/** Throws what the protocol wants for a request that does not describe itself, or whose revision we do not have. */
export function modernPeer(
  { params }: Pick<ClientRequest, 'params'>,
  principal: Principal,
  headers?: RequestHeaders,
): Peer {
  const meta = metaOf(params);
  const version = meta[metaKeys.version];
  const capabilities = meta[metaKeys.clientCapabilities];
  if (typeof version !== 'string') throw invalidParams(`_meta must have ${metaKeys.version}`);
  if (!isObject(capabilities)) throw invalidParams(`_meta must have ${metaKeys.clientCapabilities}`);
  if (headers !== undefined) assertSame('MCP-Protocol-Version', headerOf(headers, 'mcp-protocol-version'), version);
  if (!modernVersions.includes(version))
    throw new ProtocolError(codes.unsupportedVersion, 'Unsupported protocol version', {
      supported: modernVersions,
      requested: version,
    });
  const client = meta[metaKeys.clientInfo];
  return {
    ...{ era: 'modern', protocolVersion: version, principal, capabilities, session: undefined },
    client: isObject(client) ? client : undefined,
  };
}

/** The sender of a notification that the protocol does not define; `undefined` where it does not describe itself. */
export function notifierOf(
  message: ClientNotification,
  principal: Principal,
  headers?: RequestHeaders,
): Peer | undefined {
  if (message.method.startsWith('notifications/')) return undefined;
  try {
    return modernPeer(message, principal, headers);
  } catch (error) {
    if (error instanceof ProtocolError) return undefined;
    throw error;
  }
}

/** Parameters that the header `Mcp-Name` mirrors. */
const namedBy: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);

export function assertHeaders({ method, params }: ClientRequest, headers: RequestHeaders): void {
  assertSame('Mcp-Method', headerOf(headers, 'mcp-method'), method);
  const key = namedBy.get(method);
  const name = key === undefined ? undefined : params[key];
  if (typeof name === 'string') assertSame('Mcp-Name', decoded('Mcp-Name', headerOf(headers, 'mcp-name')), name);
}

/** The headers that a tool's schema declares with `x-mcp-header`. */
export function assertParamHeaders(schema: JsonObject, { params }: ClientRequest, headers: RequestHeaders): void {
  const args = isObject(params['arguments']) ? params['arguments'] : {};
  for (const [name, expected] of Object.entries(paramHeaders(schema, args)))
    assertSame(name, decoded(name, headerOf(headers, name.toLowerCase())), decoded(name, expected));
}

function decoded(name: string, value: string | undefined): string | undefined {
  const text = value === undefined ? undefined : decodeHeaderValue(value.trim());
  if (value !== undefined && text === undefined) throw mismatch(`The header ${name} is not valid Base64`);
  return text;
}

function assertSame(name: string, header: string | undefined, body: string | undefined): void {
  if (header === body) return;
  throw mismatch(header === undefined ? `The header ${name} is missing` : `The header ${name} does not match the body`);
}

const mismatch = (message: string) => new ProtocolError(codes.headerMismatch, message);
