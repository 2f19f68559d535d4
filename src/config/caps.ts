// Owns how much one file of the workspace may hold: a repository must not be able to keep the host busy. A file over a cap is
// refused whole, because the part that is left out could be the rule that denies.

import { limits } from '../model/limits.ts';
import { type ConfigMap, isMap, type KeyPath } from './config-map.ts';
import type { FileProblem } from './file-problems.ts';
import { entriesOf } from './groups.ts';
import type { EntryGroup } from './importers/importer.ts';
import { camelCase } from './key-case.ts';
import { labelOf } from './problem.ts';

/** Looks at lengths only, before anything is read. `undefined`: the file keeps every cap. */
export function overCap(groups: readonly EntryGroup[], rules: unknown): FileProblem | undefined {
  const { workspaceFile: most } = limits;
  if (Array.isArray(rules) && rules.length > most.rules)
    return tooMany(['permissions', 'rules'], 'rules', rules.length, most.rules);
  const entries = groups.flatMap((group) => entriesOf(group) ?? []);
  const [first] = groups;
  if (first && entries.length > most.servers) return tooMany(first.path, 'servers', entries.length, most.servers);
  for (const { value, path } of entries) {
    const count = isMap(value) ? countArguments(value) : 0;
    if (count > most.arguments) return tooMany(path, 'arguments', count, most.arguments);
  }
  return undefined;
}

const argumentKeys = new Set(['args', 'arguments', 'command', 'program', 'cmd', 'transport', 'type', 'transportType']);

/** In every spelling: a list, one line of words, or a map around them. */
function countArguments(entry: ConfigMap): number {
  let count = 0;
  for (const [key, value] of Object.entries(entry)) {
    if (!argumentKeys.has(camelCase(key))) continue;
    if (Array.isArray(value)) count += value.length;
    else if (typeof value === 'string') count += value.match(/\s+/g)?.length ?? 0;
    else if (isMap(value)) count += countArguments(value);
  }
  return count;
}

function tooMany(path: KeyPath, what: string, found: number, most: number): FileProblem {
  return {
    severity: 'error',
    path,
    message: `${labelOf(path)} has ${found} ${what}, and a file of the workspace may have ${most}, ${REFUSED}`,
    remedy: REMEDY,
  };
}

/** Completes the problem of a file that is too large. */
export const REFUSED = 'so nothing in the file counts';
export const REMEDY = 'Shorten the file, or move what is yours into your own file.';
