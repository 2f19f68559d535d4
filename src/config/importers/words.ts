// Owns what several translations share: every text of an entry, and changing it, and a `timeout` that is known to be milliseconds.

import type { ConfigMap } from '../config-map.ts';
import { isMap } from '../config-map.ts';

/** Keys stay as they are. */
export function mapTexts(entry: ConfigMap, change: (text: string) => string): ConfigMap {
  const changed = (value: unknown): unknown => {
    if (typeof value === 'string') return change(value);
    if (Array.isArray(value)) return value.map(changed);
    return isMap(value) ? mapTexts(value, change) : value;
  };
  return Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, changed(value)]));
}

export function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Below a second no one can mean milliseconds: such a value stays for the reader of all files to judge. */
export function timeoutInMs({ timeout, ...entry }: ConfigMap): ConfigMap {
  if (timeout === undefined) return entry;
  return typeof timeout === 'number' && timeout >= 1_000 ? { ...entry, toolTimeoutMs: timeout } : { ...entry, timeout };
}
