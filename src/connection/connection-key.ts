// Owns who may share a connection: a key made of everything that tells one from another. Kept in memory only, and keyed with a
// secret of this process, because what goes into it holds tokens.

import { createHmac, randomBytes } from 'node:crypto';
import { canonicalJson } from '../kernel/json.ts';
import type { ClientInfo } from '../model/identity.ts';
import type { ServerName } from '../model/names.ts';
import type { Launch, LogLevel } from '../model/server.ts';
import { type ClientHandlers, capabilitiesOf, type ElicitationPolicy } from './client-handlers.ts';

export interface KeyDeps {
  readonly server: ServerName;
  /** Everything filled in: a token of another account makes another connection. */
  readonly launch: Launch;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly maxMessageBytes: number;
  /** One server has one level. */
  readonly logLevel?: LogLevel | undefined;
  readonly handlers: ClientHandlers;
  /** What becomes of its questions is decided once for all who share it. */
  readonly elicitation?: ElicitationPolicy | undefined;
  /** Whom the server believes it is talking to. */
  readonly clientInfo?: ClientInfo | undefined;
  /** What the agent may touch, where it was announced: one server cannot be told two things. */
  readonly sandbox?: object | undefined;
  /** Set where a client wants a connection of its own. */
  readonly client?: string | undefined;
}

const secret = randomBytes(32);
let lastOwn = 0;

export function connectionKey({ launch, handlers, ...deps }: KeyDeps): string {
  // Code of the host is not compared: each gets a line of its own.
  if (launch.kind === 'in-process') return `own ${++lastOwn}`;
  const text = canonicalJson({ ...deps, launch, capabilities: capabilitiesOf(handlers), roots: idOf(handlers.roots) });
  return createHmac('sha256', secret).update(text).digest('base64');
}

const ids = new WeakMap<object, number>();
let lastId = 0;

/** Two functions that answer with roots are the same only if they are one. */
function idOf(roots: ClientHandlers['roots']): number {
  if (roots === undefined) return 0;
  const id = ids.get(roots) ?? ++lastId;
  ids.set(roots, id);
  return id;
}
