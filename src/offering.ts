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
import { systemPromptFragment } from './shaping/boundary.ts';

/** What is offered to every view alike; each part stays the same object until it changes. */
export interface Common {
  readonly toolSearch: string;
  readonly placementOf: PlacementOf;
  readonly servers: readonly { readonly name: ServerName; readonly title?: string | undefined }[];
  readonly instructions: readonly ServerInstructions[];
  /** Results stand in a mark. */
  readonly isWrapped: boolean;
}

export interface OfferDeps {
  readonly snapshot: () => CatalogSnapshot;
  readonly common: () => Common;
  /** The runtime's own tools, but for those that search; the same list as long as none comes or goes. */
  readonly builtins: () => readonly Builtin[];
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
  /** What a mark around results means, and what servers say about their use. */
  readonly systemPrompt: string;
  /** Nothing is kept from the view: it may be told of what is not in it. */
  readonly isWhole: boolean;
  readonly own: ReadonlyMap<string, OwnTool>;
  readonly isShown: (tool: Tool) => boolean;
  readonly load: (tools: readonly ToolId[]) => void;
}

/** The server that the runtime's own tools belong to where they touch no other. */
export const OWN_SERVER: ServerName = '(plexus)';

export function createOffers(deps: OfferDeps): (query?: string) => Offer {
  const { snapshot, common, builtins, search, model, isNarrowed } = deps;
  const expose = createExposer();
  const found = new Set<string>();
  const load = (tools: readonly ToolId[]) => {
    for (const id of tools) found.add(toolKey(id));
  };
  let last: { readonly made: Made; readonly offer: Offer } | undefined;
  return (query) => {
    const { toolSearch, placementOf, ...of } = common();
    const whole = snapshot();
    const exposed = expose({ tools: whole.tools, toolSearch, placementOf, model, found, query, search });
    const made: Made = { whole, exposed, builtins: builtins(), ...of };
    if (last && isSame(last.made, made)) return last.offer;
    const { servers, instructions } = partOf(made, isNarrowed);
    const searching = searchTools(deps, { servers, placementOf, whole });
    const offered = made.builtins.filter(({ definition }) => deps.isOffered(definition.name)).map(ownTool);
    // Who has searched before may go on to: what stands in a conversation still works when nothing is hidden any more.
    const own = new Map([...offered, ...searching].map((each) => [each.tool.name, each]));
    const beside = exposed.offersSearch ? [...offered, ...searching] : offered;
    const { tools, revision } = windowOn([...exposed.shown, ...beside.map(({ tool }) => tool)]);
    const shown = new Set(exposed.shown);
    const isShown = (tool: Tool) => shown.has(tool);
    const prompts = [systemPromptFragment({ wrap: made.isWrapped }), composeInstructions(instructions)];
    const about = { systemPrompt: prompts.filter((text) => text !== '').join('\n\n'), isWhole: !isNarrowed };
    const offer = { snapshot: whole, tools, revision, ...about, own, load, isShown };
    last = { made, offer };
    return offer;
  };
}

/** All that an offer is made of. */
interface Made extends Pick<Common, 'servers' | 'instructions' | 'isWrapped'> {
  readonly whole: CatalogSnapshot;
  readonly exposed: Exposed;
  readonly builtins: readonly Builtin[];
}

function isSame(before: Made, now: Made): boolean {
  return (
    before.whole === now.whole &&
    before.exposed === now.exposed &&
    before.builtins === now.builtins &&
    before.servers === now.servers &&
    before.instructions === now.instructions &&
    before.isWrapped === now.isWrapped
  );
}

/** They find nothing that the view may not use. */
function searchTools(
  { search, nearestWords, remarks, model, isNarrowed }: OfferDeps,
  { whole, ...searched }: Pick<Common, 'servers' | 'placementOf'> & Pick<Made, 'whole'>,
): readonly OwnTool[] {
  const promotion = model.promotion !== false;
  const resolve = (spelled: string) => whole.resolve(spelled)?.id;
  const about = isNarrowed ? {} : { remarks, nearestWords };
  return createSearchTools({ search, ...searched, promotion, resolve, ...about }).map(ownTool);
}

function ownTool(builtin: Builtin): OwnTool {
  const { definition } = builtin;
  const { name, description = '', inputSchema } = definition;
  const id = { server: OWN_SERVER, tool: name };
  const said = { freshness: 'live', label: 'plexus', source: '', description, inputSchema } as const;
  return { builtin, tool: Object.freeze({ id, name, ...said, meta: metaOf(definition, id), definition }) };
}

/** A view of some tools hears only of the servers that these are of. */
function partOf({ servers, instructions, whole }: Made, isNarrowed: boolean): Pick<Common, 'servers' | 'instructions'> {
  if (!isNarrowed) return { servers, instructions };
  const seen = new Set(whole.tools.map(({ id }) => id.server));
  return {
    servers: servers.filter(({ name }) => seen.has(name)),
    instructions: instructions.filter(({ server }) => seen.has(server)),
  };
}
