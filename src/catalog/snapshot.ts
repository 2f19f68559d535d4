// Owns the frozen catalog of one moment: every tool with its name, in a stable order, under a revision.

import { createHash } from 'node:crypto';
import { type QualifiedName, type ServerName, type ToolId, toolKey } from '../model/names.ts';
import type { Freshness, Tool, ToolDefinition } from '../model/tool.ts';
import { type Aliases, createAliases } from './aliases.ts';
import { shownDigest } from './definition/digest.ts';
import { present } from './definition/present.ts';
import type { Provider } from './definition/providers.ts';
import { assignNames, type NamingOptions } from './naming.ts';
import { metaOf, prefixed } from './tool-meta.ts';

/** Two snapshots have the same revision where they show a model the same, byte for byte; what it does not read may differ. */
export interface CatalogSnapshot {
  readonly revision: string;
  /** Sorted by name: what a model reads never moves without a reason. */
  readonly tools: readonly Tool[];
  find(name: QualifiedName): Tool | undefined;
  /** Also in the spellings of other agents, where only one tool can be meant. */
  resolve(spelled: string): Tool | undefined;
}

export interface Slice {
  readonly server: ServerName;
  readonly label: string;
  /** Tells the server from another one that has taken its name. */
  readonly source?: string;
  readonly freshness: Freshness;
  readonly tools: readonly ToolDefinition[];
}

/** How tools are shown, the same for all of them. */
export interface Style {
  readonly naming?: NamingOptions;
  /** What every description begins with; `{server}` stands for the server's name. */
  readonly descriptionPrefix?: string | undefined;
}

export function createSnapshot(slices: readonly Slice[], style: Style = {}): CatalogSnapshot {
  const ids = slices.flatMap(({ server, tools }) => tools.map(({ name }): ToolId => ({ server, tool: name })));
  const names = assignNames(ids, style.naming);
  const prefix = style.descriptionPrefix ?? '';
  const tools: Tool[] = [];
  for (const { server, label, source = server, freshness, tools: definitions } of slices) {
    for (const definition of definitions) {
      const id = ids[tools.length] ?? { server, tool: definition.name };
      const name = names.get(toolKey(id)) ?? '';
      tools.push(toolOf(definition, { id, name, label, source, freshness, prefix }));
    }
  }
  return snapshotOf(tools.sort(byName));
}

interface Said extends Pick<Tool, 'id' | 'name' | 'label' | 'source' | 'freshness'> {
  readonly prefix: string;
}

const made = new WeakMap<ToolDefinition, { readonly tool: Tool; readonly prefix: string }>();

/** As long as nothing about it changes, a tool stays the same object: what was worked out about it holds. */
function toolOf(definition: ToolDefinition, { id, name, label, source, freshness, prefix }: Said): Tool {
  const before = made.get(definition);
  if (
    before?.prefix === prefix &&
    before.tool.name === name &&
    before.tool.freshness === freshness &&
    before.tool.label === label &&
    before.tool.source === source &&
    before.tool.id.server === id.server
  )
    return before.tool;
  const { description, inputSchema, changes } = present(definition, 'any');
  const tool: Tool = Object.freeze({
    id: Object.freeze(id),
    name,
    freshness,
    label,
    source,
    description: prefixed(description, prefix, id),
    inputSchema,
    meta: metaOf(definition, id),
    definition,
    ...(changes.length > 0 && { reduced: changes }),
  });
  made.set(definition, { tool, prefix });
  return tool;
}

const byName = (a: Tool, b: Tool) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** What of it passes, under the same names. */
export function narrowSnapshot({ tools }: CatalogSnapshot, isSeen: (tool: Tool) => boolean): CatalogSnapshot {
  return snapshotOf(tools.filter(isSeen));
}

/** The same tools, as one provider's models are best shown them. */
export function presentFor(
  snapshot: CatalogSnapshot,
  provider: Provider,
  { descriptionPrefix = '' }: Style,
): CatalogSnapshot {
  return snapshotOf(snapshot.tools.map((tool) => presentedTool(tool, provider, descriptionPrefix)));
}

const madeFor = new WeakMap<Tool, Partial<Record<Provider, { readonly tool: Tool; readonly prefix: string }>>>();

function presentedTool(tool: Tool, provider: Provider, prefix: string): Tool {
  const byProvider = madeFor.get(tool) ?? {};
  const before = byProvider[provider];
  if (before?.prefix === prefix) return before.tool;
  const { reduced: _forAll, ...same } = tool;
  const { description, inputSchema, changes } = present(tool.definition, provider);
  const shown = { description: prefixed(description, prefix, tool.id), inputSchema };
  const presented = Object.freeze({ ...same, ...shown, ...(changes.length > 0 && { reduced: changes }) });
  byProvider[provider] = { tool: presented, prefix };
  madeFor.set(tool, byProvider);
  return presented;
}

/** Some of a snapshot's tools, perhaps beside others, as they are shown. */
export function windowOn(tools: readonly Tool[]): CatalogSnapshot {
  return snapshotOf([...tools].sort(byName));
}

function snapshotOf(tools: readonly Tool[]): CatalogSnapshot {
  const byName = new Map<QualifiedName, Tool>();
  for (const tool of tools) byName.set(tool.name, tool);
  let aliases: Aliases | undefined;
  return Object.freeze({
    revision: revisionOf(tools),
    tools: Object.freeze(tools),
    find: (name: QualifiedName) => byName.get(name),
    resolve(spelled: string) {
      const exact = byName.get(spelled);
      if (exact) return exact;
      aliases ??= createAliases(tools);
      const id = aliases.find(spelled);
      if (id === undefined || id === 'ambiguous') return undefined;
      return tools.find((tool) => tool.id.server === id.server && tool.id.tool === id.tool);
    },
  });
}

export interface Difference {
  readonly added: readonly QualifiedName[];
  readonly removed: readonly QualifiedName[];
  /** Under the same name, something else for a model to read. */
  readonly changed: readonly QualifiedName[];
}

export function differenceOf(before: CatalogSnapshot, now: CatalogSnapshot): Difference {
  const added: QualifiedName[] = [];
  const changed: QualifiedName[] = [];
  for (const tool of now.tools) {
    const former = before.find(tool.name);
    if (former === undefined) added.push(tool.name);
    else if (former !== tool && shownDigest(former) !== shownDigest(tool)) changed.push(tool.name);
  }
  // As many as came beside those that stayed: nobody went.
  const isComplete = now.tools.length - added.length === before.tools.length;
  const removed = isComplete ? [] : before.tools.filter(({ name }) => !now.find(name)).map(({ name }) => name);
  return { added, removed, changed };
}

function revisionOf(tools: readonly Tool[]): string {
  return createHash('sha256').update(tools.map(shownDigest).join('\n')).digest('hex').slice(0, 16);
}
