// Owns the words for who is who. A pair is an identity; a spelled name is only how a model writes it.

import { createHash } from 'node:crypto';
import { limits } from './limits.ts';

/** A server's name as its configuration writes it; may hold anything a real file holds. */
export type ServerName = string;

/** Who a tool is. Calls, rules, caches and logs use the pair, never the spelled name. */
export interface ToolId {
  readonly server: ServerName;
  /** The name the server itself uses, sent back to it unchanged. */
  readonly tool: string;
}

/** How a model spells a `ToolId` in one catalog. Looked up, never taken apart. */
export type QualifiedName = string;

/** A map key for a `ToolId` that no choice of names can make ambiguous. */
export function toolKey(id: ToolId): string {
  return JSON.stringify([id.server, id.tool]);
}

/** A few digits of a `toolKey`, for names that could not tell one tool from another without them. */
export function hashOfKey(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, limits.nameHashLength);
}

/** The pair that `toolKey` made the key of. */
export function readToolKey(key: string): ToolId {
  const [server, tool] = JSON.parse(key) as [ServerName, string];
  return { server, tool };
}
