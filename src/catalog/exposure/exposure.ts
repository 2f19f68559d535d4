// Owns which of a turn's tools a model is shown: all of them, those it need not search for, or the best few.
// Only decides: a tool that is not shown can still be called. How many tools that are is `limits.exposure` in
// `model/limits.ts`.

import { thousands } from '../../kernel/thousands.ts';
import { limits } from '../../model/limits.ts';
import type { Model } from '../../model/model.ts';
import { readToolKey, type ServerName, type ToolId } from '../../model/names.ts';
import type { Tool } from '../../model/tool.ts';
import type { Provider } from '../definition/providers.ts';
import { type Cost, costOf } from './cost.ts';
import type { Placement, PlacementOf } from './placement.ts';

/** `search`: the model searches for the rest itself. `best`: the model cannot search, so the rest is left out. */
export type ExposureMode = 'all' | 'search' | 'best';

/** The best match first. */
export type Search = (
  query: string,
  options: { readonly limit: number; readonly isSeen: (tool: Tool) => boolean },
) => readonly { readonly tool: Tool }[];

export interface ExposureInput {
  /** Sorted by name; what is shown keeps their order. */
  readonly tools: readonly Tool[];
  /** The setting as written: `auto`, `auto:N`, `on` or `off`. */
  readonly toolSearch: string;
  /** A model with a smaller context window is not left to search. */
  readonly minContextWindow: number;
  /** Whether a changed list of tools may switch search on or off; otherwise the first decision stays. */
  readonly searchOnListChanged: boolean;
  readonly model: Model;
  readonly placementOf: PlacementOf;
  /** Whether the tool's server asks to have it loaded, and is trusted to. */
  readonly isClaimed: (tool: Tool) => boolean;
  /** How many characters all tools may take that are loaded because their servers ask for it. */
  readonly alwaysLoadChars: number;
  /** The tools that earlier searches found, by `toolKey`. Only grows, possibly in place. */
  readonly found: ReadonlySet<string>;
  /** What the turn is about; only used for a model that cannot search. */
  readonly query?: string | undefined;
  readonly search?: Search | undefined;
}

export interface Exposed {
  readonly mode: ExposureMode;
  readonly shown: readonly Tool[];
  readonly hidden: number;
  /** The servers of tools that are shown without having been searched for, sorted. */
  readonly standing: readonly ServerName[];
  /** Tools are hidden and the model can search: `mcp_search` and `mcp_call` belong beside the shown tools. */
  readonly offersSearch: boolean;
  /** The reason for the mode, for a person. */
  readonly because: string;
}

/** One exposer per view. As long as the input does not change, the result is the same object. */
export function createExposer(): (input: ExposureInput) => Exposed {
  let last: LastExposure | undefined;
  return (input) => {
    if (last && isSame(input, last)) return last.exposed;
    const exposed = expose(input, last);
    last = { input, found: input.found.size, exposed };
    return exposed;
  };
}

interface LastExposure {
  readonly input: ExposureInput;
  readonly found: number;
  readonly exposed: Exposed;
}

function isSame(input: ExposureInput, last: LastExposure): boolean {
  const before = last.input;
  return (
    input.tools === before.tools &&
    input.toolSearch === before.toolSearch &&
    input.minContextWindow === before.minContextWindow &&
    input.searchOnListChanged === before.searchOnListChanged &&
    input.model === before.model &&
    input.placementOf === before.placementOf &&
    input.isClaimed === before.isClaimed &&
    input.alwaysLoadChars === before.alwaysLoadChars &&
    input.found === before.found &&
    input.found.size === last.found &&
    (input.query === before.query || last.exposed.mode !== 'best')
  );
}

export function expose(input: ExposureInput, last?: Omit<LastExposure, 'found'>): Exposed {
  const before = last?.exposed;
  const setting = readSetting(input.toolSearch);
  const obstacle = obstacleToSearch(input);
  // An empty list decides nothing: servers may still be starting.
  const isDecided = last?.input.toolSearch === input.toolSearch && last.input.tools.length > 0;
  const isKept = before && isDecided && !input.searchOnListChanged;
  const { isHeavy, because } = isKept
    ? { isHeavy: before.mode !== 'all', because: before.because }
    : weigh(input, { setting, canSearch: obstacle === undefined, before });
  const mode = !isHeavy ? 'all' : obstacle === undefined ? 'search' : 'best';
  const chosen = choose(input, mode, obstacle === undefined);
  const shown = asBefore(chosen.shown, before?.shown);
  const hidden = input.tools.length - shown.length;
  const exposed = {
    mode,
    shown,
    hidden,
    standing: asBefore(chosen.standing, before?.standing),
    offersSearch: hidden > 0 && obstacle === undefined,
    because: mode === 'best' && !isKept ? `${because}, and the model cannot search: ${obstacle}` : because,
  } as const;
  return before && isEqual(exposed, before) ? before : exposed;
}

