// Owns finding servers in another program's file: at a path, under the name of a setting, or under the folder they are for.

import { type ConfigMap, isMap } from '../config-map.ts';
import { isWithin, pathsOf } from '../scopes.ts';
import type { EntryGroup, FindGroups } from './importer.ts';

/** The servers under one key at the top of the file. */
export const at =
  (key: string): FindGroups =>
  (content) =>
    groupAt(content, key);

/** Any value there is a group, even one of the wrong type: the reader of all groups reports it. */
function groupAt(content: ConfigMap, ...path: readonly string[]): readonly EntryGroup[] {
  const entries = path.reduce<unknown>(
    (map, key) => (isMap(map) && Object.hasOwn(map, key) ? map[key] : undefined),
    content,
  );
  return entries === undefined || entries === null ? [] : [{ path, entries }];
}

/** An editor takes a setting as one dotted key, as maps inside maps, or as both mixed. */
export const inSetting =
  (setting: string): FindGroups =>
  (content) =>
    spellingsOf(setting.split('.')).flatMap((path) => groupAt(content, ...path));

function spellingsOf([first = '', ...rest]: readonly string[]): readonly (readonly string[])[] {
  if (rest.length === 0) return [[first]];
  return spellingsOf(rest).flatMap(([next = '', ...others]) => [
    [`${first}.${next}`, ...others],
    [first, next, ...others],
  ]);
}

/**
 * The servers for the current folder, or for the closest folder above it, then those for all folders. Those for other folders
 * are only reported.
 */
export const byFolder: FindGroups = (content, { cwd, platform }) => {
  const { isAbsolute, relative } = pathsOf(platform);
  const folders = isMap(content['projects']) ? Object.keys(content['projects']) : [];
  const above = folders.filter((folder) => isAbsolute(folder) && isWithin(folder, cwd, platform));
  const [closest = ''] = above.sort((one, other) => relative(one, cwd).length - relative(other, cwd).length);
  const here = new Set(above.filter((folder) => relative(folder, closest) === ''));
  const groupOf = (folder: string) => groupAt(content, 'projects', folder, 'mcpServers').filter(isFilled);
  return [
    ...[...here].flatMap(groupOf).map((group) => ({ ...group, isForThisFolder: true as const })),
    ...groupAt(content, 'mcpServers'),
    ...folders
      .filter((folder) => !here.has(folder))
      .flatMap((folder) => groupOf(folder).map((group) => ({ ...group, forFolder: folder }))),
  ];
};

/** These programs note every folder they ever ran in, nearly always without a server. */
const isFilled = ({ entries }: EntryGroup) => !isMap(entries) || Object.keys(entries).length > 0;

/**
 * OpenCode 1 has the servers right under `mcp`, version 2 under `mcp.servers`. Version 2 still reads the old form, so one file may
 * hold both, and a server of the old form may even be called "servers".
 */
export const inOpenCode: FindGroups = (content) => {
  const { mcp } = content;
  if (!isMap(mcp)) return groupAt(content, 'mcp');
  const nested = isOpenCodeServer(mcp['servers']) ? [] : groupAt(content, 'mcp', 'servers');
  const flat = Object.entries(mcp).filter(([name, value]) => !reserved.has(name) || isOpenCodeServer(value));
  return [...nested, ...(flat.length === 0 ? [] : [{ path: ['mcp'], entries: Object.fromEntries(flat) }])];
};

const reserved: ReadonlySet<string> = new Set(['servers', 'timeout']);
const isOpenCodeServer = (value: unknown) => isMap(value) && ['local', 'remote'].some((type) => value['type'] === type);
