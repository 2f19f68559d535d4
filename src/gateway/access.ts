// Owns who a request comes from, as the gateway reads it: what the token allows, the workspace and the one client that
// the `connect` command names in headers. Comparing tokens is the caller's `authenticate`.

import type { IncomingMessage } from 'node:http';
import { isAbsolute, normalize } from 'node:path';
import type { Principal } from '../serving/service.ts';

/** The rights of a token; `authenticate` returns them as `details` of the principal. */
export interface Access {
  /** The token is bound to this profile: every other route is refused. */
  readonly profile?: string;
  /** The command `connect` has it: only then its headers count. */
  readonly mayNameWorkspace?: boolean;
  /** The token is of one client with a name: it has grants of its own, and may use servers with `perClient`. */
  readonly client?: string;
}

/** The folder that a client works in, encoded like a part of a URL. */
export const WORKSPACE_HEADER = 'plexus-workspace';
/** An id that one shim keeps for its life: all its requests come from one client. */
export const CLIENT_HEADER = 'plexus-client';

/** One client, and the folder it works in. The serving side keeps it as `details` of its principal. */
export interface Origin {
  /** As `authenticate` returned it. */
  readonly principal: Principal;
  readonly access: Access;
  readonly workspace: string | undefined;
  /** Absent for requests that cannot be told from those of other clients with the same token. */
  readonly client: string | undefined;
}

const MOST_HEADER_CHARS = 8_192;
const NOTHING: Access = Object.freeze({});

export const accessOf = ({ details }: Principal): Access => (details as Access | undefined) ?? NOTHING;
/** A client on pipes comes without one. */
export const originOf = (principal: Principal): Origin =>
  (principal.details as Origin | undefined) ?? { principal, access: NOTHING, workspace: undefined, client: undefined };

/** The principal for the serving side, or the sentence with which the request is refused. */
export function identify(principal: Principal, { headers }: Pick<IncomingMessage, 'headers'>): Principal | string {
  const access = accessOf(principal);
  const [folder, id] = [headers[WORKSPACE_HEADER], headers[CLIENT_HEADER]];
  if (folder === undefined && id === undefined) return known(principal, access);
  if (!access.mayNameWorkspace) return 'Only connect may name a workspace';
  const workspace = folder === undefined ? undefined : readFolder(folder);
  if (workspace === null) return `The header ${WORKSPACE_HEADER} must be an absolute folder`;
  if (id !== undefined && (typeof id !== 'string' || !/^[\w-]{8,64}$/.test(id)))
    return `The header ${CLIENT_HEADER} is not valid`;
  const client = id ?? access.client;
  const details: Origin = { principal, access, workspace, client };
  return { id: [principal.id, client ?? '', workspace ?? ''].join('\n'), details };
}

const unnamed = new WeakMap<Principal, Principal>();

/** Nearly every request has none of the headers: its principal stays one object. */
function known(principal: Principal, access: Access): Principal {
  const before = unnamed.get(principal);
  if (before !== undefined) return before;
  const details: Origin = { principal, access, workspace: undefined, client: access.client };
  const made = { id: principal.id, details };
  unnamed.set(principal, made);
  return made;
}

/** `null` if it is no absolute folder. */
function readFolder(header: string | string[]): string | null {
  if (typeof header !== 'string' || header.length > MOST_HEADER_CHARS) return null;
  try {
    const folder = decodeURIComponent(header);
    return isAbsolute(folder) && !folder.includes('\0') ? normalize(folder) : null;
  } catch {
    return null;
  }
}
