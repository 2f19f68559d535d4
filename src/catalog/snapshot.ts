// Owns the frozen catalog of one moment: every tool with its name, in a stable order, under a revision.

import { createHash } from 'node:crypto';
import { canonicalJson } from '../kernel/json.ts';
import { type QualifiedName, type ServerName, type ToolId, toolKey } from '../model/names.ts';
import type { Freshness, Tool, ToolDefinition } from '../model/tool.ts';
import { assignNames } from './naming.ts';

/** Two snapshots with the same revision show a model the same; how fresh that is may differ. */
export interface CatalogSnapshot {
  readonly revision: string;
  /** Sorted by name: what a model reads never moves without a reason. */
  readonly tools: readonly Tool[];
  find(name: QualifiedName): Tool | undefined;
}

export interface Slice {
  readonly server: ServerName;
  readonly label: string;
  readonly freshness: Freshness;
  readonly tools: readonly ToolDefinition[];
}

export function createSnapshot(slices: readonly Slice[]): CatalogSnapshot {
  const found = slices.flatMap(({ server, label, freshness, tools }) =>
    tools.map((definition) => ({
      id: { server, tool: definition.name } satisfies ToolId,
      label,
      freshness,
      definition,
    })),
  );
  const names = assignNames(found.map(({ id }) => id));
  const tools = found
    .map(({ id, label, freshness, definition }): Tool => {
      const { description = '', inputSchema } = definition;
      const name = names.get(toolKey(id)) ?? '';
      const said = { freshness, label, description, inputSchema };
      return Object.freeze({ id: Object.freeze(id), name, ...said, definition });
    })
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return snapshotOf(tools);
}

/** What of it passes, under the same names. */
export function narrowSnapshot({ tools }: CatalogSnapshot, isSeen: (tool: Tool) => boolean): CatalogSnapshot {
  return snapshotOf(tools.filter(isSeen));
}

function snapshotOf(tools: readonly Tool[]): CatalogSnapshot {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return Object.freeze({
    revision: revisionOf(tools),
    tools: Object.freeze(tools),
    find: (name: QualifiedName) => byName.get(name),
  });
}

function revisionOf(tools: readonly Tool[]): string {
  const hash = createHash('sha256');
  for (const { name, definition } of tools) hash.update(name).update(digestOf(definition));
  return hash.digest('hex').slice(0, 16);
}

/** Definitions are frozen: each is read once, however often the catalog changes around it. */
const digests = new WeakMap<ToolDefinition, string>();

function digestOf(definition: ToolDefinition): string {
  const known = digests.get(definition);
  if (known !== undefined) return known;
  const digest = createHash('sha256').update(canonicalJson(definition)).digest('base64');
  digests.set(definition, digest);
  return digest;
}
