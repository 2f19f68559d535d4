// Owns the words for who is who. A pair is an identity; a spelled name is only how a model writes it.

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
