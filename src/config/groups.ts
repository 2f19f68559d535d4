// Owns finding servers in a file: under which of the keys that people and programs use, as a map or as a list. Also finds what
// looks like servers in places where none are read. `define.ts` decides what one entry means.

import { type ConfigMap, isMap, type KeyPath } from './config-map.ts';
import type { EntryGroup } from './importers/importer.ts';
import { camelCase } from './key-case.ts';
import { isRemark, vocabularies } from './vocabulary.ts';

export interface FoundGroups {
  readonly groups: readonly EntryGroup[];
  /** All other keys of the file. */
  readonly rest: ConfigMap;
}

/** In the order of the file. A file that holds nothing but servers, without a key around them, is one group. */
export function findGroups(content: ConfigMap): FoundGroups {
  const groups: EntryGroup[] = [];
  const rest: Record<string, unknown> = Object.create(null);
  for (const [key, value] of Object.entries(content)) {
    const found = value === null ? [] : groupsUnder(key, value);
    groups.push(...found);
    if (found.length === 0) rest[key] = value;
    else if (isSection(key)) rest[key] = without(value, found);
  }
  if (groups.length > 0 || !isBare(content)) return { groups, rest };
  return { groups: [{ path: [], entries: Object.fromEntries(entriesOfBare(content)) }], rest: {} };
}

function groupsUnder(key: string, value: unknown): readonly EntryGroup[] {
  const [word = ''] = camelCase(key).split('.').slice(-1);
  const isDotted = key.includes('.');
  if (isGroupKey(word) && (!isDotted || word !== 'servers' || /(^|\.)mcp\.servers$/.test(key)))
    return [{ path: [key], entries: value }];
  // In a JSON Schema, `properties` describes servers and holds none.
  if (!isMap(value) || key === 'properties') return [];
  const inside = Object.entries(value).flatMap(([inner, entries]): EntryGroup[] =>
    isNestedKey(key, camelCase(inner)) && entries !== null ? [{ path: [key, inner], entries }] : [],
  );
  if (inside.length > 0 || key !== 'mcp') return inside;
  return Object.values(value).some(isServerLike) ? [{ path: [key], entries: value }] : [];
}

const isGroupKey = (word: string) => ['mcpServers', 'servers', 'contextServers'].includes(word);

/** `servers` means something else in most maps; `mcpServers` never does. */
const isNestedKey = (outer: string, inner: string) =>
  inner === 'mcpServers' || (inner === 'servers' && /(^|\.)mcp$/.test(outer));

const isSection = (key: string) => vocabularies.file.meanings.has(camelCase(key));

/** A section of Plexus's own that also holds servers keeps its other keys. */
function without(value: unknown, groups: readonly EntryGroup[]): ConfigMap {
  const taken = groups.map(({ path }) => path[1]);
  return Object.fromEntries(Object.entries(Object(value)).filter(([key]) => !taken.includes(key)));
}

const entriesOfBare = (content: ConfigMap) => Object.entries(content).filter(([key]) => !isRemark(key));

function isBare(content: ConfigMap): boolean {
  const entries = entriesOfBare(content);
  return entries.some(([, value]) => isServerLike(value)) && entries.every(([, value]) => isMap(value));
}

const isServerLike = (value: unknown) =>
  isMap(value) && Object.keys(value).some((key) => serverKeys.has(camelCase(key)));

const addresses = ['url', 'httpUrl', 'serverUrl', 'baseUrl'];
const serverKeys = new Set(['command', 'program', ...addresses]);

/** Inputs stand beside the servers, also in an editor's settings. */
export function findInputs(content: ConfigMap): EntryGroup {
  const { inputs, mcp } = content;
  if (inputs === undefined && isMap(mcp)) return { path: ['mcp', 'inputs'], entries: mcp['inputs'] };
  return { path: ['inputs'], entries: inputs };
}

/** Servers, by their looks, where none are read. */
export interface StrayServers {
  /** The path of the first one. Empty: the whole file looks like one server. */
  readonly path: KeyPath;
  readonly more: number;
  /** The servers stand inside a text. */
  readonly isText: boolean;
}

const MOST_STRAYS = 5;

/** Searches the keys of a file that are neither groups of servers nor sections of Plexus's own. */
export function findStrays(rest: ConfigMap): readonly StrayServers[] {
  if (isSurelyServer(rest)) return [{ path: [], more: 0, isText: false }];
  const strays: StrayServers[] = [];
  const visit = (value: unknown, path: KeyPath): void => {
    if (strays.length === MOST_STRAYS) return;
    if (typeof value === 'string' && WRITTEN_SERVERS.test(value)) strays.push({ path, more: 0, isText: true });
    if (typeof value !== 'object' || value === null) return;
    const children = Object.entries(value).map(([key, each]) => ({
      key: Array.isArray(value) ? Number(key) : key,
      each,
    }));
    const [first, ...others] = children.filter(({ each }) => isSurelyServer(each));
    if (first) strays.push({ path: [...path, first.key], more: others.length, isText: false });
    else for (const { key, each } of children) visit(each, [...path, key]);
  };
  visit(Object.fromEntries(Object.entries(rest).filter(([key]) => !isSection(key) && !isRemark(key))), []);
  return strays;
}

const WRITTEN_SERVERS = /"(?:mcpServers|mcp_servers|context_servers)"\s*:\s*\{\s*"/;

/** Many maps have a `url`, and some a `command`: only further keys make it certain that the map is a server. */
function isSurelyServer(value: unknown): boolean {
  if (!isMap(value)) return false;
  const { command, args, env, headers, type = value['transport'] } = value;
  const isStarted = typeof command === 'string' || Array.isArray(command);
  const isReached = addresses.some((key) => typeof value[key] === 'string' && /^\w+:\/\//.test(String(value[key])));
  if (isStarted && (Array.isArray(args) || isMap(env))) return true;
  return (isStarted || isReached) && (TRANSPORT.test(String(type)) || (isReached && isMap(headers)));
}

const TRANSPORT = /^(stdio|local|remote|sse|ws|websocket|http|streamable.?http)$/i;

export interface GroupEntry {
  /** `undefined`: an entry of a list without a name. */
  readonly name: string | undefined;
  readonly value: unknown;
  readonly path: KeyPath;
}

/** In a list, the name is one of the entry's own keys. `undefined`: the group is neither a map nor a list. */
export function entriesOf({ path, entries }: Pick<EntryGroup, 'path' | 'entries'>): readonly GroupEntry[] | undefined {
  if (Array.isArray(entries)) return entries.map((value, at) => listed(value, [...path, at]));
  if (!isMap(entries)) return undefined;
  return Object.entries(entries).map(([name, value]) => ({ name, value, path: [...path, name] }));
}

function listed(value: unknown, path: KeyPath): GroupEntry {
  if (!isMap(value)) return { name: undefined, value, path };
  const { name, id, ...rest } = value;
  const label = name ?? id;
  return { name: typeof label === 'string' ? label : undefined, value: rest, path };
}
