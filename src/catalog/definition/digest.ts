// Owns recognizing a definition that is the same as before, whoever sent it and whenever.

import { createHash } from 'node:crypto';
import type { ToolDefinition } from '../../model/tool.ts';

const digests = new WeakMap<ToolDefinition, string>();

/** Definitions are frozen, their keys in order: each is written out once, however often the catalog changes around it. */
export function digestOf(definition: ToolDefinition): string {
  const known = digests.get(definition);
  if (known !== undefined) return known;
  const digest = createHash('sha256').update(JSON.stringify(definition)).digest('base64');
  digests.set(definition, digest);
  return digest;
}
