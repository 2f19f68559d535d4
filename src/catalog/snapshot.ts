// Owns the frozen catalog of one moment: every tool with its name, in a stable order, with a revision.

import { hash } from 'node:crypto';
import { type QualifiedName, type ServerName, type ToolId, toolKey } from '../model/names.ts';
import type { Freshness, Tool, ToolDefinition } from '../model/tool.ts';
import { type Aliases, createAliases } from './aliases.ts';
import { shownDigest } from './definition/digest.ts';
import { present } from './definition/present.ts';
import type { Provider } from './definition/providers.ts';
import { assignNames, type NamingOptions } from './naming.ts';
import { metaOf, prefixed } from './tool-meta.ts';

/** Two snapshots have the same revision if a model reads the same bytes in both; what it does not read may differ. */
export interface CatalogSnapshot {
  readonly revision: string;
  /** Sorted by name, so that a model's prompt does not change without a reason. */
  readonly tools: readonly Tool[];
  find(name: QualifiedName): Tool | undefined;
  /** Also finds the spellings of other agents, if only one tool can be meant and the name is not reserved. */
  resolve(spelled: string): Tool | undefined;
  /** Names that stand for no server's tool. */
  readonly reserved: ReadonlySet<string>;
}

export interface ServerSlice {
  readonly server: ServerName;
  readonly label: string;
  /** Distinguishes the server from another one that has taken its name. */
  readonly source?: string;
  readonly freshness: Freshness;
  readonly tools: readonly ToolDefinition[];
}

/** How all tools are shown. */
export interface CatalogStyle {
  readonly naming?: NamingOptions;
  /** Put before every description; `{server}` stands for the server's name. */
  readonly descriptionPrefix?: string | undefined;
}

export function createSnapshot(slices: readonly ServerSlice[], style: CatalogStyle = {}): CatalogSnapshot {
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
  return snapshotOf(tools.sort(byName), style.naming?.reserved);
}

interface ToolFacts extends Pick<Tool, 'id' | 'name' | 'label' | 'source' | 'freshness'> {
  readonly prefix: string;
}

const toolCache = new WeakMap<ToolDefinition, { readonly tool: Tool; readonly prefix: string }>();

/** An unchanged tool stays the same object, so that what is cached by it still holds. */
function toolOf(definition: ToolDefinition, { id, name, label, source, freshness, prefix }: ToolFacts): Tool {
  const before = toolCache.get(definition);
  if (
    before?.prefix === prefix &&
    before.tool.name === name &&
    before.tool.freshness === freshness &&
    before.tool.label === label &&
    before.tool.source === source &&
    before.tool.id.server === id.server
  )
    return before.tool;
  const { description, inputSchema, changes } = present(definition);
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
  toolCache.set(definition, { tool, prefix });
  return tool;
}

const byName = (a: Tool, b: Tool) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** The tools that pass, under the same names. */
export function narrowSnapshot({ tools, reserved }: CatalogSnapshot, isSeen: (tool: Tool) => boolean): CatalogSnapshot {
  return snapshotOf(tools.filter(isSeen), reserved);
}

/** The same tools, presented for the models of one provider. */
export function presentFor(
  snapshot: CatalogSnapshot,
  provider: Provider,
  { descriptionPrefix = '' }: CatalogStyle,
): CatalogSnapshot {
  return snapshotOf(
    snapshot.tools.map((tool) => presentedTool(tool, provider, descriptionPrefix)),
    snapshot.reserved,
  );
}

const presentedTools = new WeakMap<Tool, Partial<Record<Provider, { readonly tool: Tool; readonly prefix: string }>>>();

function presentedTool(tool: Tool, provider: Provider, prefix: string): Tool {
  const byProvider = presentedTools.get(tool) ?? {};
  const before = byProvider[provider];
  if (before?.prefix === prefix) return before.tool;
  const { reduced: _forAll, ...same } = tool;
  const { description, inputSchema, changes } = present(tool.definition, provider);
  const shown = { description: prefixed(description, prefix, tool.id), inputSchema };
  const presented = Object.freeze({ ...same, ...shown, ...(changes.length > 0 && { reduced: changes }) });
  byProvider[provider] = { tool: presented, prefix };
  presentedTools.set(tool, byProvider);
  return presented;
}

/** A snapshot of some tools as they are; they may come from several snapshots. */
export function windowOn(tools: readonly Tool[]): CatalogSnapshot {
  return snapshotOf([...tools].sort(byName));
}

const NONE: ReadonlySet<string> = new Set();

function snapshotOf(tools: readonly Tool[], reserved = NONE): CatalogSnapshot {
  const byName = new Map<QualifiedName, Tool>();
  for (const tool of tools) byName.set(tool.name, tool);
  let aliases: Aliases | undefined;
  return Object.freeze({
    revision: revisionOf(tools),
    tools: Object.freeze(tools),
    reserved,
    find: (name: QualifiedName) => byName.get(name),
    resolve(spelled: string) {
      const exact = byName.get(spelled);
      if (exact || reserved.has(spelled)) return exact;
      aliases ??= createAliases(tools);
      const id = aliases.find(spelled);
      if (id === undefined || id === 'ambiguous') return undefined;
      return tools.find((tool) => tool.id.server === id.server && tool.id.tool === id.tool);
    },
  });
}

export interface SnapshotDifference {
  readonly added: readonly QualifiedName[];
  readonly removed: readonly QualifiedName[];
  /** Tools that kept their name but show a model something else now. */
  readonly changed: readonly QualifiedName[];
}

export function differenceOf(before: CatalogSnapshot, now: CatalogSnapshot): SnapshotDifference {
  const added: QualifiedName[] = [];
  const changed: QualifiedName[] = [];
  for (const tool of now.tools) {
    const former = before.find(tool.name);
    if (former === undefined) added.push(tool.name);
    else if (former !== tool && shownDigest(former) !== shownDigest(tool)) changed.push(tool.name);
  }
  // If the new tools account for the whole growth, none was removed.
  const isComplete = now.tools.length - added.length === before.tools.length;
  const removed = isComplete ? [] : before.tools.filter(({ name }) => !now.find(name)).map(({ name }) => name);
  return { added, removed, changed };
}

/** Of no tools: however they would be named, it is the same. */
export const emptySnapshot: CatalogSnapshot = createSnapshot([]);

function revisionOf(tools: readonly Tool[]): string {
  return hash('sha256', tools.map(shownDigest).join('\n'), 'hex').slice(0, 16);
}
