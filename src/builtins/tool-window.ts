// Owns what one view is shown in a turn: which of its tools, the builtins beside them, and the system prompt about both. As long
// as nothing changes the window is the same object, byte for byte.

import { createExposer, type Exposed, type Search } from '../catalog/exposure/exposure.ts';
import { composeInstructions, type ServerInstructions } from '../catalog/exposure/instructions.ts';
import type { PlacementOf } from '../catalog/exposure/placement.ts';
import { type CatalogSnapshot, windowOn } from '../catalog/snapshot.ts';
import { metaOf } from '../catalog/tool-meta.ts';
import type { Builtin, BuiltinContext, BuiltinTool } from '../model/builtin.ts';
import type { Model } from '../model/model.ts';
import { type ServerName, type ToolId, toolKey } from '../model/names.ts';
import type { ObjectSchema, Tool } from '../model/tool.ts';
import { systemPromptFragment } from '../shaping/boundary.ts';
import { Introductions, standingInstructions } from './introductions.ts';
import type { SearchableServer } from './search-definitions.ts';
import { createSearchTools } from './search-tools.ts';

/** The parts that all views share; each part stays the same object until it changes. */
export interface WindowSettings {
  readonly toolSearch: string;
  readonly minContextWindow: number;
  readonly searchOnListChanged: boolean;
  readonly placementOf: PlacementOf;
  readonly isClaimed: (tool: Tool) => boolean;
  readonly alwaysLoadChars: number;
  readonly servers: readonly { readonly name: ServerName; readonly title?: string | undefined }[];
  readonly instructions: readonly ServerInstructions[];
  /** Whether tool results are wrapped in a boundary mark. */
  readonly isWrapped: boolean;
}

export interface ToolWindowDeps {
  readonly snapshot: () => CatalogSnapshot;
  readonly settings: () => WindowSettings;
  /** The builtins except those that search; the same list as long as none comes or goes. */
  readonly builtins: () => readonly Builtin[];
  readonly search: Search;
  /** Words that tools of all servers use; not given to a view that sees only some servers. */
  readonly nearestWords: (query: string) => readonly string[];
  /** Why tools of some servers cannot be found, as sentences for a model. */
  readonly remarks: () => readonly string[];
  /** Lazy servers whose tools are not known yet. */
  readonly unstarted: () => readonly SearchableServer[];
  readonly model: Model;
  /** Whether the view may use the builtin of that name. */
  readonly isUsable: (builtin: string) => boolean;
  /** Whether the view sees only some of the tools. */
  readonly isNarrowed: () => boolean;
}

export interface ToolWindow {
  /** Every tool that may be called. */
  readonly snapshot: CatalogSnapshot;
  /** The tools that the model is shown, sorted by name. */
  readonly tools: readonly Tool[];
  readonly revision: string;
  /** What the mark around results means, and the instructions of servers whose tools need not be searched for. */
  readonly systemPrompt: string;
  /** The view sees all tools, so it may be told why one is missing. */
  readonly isWhole: boolean;
  readonly builtins: ReadonlyMap<string, BuiltinTool>;
  readonly isShown: (tool: Tool) => boolean;
  readonly load: (tools: readonly ToolId[]) => void;
  readonly introduce: BuiltinContext['introduce'];
}

/** The server that builtins belong to where they touch no other. */
export const BUILTIN_SERVER: ServerName = '(plexus)';

