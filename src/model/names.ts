// Owns the names of servers and tools. The pair of server and tool is a tool's identity; a qualified name is only how a model
// writes it.

import { createHash } from 'node:crypto';
import { limits } from './limits.ts';

/** A server's name as its config file writes it; may hold any character. */
export type ServerName = string;

/** The identity of a tool. Calls, rules, caches and logs use the pair, never the qualified name. */
export interface ToolId {
  readonly server: ServerName;
  /** The name the server itself uses, sent back to it unchanged. */
  readonly tool: string;
}

/** How a model writes a `ToolId` in one catalog. Looked up, never parsed. */
export type QualifiedName = string;

/** A map key for a `ToolId`, unambiguous for any names. */
export function toolKey(id: ToolId): string {
  return JSON.stringify([id.server, id.tool]);
}

/** A short hash of a `toolKey`, appended to names that would otherwise be the same for two tools. */
export function hashOfKey(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, limits.nameHashLength);
}

/** The reverse of `toolKey`. */
export function readToolKey(key: string): ToolId {
  const [server, tool] = JSON.parse(key) as [ServerName, string];
  return { server, tool };
}
