// Owns what one view is offered in a turn: of its tools those to be shown, the runtime's own tools beside them, and what is
// said about both. As long as nothing changes it is the same offer, byte for byte.

import { createSearchTools } from './builtins/search-tools.ts';
import { createExposer, type Exposed, type Search } from './catalog/exposure/exposure.ts';
import { composeInstructions, type ServerInstructions } from './catalog/exposure/instructions.ts';
import type { PlacementOf } from './catalog/exposure/placement.ts';
import { type CatalogSnapshot, windowOn } from './catalog/snapshot.ts';
import { metaOf } from './catalog/tool-meta.ts';
import type { Builtin } from './model/builtin.ts';
import type { Model } from './model/model.ts';
import { type ServerName, type ToolId, toolKey } from './model/names.ts';
import type { Tool } from './model/tool.ts';

/** What is offered to every view alike; each part stays the same object until it changes. */
export interface Common {
  readonly toolSearch: string;
  readonly placementOf: PlacementOf;
  readonly servers: readonly { readonly name: ServerName; readonly title?: string | undefined }[];
  readonly instructions: readonly ServerInstructions[];
  /** The runtime's own tools, but for those that search. */
  readonly builtins: readonly Builtin[];
}

export interface OfferParts {
  readonly snapshot: () => CatalogSnapshot;
  readonly common: () => Common;
  readonly search: Search;
  /** Words that tools of all servers use: not for a view of some. */
  readonly nearestWords: (query: string) => readonly string[];
  /** Why servers have nothing to be found, in words for a model. */
  readonly remarks: () => readonly string[];
  readonly model: Model;
  /** Whether one of the runtime's own tools is among what the view may use. */
  readonly isOffered: (builtin: string) => boolean;
  /** Whether the view sees a part of the tools only. */
  readonly isNarrowed: boolean;
}

export interface OwnTool {
  readonly builtin: Builtin;
  readonly tool: Tool;
}

export interface Offer {
  /** Everything that may be called. */
  readonly snapshot: CatalogSnapshot;
  /** What a model is shown, sorted by name. */
  readonly tools: readonly Tool[];
  readonly revision: string;
  readonly instructions: string;
  readonly own: ReadonlyMap<string, OwnTool>;
  readonly isShown: (tool: Tool) => boolean;
  readonly load: (tools: readonly ToolId[]) => void;
}

/** The server that the runtime's own tools belong to where they touch no other. */
export const OWN_SERVER: ServerName = '(plexus)';

export function createOffers(parts: OfferParts): (query?: string) => Offer {
  const { snapshot, common, search, model, isNarrowed } = parts;
  const expose = createExposer();
  const found = new Set<string>();
  const load = (tools: readonly ToolId[]) => {
    for (const id of tools) found.add(toolKey(id));
  };
  let last:
    | { readonly whole: CatalogSnapshot; readonly exposed: Exposed; readonly of: Common; readonly offer: Offer }
    | undefined;
  return (query) => {
    const whole = snapshot();
    const of = common();
    const { toolSearch, placementOf } = of;
    const exposed = expose({ tools: whole.tools, toolSearch, placementOf, model, found, query, search });
    if (last?.whole === whole && last.exposed === exposed && isSame(last.of, of)) return last.offer;
    const own = ownTools(parts, { ...of, ...partOf(of, whole, isNarrowed) }, exposed.offersSearch ? whole : undefined);
    const shown = new Set(exposed.shown);
    const { tools, revision } = windowOn(whole, [...exposed.shown, ...[...own.values()].map(({ tool }) => tool)]);
    const instructions = composeInstructions(partOf(of, whole, isNarrowed).instructions);
    const offer = {
      snapshot: whole,
      tools,
      revision,
      instructions,
      own,
      load,
      isShown: (tool: Tool) => shown.has(tool),
    };
    last = { whole, exposed, of, offer };
    return offer;
  };
}

function isSame(before: Common, now: Common): boolean {
  return before.servers === now.servers && before.instructions === now.instructions && before.builtins === now.builtins;
}

/** Search is offered to whoever needs it: it finds nothing that the view may not use. */
function ownTools(
  { search, nearestWords, remarks, model, isOffered, isNarrowed }: OfferParts,
  { servers, placementOf, builtins }: Common,
  searched: CatalogSnapshot | undefined,
): ReadonlyMap<string, OwnTool> {
  const promotion = model.promotion !== false;
  const resolve = (spelled: string) => searched?.resolve(spelled)?.id;
  const about = isNarrowed ? {} : { remarks, nearestWords };
  const searching = searched ? createSearchTools({ search, servers, placementOf, promotion, resolve, ...about }) : [];
  const offered = builtins.filter(({ definition }) => isOffered(definition.name));
  return new Map([...offered, ...searching].map((builtin) => [builtin.definition.name, ownTool(builtin)]));
}

function ownTool(builtin: Builtin): OwnTool {
  const { definition } = builtin;
  const { name, description = '', inputSchema } = definition;
  const id = { server: OWN_SERVER, tool: name };
  const said = { freshness: 'live', label: 'plexus', description, inputSchema } as const;
  return { builtin, tool: Object.freeze({ id, name, ...said, meta: metaOf(definition, id), definition }) };
}

/** A view of some tools hears only of the servers that these are of. */
function partOf(
  { servers, instructions }: Common,
  { tools }: CatalogSnapshot,
  isNarrowed: boolean,
): Pick<Common, 'servers' | 'instructions'> {
  if (!isNarrowed) return { servers, instructions };
  const seen = new Set(tools.map(({ id }) => id.server));
  return {
    servers: servers.filter(({ name }) => seen.has(name)),
    instructions: instructions.filter(({ server }) => seen.has(server)),
  };
}
