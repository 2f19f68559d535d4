// Owns which of a server's tools its configuration lets through, and its settings for single tools. A deny subtracts from an
// allow. Checked when tools are listed and again at every call: a list may be older than the configuration.

import { matchesWildcard, specificity } from '../kernel/wildcard.ts';
import type { QualifiedName, ToolId } from '../model/names.ts';
import type { ApprovalMode, ServerSettings, ToolSettings } from '../model/server.ts';

export type Filters = Pick<ServerSettings, 'enabledTools' | 'disabledTools' | 'tools'>;

export function isExposed(tool: string, settings: Filters): boolean {
  const { enabledTools, disabledTools } = settings;
  if (enabledTools !== undefined && !isListed(tool, enabledTools)) return false;
  return !isListed(tool, disabledTools) && toolSettingsOf(tool, settings).enabled !== false;
}

/** The configured settings of one tool; of two patterns the more specific one counts, key by key. */
export function toolSettingsOf(tool: string, settings: Pick<ServerSettings, 'tools'>): ToolSettings {
  // Called several times in every call, and nearly always for a server without settings for single tools.
  return settings.tools === undefined ? NOTHING_SAID : Object.assign({}, ...saidOf(tool, settings));
}

const NOTHING_SAID: ToolSettings = Object.freeze({});

/** All configured settings that apply to one tool, the most specific last. */
export function saidOf(tool: string, { tools }: Pick<ServerSettings, 'tools'>): readonly ToolSettings[] {
  if (tools === undefined) return [];
  const { exact, patterns } = sortedOnce(tools);
  const matching = patterns.filter(({ pattern }) => matchesWildcard(pattern, tool)).map(({ said }) => said);
  const own = exact.get(tool);
  return own === undefined ? matching : [...matching, own];
}

/** Whether a name pattern matches this tool: as a model spells it, canonically, or as `server.tool` or `server/tool`. */
export function speaksOf(
  pattern: string,
  { id, name }: { readonly id: ToolId; readonly name: QualifiedName },
): boolean {
  const { server, tool } = id;
  const spellings = [name, `mcp__${server}__${tool}`, `${server}__${tool}`, `${server}.${tool}`, `${server}/${tool}`];
  return spellings.some((spelled) => matchesWildcard(pattern, spelled)) || isServer(pattern, server);
}

/** A server's name alone stands for all of its tools. */
const isServer = (pattern: string, server: string) => pattern === server || pattern === `mcp__${server}`;

const isPattern = (text: string) => /[*?]/.test(text);

interface Sorted {
  readonly exact: ReadonlyMap<string, ToolSettings>;
  /** The most specific last; of two equally specific ones the stricter last. */
  readonly patterns: readonly { readonly pattern: string; readonly said: ToolSettings }[];
}

/** Settings are frozen values: each is sorted once, however many tools it is matched with. */
const sorted = new WeakMap<object, Sorted>();
const lists = new WeakMap<
  readonly string[],
  { readonly exact: ReadonlySet<string>; readonly patterns: readonly string[] }
>();

function sortedOnce(tools: Readonly<Record<string, ToolSettings>>): Sorted {
  const known = sorted.get(tools);
  if (known) return known;
  const entries = Object.entries(tools);
  const patterns = entries
    .filter(([name]) => isPattern(name))
    .map(([pattern, said]) => ({ pattern, said }))
    .sort((a, b) => specificity(a.pattern) - specificity(b.pattern) || strictness(a.said) - strictness(b.said));
  const made = { exact: new Map(entries), patterns };
  sorted.set(tools, made);
  return made;
}

const strictness = ({ enabled, approval, outbound }: ToolSettings) =>
  (enabled === false ? 8 : 0) +
  (outbound === true ? 4 : 0) +
  (approval === undefined ? 0 : STRICTEST_LAST.indexOf(approval));

const STRICTEST_LAST: readonly ApprovalMode[] = ['approve', 'auto', 'writes', 'prompt'];

function isListed(tool: string, list: readonly string[]): boolean {
  let known = lists.get(list);
  if (known === undefined) {
    known = { exact: new Set(list), patterns: list.filter(isPattern) };
    lists.set(list, known);
  }
  return known.exact.has(tool) || known.patterns.some((pattern) => matchesWildcard(pattern, tool));
}
