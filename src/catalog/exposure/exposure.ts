// Owns which of a turn's tools a model is shown: all of them, those it need not search for, or the best few.
// Only decides: a tool that is not shown can still be called. How many tools that are is `limits.exposure` in
// `model/limits.ts`.

import { thousands } from '../../kernel/thousands.ts';
import { limits } from '../../model/limits.ts';
import type { Model } from '../../model/model.ts';
import { readToolKey, type ServerName, type ToolId } from '../../model/names.ts';
import type { Tool } from '../../model/tool.ts';
import { costOf } from './cost.ts';
import { claimsToBeLoaded, type PlacementOf } from './placement.ts';

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
  const shown = asBefore(choose(input, mode, obstacle === undefined), before?.shown);
  const hidden = input.tools.length - shown.length;
  const exposed = {
    mode,
    shown,
    hidden,
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

/** Whether the tools take too much of the window. Once too heavy, they must get clearly lighter, so that the mode does not flap. */
function weigh(
  { tools, model, placementOf }: ExposureInput,
  { setting: { kind, percent }, canSearch, before }: WeighContext,
): { readonly isHeavy: boolean; readonly because: string } {
  if (kind !== 'auto') return { isHeavy: kind === 'on', because: `toolSearch is "${kind}"` };
  const mostChars = (percent / 100) * windowOf(model) * limits.exposure.charsPerToken;
  let chars = 0;
  const fills = (part: number) => chars > 0 && chars >= mostChars * part;
  for (const tool of tools) {
    if (canSearch && isSetAside(tool, placementOf)) continue;
    chars += costOf(tool).chars;
    // Heavy enough: the remaining tools of a large fleet need not be read.
    if (fills(1)) break;
  }
  const wasHeavy = before !== undefined && before.mode !== 'all';
  const isHeavy = fills(1) || (wasHeavy && fills(limits.exposure.stays));
  const amount = fills(1) ? 'at least' : isHeavy ? 'nearly' : 'less than';
  return {
    isHeavy,
    because: `the tools would fill ${amount} ${percent} % of a context window of ${thousands(windowOf(model))} tokens`,
  };
}

/** Whether the configuration hides the tool from a model that can search, however few tools there are. */
function isSetAside(tool: Tool, placementOf: PlacementOf): boolean {
  const placement = placementOf(tool);
  return placement === 'defer' || placement === 'use_tool';
}

function choose(input: ExposureInput, mode: ExposureMode, canSearch: boolean): readonly Tool[] {
  const { tools, model, placementOf } = input;
  const found = lookup(input.found, readToolKey);
  // No setting hides a tool from a model that cannot search: the model could never reach it.
  if (!canSearch && mode === 'all') return tools;
  const isShown = (tool: Tool): boolean => {
    const placement = placementOf(tool);
    if (placement === 'load' || (placement === 'auto' && mode === 'all')) return true;
    return (placement !== 'use_tool' || !canSearch) && model.promotion !== false && found(tool.id) !== undefined;
  };
  const shown = new Set<Tool>();
  const rest: Tool[] = [];
  for (const tool of tools) {
    if (isShown(tool)) shown.add(tool);
    else rest.push(tool);
  }
  if (rest.length === 0) return tools;
  for (const tool of canSearch ? claimed(rest, input) : best(rest, input)) shown.add(tool);
  return tools.filter((tool) => shown.has(tool));
}

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

/** Tools whose server asks to have them loaded. Each server gets a few, and none can fill the window. */
function claimed(hidden: readonly Tool[], { model, placementOf }: ExposureInput): readonly Tool[] {
  const claims = hidden.filter((tool) => claimsToBeLoaded(tool.definition) && placementOf(tool) !== 'use_tool');
  const { tools, share } = limits.exposure.claimed;
  return fitting(inTurns(claims, tools), claims.length, share * windowOf(model));
}

/** The best matches of the query, then a few tools of every server; at least one, however large. */
function best(hidden: readonly Tool[], { model, query = '', search }: ExposureInput): readonly Tool[] {
  const { tools: most, share } = limits.exposure.best;
  const ranked = search === undefined || query.trim() === '' ? [] : ranking(hidden, { query, search, limit: most });
  const candidates = [...new Set([...ranked, ...inTurns(hidden, most)])];
  const taken = fitting(candidates, most, share * windowOf(model));
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
function fitting(tools: readonly Tool[], most: number, tokens: number): readonly Tool[] {
  const taken: Tool[] = [];
  let room = tokens;
  for (const tool of tools.slice(0, 4 * most)) {
    const cost = costOf(tool);
    if (cost.tokens > room) continue;
    taken.push(tool);
    room -= cost.tokens;
    if (taken.length === most) break;
  }
  return taken;
}

function asBefore(shown: readonly Tool[], before: readonly Tool[] | undefined): readonly Tool[] {
  return before?.length === shown.length && shown.every((tool, at) => tool === before[at]) ? before : shown;
}
