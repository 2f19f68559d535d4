// Owns finding servers in another program's file: at a path, under the name of a setting, or under the folder they are for.

import type { ConfigMap } from '../config-map.ts';
import { isMap } from '../config-map.ts';
import { type HostEnvironment, isWithin, pathsOf } from '../scopes.ts';
import type { EntryGroup } from './importer.ts';

/** Whatever stands there is a group, even of the wrong type: the reader of all groups tells of it. */
export function groupAt(content: ConfigMap, ...path: readonly string[]): readonly EntryGroup[] {
  const entries = path.reduce<unknown>(
    (map, key) => (isMap(map) && Object.hasOwn(map, key) ? map[key] : undefined),
    content,
  );
  return entries === undefined || entries === null ? [] : [{ path, entries }];
}

/** An editor takes a setting as one dotted key, as maps inside maps, or as both mixed. */
export function groupsOfSetting(content: ConfigMap, setting: string): readonly EntryGroup[] {
  return spellingsOf(setting.split('.')).flatMap((path) => groupAt(content, ...path));
}

function spellingsOf([first = '', ...rest]: readonly string[]): readonly (readonly string[])[] {
  if (rest.length === 0) return [[first]];
  return spellingsOf(rest).flatMap(([next = '', ...others]) => [
    [`${first}.${next}`, ...others],
    [first, next, ...others],
  ]);
}

/** The servers of this folder, or of the closest one around it; then those for all. Other folders' are only told of. */
export function groupsByFolder(content: ConfigMap, { cwd, platform }: HostEnvironment): readonly EntryGroup[] {
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
}

/** These programs note every folder they ever ran in, nearly always without a server. */
const isFilled = ({ entries }: EntryGroup) => !isMap(entries) || Object.keys(entries).length > 0;