function isEqual(one: Exposed, other: Exposed): boolean {
  return (
    one.mode === other.mode &&
    one.shown === other.shown &&
    one.hidden === other.hidden &&
    one.standing === other.standing &&
    one.offersSearch === other.offersSearch &&
    one.because === other.because
  );
}

interface ToolSearchSetting {
  readonly kind: 'auto' | 'on' | 'off';
  readonly percent: number;
}

function readSetting(text: string): ToolSearchSetting {
  if (text === 'on' || text === 'off') return { kind: text, percent: limits.exposure.percent };
  const written = /^auto:(\d+)$/.exec(text)?.[1];
  return { kind: 'auto', percent: written === undefined ? limits.exposure.percent : Number(written) };
}

/** Why the model is not left to search. In a small context window the answers of a search would push out the task itself. */
function obstacleToSearch({ model, minContextWindow }: ExposureInput): string | undefined {
  if (model.toolCalling === false) return 'it does not call tools by itself';
  if (model.toolSearch === false) return 'the host says so';
  if (windowOf(model) >= minContextWindow) return undefined;
  return `its context window is smaller than ${thousands(minContextWindow)} tokens`;
}

function windowOf({ contextWindow = 0 }: Model): number {
  return contextWindow > 0 ? contextWindow : limits.exposure.window;
}

interface WeighContext {
  readonly setting: ToolSearchSetting;
  readonly canSearch: boolean;
  readonly before: Exposed | undefined;
}

/**
 * Whether the tools take too much of the window, or are more than the model's provider accepts. Once too heavy, they must get clearly
 * lighter, so that the mode does not flap.
 */
function weigh(
  { tools, model, placementOf }: ExposureInput,
  { setting: { kind, percent }, canSearch, before }: WeighContext,
): { readonly isHeavy: boolean; readonly because: string } {
  if (kind !== 'auto') return { isHeavy: kind === 'on', because: `toolSearch is "${kind}"` };
  const mostChars = (percent / 100) * windowOf(model) * limits.exposure.charsPerToken;
  const mostTools = mostToolsOf(model);
  let chars = 0;
  let count = 0;
  const fills = (part: number) => chars > 0 && chars >= mostChars * part;
  for (const tool of tools) {
    if (canSearch && isSetAside(tool, placementOf)) continue;
    chars += costOf(tool).chars;
    count += 1;
    // Heavy enough: the remaining tools of a large fleet need not be read.
    if (fills(1) || count > mostTools) break;
  }
  const wasHeavy = before !== undefined && before.mode !== 'all';
  const { stays } = limits.exposure;
  const isHeavy = fills(1) || count > mostTools || (wasHeavy && (fills(stays) || count > mostTools * stays));
  const amount = fills(1) ? 'at least' : wasHeavy && fills(stays) ? 'nearly' : 'less than';
  const isForCount = isHeavy && amount === 'less than';
  return {
    isHeavy,
    because: isForCount
      ? `there are ${count > mostTools ? 'more than' : 'nearly'} ${mostTools} tools, and the provider of the model takes only so many`
      : `the tools would fill ${amount} ${percent} % of a context window of ${thousands(windowOf(model))} tokens`,
  };
}

/** A provider refuses the whole request for one tool too many. */
function mostToolsOf({ provider }: Model): number {
  const { tools }: { readonly tools: Partial<Record<Provider, number>> } = limits.exposure;
  return (provider && tools[provider]) ?? Number.POSITIVE_INFINITY;
}

/** Whether the configuration hides the tool from a model that can search, however few tools there are. */
function isSetAside(tool: Tool, placementOf: PlacementOf): boolean {
  const placement = placementOf(tool);
  return placement === 'defer' || placement === 'use_tool';
}

type Chosen = Pick<Exposed, 'shown' | 'standing'>;

