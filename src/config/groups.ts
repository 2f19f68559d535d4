// Owns where servers stand in a file: under which of the keys that people and programs use, as a map or as a list. Knows as well
// what looks like servers where none are read. What one entry means is `define.ts`'s.

import type { ConfigMap } from './config-map.ts';
import { isMap, type KeyPath } from './config-map.ts';
import type { EntryGroup } from './importers/importer.ts';
import { camelCase } from './key-case.ts';
import { isRemark, vocabularies } from './vocabulary.ts';

export interface FoundGroups {
  readonly groups: readonly EntryGroup[];
  /** What the file says besides. */
  readonly rest: ConfigMap;
}

/** In the order they are written. A file that holds nothing but servers, without a key around them, is one group. */
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
  // What a schema says of servers is about them, and holds none.
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

/** A section of our own that also holds servers still says the rest of what it says. */
function without(value: unknown, groups: readonly EntryGroup[]): ConfigMap {
  const taken = groups.map(({ path }) => path[1]);
  return Object.fromEntries(Object.entries(Object(value)).filter(([key]) => !taken.includes(key)));
}

const entriesOfBare = (content: ConfigMap) => Object.entries(content).filter(([key]) => !isRemark(key));

function isBare(content: ConfigMap): boolean {
  const entries = entriesOfBare(content);
  return entries.some(([, value]) => isServerLike(value)) && entries.every(([, value]) => isMap(value));
}

const isServerLike = (value: unknown) => isMap(value) && Object.keys(value).some((key) => telling.has(camelCase(key)));

const addresses = ['url', 'httpUrl', 'serverUrl', 'baseUrl'];
const telling = new Set(['command', 'program', ...addresses]);

/** What a person is asked for stands beside the servers: in an editor's settings, too. */
export function findInputs(content: ConfigMap): EntryGroup {
  const { inputs, mcp } = content;
  if (inputs === undefined && isMap(mcp)) return { path: ['mcp', 'inputs'], entries: mcp['inputs'] };
  return { path: ['inputs'], entries: inputs };
}

/** Something that looks like servers, where none are read. */
export interface StrayServers {
  /** The first of them. Empty: the whole file is one. */
  readonly path: KeyPath;
  readonly more: number;
  /** They are inside of a text. */
  readonly isText: boolean;
}

const MOST_STRAYS = 5;

/** In what is left of a file when its groups are taken out, and its own sections left alone. */
export function findStrays(rest: ConfigMap): readonly StrayServers[] {
  if (isCertainly(rest)) return [{ path: [], more: 0, isText: false }];
  const strays: StrayServers[] = [];
  const visit = (value: unknown, path: KeyPath): void => {
    if (strays.length === MOST_STRAYS) return;
    if (typeof value === 'string' && WRITTEN_SERVERS.test(value)) strays.push({ path, more: 0, isText: true });
    if (typeof value !== 'object' || value === null) return;
    const children = Object.entries(value).map(([key, each]) => ({
      key: Array.isArray(value) ? Number(key) : key,
      each,
    }));
    const [first, ...others] = children.filter(({ each }) => isCertainly(each));
    if (first) strays.push({ path: [...path, first.key], more: others.length, isText: false });
    else for (const { key, each } of children) visit(each, [...path, key]);
  };
  visit(Object.fromEntries(Object.entries(rest).filter(([key]) => !isSection(key) && !isRemark(key))), []);
  return strays;
}

const WRITTEN_SERVERS = /"(?:mcpServers|mcp_servers|context_servers)"\s*:\s*\{\s*"/;

/** Many maps have a `url`, and some a `command`: only together with what else makes a server of it. */
function isCertainly(value: unknown): boolean {
  if (!isMap(value)) return false;
  const { command, args, env, headers, type = value['transport'] } = value;
  const isStarted = typeof command === 'string' || Array.isArray(command);
  const isReached = addresses.some((key) => typeof value[key] === 'string' && /^\w+:\/\//.test(String(value[key])));
  if (isStarted && (Array.isArray(args) || isMap(env))) return true;
  return (isStarted || isReached) && (TRANSPORT.test(String(type)) || (isReached && isMap(headers)));
}

const TRANSPORT = /^(stdio|local|remote|sse|ws|websocket|http|streamable.?http)$/i;

export interface GroupEntry {
  /** `undefined`: it has none, and a list needs one. */
  readonly name: string | undefined;
  readonly value: unknown;
  readonly path: KeyPath;
}

/** `undefined`: neither a map nor a list. In a list, the name is one of the entry's own keys. */
export function entriesOf({ path, entries }: Pick<EntryGroup, 'path' | 'entries'>): readonly GroupEntry[] | undefined {
  if (Array.isArray(entries)) return entries.map((value, at) => listed(value, [...path, at]));
  if (!isMap(entries)) return undefined;
  return Object.entries(entries).map(([name, value]) => ({ name, value, path: [...path, name] }));
}

function listed(value: unknown, path: KeyPath): GroupEntry {
  if (!isMap(value)) return { name: undefined, value, path };
  const { name, id, ...rest } = value;
  const given = name ?? id;
  return { name: typeof given === 'string' ? given : undefined, value: rest, path };
}
