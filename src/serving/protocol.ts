// Owns the protocol's own words on the serving side: revisions, error codes, keys of `_meta`, and the error that a handler throws.

import { isObject, type JsonObject } from '../kernel/json.ts';

export type ProtocolEra = 'legacy' | 'modern';

/** Newest first. */
export const legacyVersions: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
export const modernVersions: readonly string[] = ['2026-07-28'];

/** The only revision with batches. */
export const BATCH_VERSION = '2025-03-26';

/** The client's own revision where we know it, otherwise our newest: then the client decides whether to go on. */
export function negotiated(offered: unknown): string {
  return legacyVersions.find((version) => version === offered) ?? '2025-11-25';
}

export const codes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Only towards legacy clients; a modern one gets `invalidParams`. */
  resourceNotFound: -32002,
  sessionNotFound: -32001,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
  /** The server has no room for the request at present. */
  overloaded: -32000,
} as const;

const PREFIX = 'io.modelcontextprotocol/';
export const metaKeys = {
  version: `${PREFIX}protocolVersion`,
  clientInfo: `${PREFIX}clientInfo`,
  clientCapabilities: `${PREFIX}clientCapabilities`,
  logLevel: `${PREFIX}logLevel`,
  serverInfo: `${PREFIX}serverInfo`,
  subscription: `${PREFIX}subscriptionId`,
} as const;

/** A handler throws this to answer with a JSON-RPC error. Any other error is answered as internal, without its text. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly code: number;
  readonly data: unknown;
  /** The HTTP status, where the request fails for a reason that has one of its own. */
  readonly status: number | undefined;

  constructor(code: number, message: string, data?: unknown, { status }: { readonly status?: number } = {}) {
    super(message);
    this.code = code;
    this.data = data;
    this.status = status;
  }
}

export const methodNotFound = (method: string) =>
  new ProtocolError(codes.methodNotFound, `Method not found: ${method.slice(0, 200)}`);

export const invalidParams = (message: string, data?: unknown) => new ProtocolError(codes.invalidParams, message, data);

export const invalidRequest = (message: string) => new ProtocolError(codes.invalidRequest, message);

/** For a uri that no resource has; each era gets its own code. */
export const resourceNotFound = (uri: string) =>
  new ProtocolError(codes.resourceNotFound, 'Resource not found', { uri });

/** For a request that cannot be answered without a capability that the client has not declared. */
export const missingCapability = (capability: JsonObject) =>
  new ProtocolError(codes.missingCapability, 'The client has not declared a capability that this request needs', {
    requiredCapabilities: capability,
  });

/** `initialize` without the parameters that it needs. */
export function faultOfInitialize({ protocolVersion, capabilities }: JsonObject): ProtocolError | undefined {
  if (typeof protocolVersion === 'string' && isObject(capabilities)) return undefined;
  return invalidParams('Invalid params: protocolVersion and capabilities are required');
}

export const cancelledByClient = () => new DOMException('the client cancelled the request', 'AbortError');
