// Owns how a model spells a tool. The decision depends on the ToolId alone: names never depend on who arrived first.

import { createHash } from 'node:crypto';
import { limits } from '../model/limits.ts';
import { type QualifiedName, type ToolId, toolKey } from '../model/names.ts';

const PREFIX = 'mcp';
const clean = /^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$/;

/** Names for all tools of one catalog, unique. A clean name that equals somebody's hashed one is hashed as well, and so on. */
export function assignNames(ids: readonly ToolId[]): ReadonlyMap<string, QualifiedName> {
  const names = new Map(ids.map((id) => [toolKey(id), isPlain(id) ? plainName(id) : hashedName(id)]));
  let hashed = ids.filter((id) => !isPlain(id));
  let plain = ids.filter(isPlain);
  while (hashed.length > 0) {
    const taken = new Set(hashed.map(hashedName));
    hashed = plain.filter((id) => taken.has(plainName(id)));
    plain = plain.filter((id) => !taken.has(plainName(id)));
    for (const id of hashed) names.set(toolKey(id), hashedName(id));
  }
  return names;
}

function plainName({ server, tool }: ToolId): QualifiedName {
  return `${PREFIX}__${server}__${tool}`;
}

/** Clean parts hold no double underscore, so a plain name can be read in one way only. */
function isPlain(id: ToolId): boolean {
  return clean.test(id.server) && clean.test(id.tool) && plainName(id).length <= limits.toolNameLength;
}

function hashedName(id: ToolId): QualifiedName {
  const hash = createHash('sha256').update(toolKey(id)).digest('hex').slice(0, limits.nameHashLength);
  const room = limits.toolNameLength - hash.length - 1;
  return `${plainName({ server: sanitize(id.server), tool: sanitize(id.tool) })
    .slice(0, room)
    .replace(/_+$/, '')}_${hash}`;
}

function sanitize(part: string): string {
  return part.replace(/[^A-Za-z0-9-]+/g, '_').replace(/^_+|_+$/g, '') || 'x';
}