function choose(input: ExposureInput, mode: ExposureMode, canSearch: boolean): Chosen {
  const { tools, model, placementOf } = input;
  const foundBefore = lookup(input.found, readToolKey);
  // No setting hides a tool from a model that cannot search: the model could never reach it.
  if (!canSearch && mode === 'all') return { shown: tools, standing: serversOf(tools) };
  const isPlaced = (placement: Placement) => placement === 'load' || (placement === 'auto' && mode === 'all');
  const isFound = (tool: Tool, placement: Placement) =>
    (!canSearch || placement !== 'use_tool') && model.promotion !== false && foundBefore(tool.id) !== undefined;
  const standing = new Set<Tool>();
  const found = new Set<Tool>();
  const rest: Tool[] = [];
  for (const tool of tools) {
    const placement = placementOf(tool);
    if (isPlaced(placement)) standing.add(tool);
    else rest.push(tool);
    if (!standing.has(tool) && isFound(tool, placement)) found.add(tool);
  }
  const unfound = () => rest.filter((tool) => !found.has(tool));
  // Claims are weighed as if no tool had been found: what a search finds changes nothing else that is shown.
  const more = canSearch ? claimed(rest, input) : [...found, ...best(unfound(), input)];
  for (const tool of more) standing.add(tool);
  const shown = tools.filter((tool) => standing.has(tool) || found.has(tool));
  return { shown: shown.length === tools.length ? tools : shown, standing: serversOf(standing) };
}

const serversOf = (tools: Iterable<Tool>): readonly ServerName[] =>
  [...new Set(Array.from(tools, ({ id }) => id.server))].sort();

/** Two maps, by server and by tool: building a key for each of ten thousand tools would cost more than everything else. */
function lookup<Item>(items: Iterable<Item>, idOf: (item: Item) => ToolId): (id: ToolId) => Item | undefined {
  const servers = new Map<ServerName, Map<string, Item>>();
  for (const item of items) {
    const { server, tool } = idOf(item);
    const itemsOfServer = servers.get(server);
    if (itemsOfServer) itemsOfServer.set(tool, item);
    else servers.set(server, new Map([[tool, item]]));
  }
  return ({ server, tool }) => servers.get(server)?.get(tool);
}

/** Tools whose trusted server asks to have them loaded, in turns, while the budget for all of them lasts. */
function claimed(hidden: readonly Tool[], { isClaimed, alwaysLoadChars, placementOf }: ExposureInput): readonly Tool[] {
  const claims = hidden.filter((tool) => placementOf(tool) !== 'use_tool' && isClaimed(tool));
  return fitting(inTurns(claims, claims.length), claims.length, { room: alwaysLoadChars, unit: 'chars' });
}

/** The best matches of the query, then a few tools of every server; at least one, however large. */
function best(hidden: readonly Tool[], { model, query = '', search }: ExposureInput): readonly Tool[] {
  const { tools: most, share } = limits.exposure.best;
  const ranked = search === undefined || query.trim() === '' ? [] : ranking(hidden, { query, search, limit: most });
  const candidates = [...new Set([...ranked, ...inTurns(hidden, most)])];
  const taken = fitting(candidates, most, { room: share * windowOf(model), unit: 'tokens' });
  return taken.length > 0 ? taken : candidates.slice(0, 1);
}

function ranking(
  tools: readonly Tool[],
  { query, search, limit }: { readonly query: string; readonly search: Search; readonly limit: number },
): readonly Tool[] {
  const find = lookup(tools, ({ id }) => id);
  const hits = search(query, { limit, isSeen: ({ id }) => find(id) !== undefined });
  return hits.flatMap(({ tool }) => find(tool.id) ?? []);
}

/** The first tool of every server, then the second, and so on: no server is favored for its name. */
function inTurns(tools: readonly Tool[], mostOfEach: number): readonly Tool[] {
  const rounds: Tool[][] = [];
  const taken = new Map<ServerName, number>();
  for (const tool of tools) {
    const round = taken.get(tool.id.server) ?? 0;
    if (round >= mostOfEach) continue;
    taken.set(tool.id.server, round + 1);
    const sameRound = rounds[round];
    if (sameRound) sameRound.push(tool);
    else rounds[round] = [tool];
  }
  return rounds.flat();
}

/** Takes tools in order while there is room. A tool that is too large is skipped; after four times `most` it stops. */
function fitting(
  tools: readonly Tool[],
  most: number,
  { room: whole, unit }: { readonly room: number; readonly unit: keyof Cost },
): readonly Tool[] {
  const taken: Tool[] = [];
  let room = whole;
  for (const tool of tools.slice(0, 4 * most)) {
    const cost = costOf(tool)[unit];
    if (cost > room) continue;
    taken.push(tool);
    room -= cost;
    if (taken.length === most) break;
  }
  return taken;
}

function asBefore<Item>(now: readonly Item[], before: readonly Item[] | undefined): readonly Item[] {
  return before?.length === now.length && now.every((item, at) => item === before[at]) ? before : now;
}
