// Owns the key by which sessions are shared: a hash of everything that makes two connections different. The hash is keyed with
// a secret of this process and kept in memory only, because its input holds tokens.

import { createHmac, randomBytes } from 'node:crypto';
import { canonicalJson } from '../kernel/json.ts';
import type { ClientInfo } from '../model/identity.ts';
import type { ServerName } from '../model/names.ts';
import type { Launch, LogLevel } from '../model/server.ts';
import { type ClientHandlers, capabilitiesOf, type ElicitationPolicy } from './client-handlers.ts';

export interface KeyDeps {
  readonly server: ServerName;
  /** With all variables filled in: the token of another account makes another connection. */
  readonly launch: Launch;
  /** Absent where all folders share the session; their roots are no part of the key then. */
  readonly cwd: string | undefined;
  /** The definition's hash, where all folders share the session: the entry of another file is another server. */
  readonly definition?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly maxMessageBytes: number;
  /** A server has one log level at a time. */
  readonly logLevel?: LogLevel | undefined;
  readonly handlers: ClientHandlers;
  /** One policy applies to all leases of a session. */
  readonly elicitation?: ElicitationPolicy | undefined;
  /** The client name and version that the server is told. */
  readonly clientInfo?: ClientInfo | undefined;
  /** The sandbox state, if a host announced one: a server can know only one. */
  readonly sandbox?: object | undefined;
  /** The server is looked at without an approval: no session of an approved one is shared with it. */
  readonly isUnapproved?: boolean | undefined;
  /** The stored login that signs its requests. */
  readonly login?: string | undefined;
  /** The id of a client with private connections. */
  readonly client?: string | undefined;
}

const secret = randomBytes(32);
let lastOwn = 0;

export function connectionKey({ launch, handlers, env, ...deps }: KeyDeps): string {
  // In-process servers are code of the host, which cannot be compared: each gets its own connection.
  if (launch.kind === 'in-process') return `own ${++lastOwn}`;
  const text = canonicalJson({
    ...deps,
    launch,
    capabilities: capabilitiesOf(handlers),
    roots: deps.cwd === undefined ? 0 : idOf(handlers.roots),
  });
  // A host has many variables, which are all strings: this is canonical too, and takes half the time.
  const variables = JSON.stringify(env, Object.keys(env).sort());
  return createHmac('sha256', secret).update(`${text} ${variables}`).digest('base64');
}

const ids = new WeakMap<object, number>();
let lastId = 0;

/** Two `roots` handlers are the same only if they are the same function. */
function idOf(roots: ClientHandlers['roots']): number {
  if (roots === undefined) return 0;
  const id = ids.get(roots) ?? ++lastId;
  ids.set(roots, id);
  return id;
}
