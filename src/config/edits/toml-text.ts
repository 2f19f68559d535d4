// Owns writing a value as TOML text: one line per setting, and maps inside an entry in braces.

import { stringify } from 'smol-toml';
import { type ConfigMap, isMap, type KeyPath } from '../config-map.ts';

export function inlineText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inlineText).join(', ')}]`;
  if (!isMap(value)) return stringify({ it: value }).slice('it = '.length).trimEnd();
  const pairs = Object.entries(value).map(([key, each]) => pairText(key, each));
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
}

export const pairText = (key: string, value: unknown) => `${keyText(key)} = ${inlineText(value)}`;

export const keyText = (key: string) => stringify({ [key]: 0 }).slice(0, -' = 0\n'.length);

/** Without indices: the header of a list of tables has none. */
export const keysText = (path: KeyPath) =>
  path
    .filter((key) => typeof key === 'string')
    .map(keyText)
    .join('.');

export const linesOf = (entry: ConfigMap) => Object.entries(entry).map(([key, value]) => pairText(key, value));