/** Makes the window of each turn; with a query, the tools that fit it best are shown to a model that cannot search. */
export function createToolWindow(deps: ToolWindowDeps): (query?: string) => ToolWindow {
  const { snapshot, settings, builtins, search, model } = deps;
  const expose = createExposer();
  const found = new Set<string>();
  const introductions = new Introductions();
  const load = (tools: readonly ToolId[]) => {
    for (const id of tools) found.add(toolKey(id));
  };
  let last: LastWindow | undefined;
  return (query) => {
    const [present, whole, offered] = [settings(), snapshot(), builtins()];
    // Nearly every turn: each of these stays the same object until it changes.
    if (last?.settings === present && last.inputs.whole === whole && last.inputs.builtins === offered)
      if (last.found === found.size && (last.query === query || last.inputs.exposed.mode !== 'best'))
        return last.window;
    const { servers: named, instructions: said, isWrapped, ...exposure } = present;
    const { placementOf } = exposure;
    const common = { servers: named, instructions: said, isWrapped };
    const exposed = expose({ tools: whole.tools, ...exposure, model, found, query, search });
    const inputs: WindowInputs = { whole, exposed, builtins: offered, ...common };
    const seen = { inputs, settings: present, query, found: found.size };
    if (last && isSame(last.inputs, inputs)) {
      last = { ...seen, window: last.window };
      return last.window;
    }
    const isNarrowed = deps.isNarrowed();
    const { servers, instructions } = visiblePart(inputs, isNarrowed);
    const searching = searchTools(deps, { servers, placementOf, whole });
    const usable = inputs.builtins.filter(({ definition }) => deps.isUsable(definition.name)).map(builtinTool);
    // The search tools stay callable when nothing is hidden any more: a conversation may still refer to them.
    const callable = new Map([...usable, ...searching].map((each) => [each.tool.name, each]));
    const beside = exposed.offersSearch ? [...usable, ...searching] : usable;
    const { tools, revision } = windowOn([...exposed.shown, ...beside.map(({ tool }) => tool)]);
    const shown = new Set(exposed.shown);
    const standing = standingInstructions(instructions, exposed, whole.tools);
    const inPrompt = new Set(standing.map(({ server }) => server));
    const prompts = [systemPromptFragment({ wrap: isWrapped }), composeInstructions(standing)];
    const window: ToolWindow = {
      snapshot: whole,
      tools,
      revision,
      systemPrompt: prompts.filter((text) => text !== '').join('\n\n'),
      isWhole: !isNarrowed,
      builtins: callable,
      load,
      // Asks for the present settings: a server that was started in this turn has only now said something.
      introduce: (introduced) =>
        exposed.offersSearch
          ? introductions.take(introduced, settings().instructions, (server) => inPrompt.has(server))
          : '',
      isShown: (tool) => shown.has(tool),
    };
    last = { ...seen, window };
    return window;
  };
}

interface LastWindow {
  readonly inputs: WindowInputs;
  readonly settings: WindowSettings;
  readonly query: string | undefined;
  /** How many tools had been found by searching. */
  readonly found: number;
  readonly window: ToolWindow;
}

/** Everything that a window is made from. */
interface WindowInputs extends Pick<WindowSettings, 'servers' | 'instructions' | 'isWrapped'> {
  readonly whole: CatalogSnapshot;
  readonly exposed: Exposed;
  readonly builtins: readonly Builtin[];
}

function isSame(before: WindowInputs, now: WindowInputs): boolean {
  return (
    before.whole === now.whole &&
    before.exposed === now.exposed &&
    before.builtins === now.builtins &&
    before.servers === now.servers &&
    before.instructions === now.instructions &&
    before.isWrapped === now.isWrapped
  );
}

/** `mcp_search` and `mcp_call`, which find nothing that the view may not use. */
function searchTools(
  { search, nearestWords, remarks, unstarted, model, isNarrowed }: ToolWindowDeps,
  { whole, ...searched }: Pick<WindowSettings, 'servers' | 'placementOf'> & Pick<WindowInputs, 'whole'>,
): readonly BuiltinTool[] {
  const promotion = model.promotion !== false;
  const resolve = (spelled: string) => whole.resolve(spelled)?.id;
  const about = isNarrowed() ? {} : { remarks, unstarted, nearestWords };
  return createSearchTools({ search, ...searched, promotion, resolve, ...about }).map(builtinTool);
}

function builtinTool(builtin: Builtin): BuiltinTool {
  const { definition } = builtin;
  const { name, description = '', inputSchema } = definition;
  const id = { server: BUILTIN_SERVER, tool: name };
  const tool = Object.freeze({
    id,
    name,
    freshness: 'live' as const,
    label: 'plexus',
    source: '',
    description,
    // The definitions of builtins are ours, and all of them take an object.
    inputSchema: inputSchema as ObjectSchema,
    meta: metaOf(definition, id),
    definition,
  });
  return { builtin, tool };
}

/** A view of some tools reads only about the servers of these tools. */
function visiblePart(
  { servers, instructions, whole }: WindowInputs,
  isNarrowed: boolean,
): Pick<WindowSettings, 'servers' | 'instructions'> {
  if (!isNarrowed) return { servers, instructions };
  const seen = new Set(whole.tools.map(({ id }) => id.server));
  return {
    servers: servers.filter(({ name }) => seen.has(name)),
    instructions: instructions.filter(({ server }) => seen.has(server)),
  };
}
