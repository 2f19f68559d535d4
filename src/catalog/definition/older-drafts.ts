// Owns spelling what older drafts of JSON Schema say as the current one does.

import type { JsonObject } from '../../kernel/json.ts';
import type { Draft } from './keywords.ts';

const open: JsonObject = Object.freeze({});

export const bounds = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const;

/** Draft 4 says beside the limit whether it is excluded. */
export function spellBound(draft: Draft, bound: string, limit: string): false {
  const isExcluded = draft[bound] === true && typeof draft[limit] === 'number';
  if (isExcluded) draft[bound] = draft[limit];
  else delete draft[bound];
  if (isExcluded) delete draft[limit];
  return false;
}

/** Draft 7 lists the first items in `items`; and no further items is the same as so many at most. */
export function spellTuple(draft: Draft): false {
  if (Array.isArray(draft['items'])) {
    const { items, additionalItems } = draft;
    delete draft['additionalItems'];
    delete draft['items'];
    if (items.length > 0) draft['prefixItems'] = items;
    if (additionalItems !== undefined) draft['items'] = additionalItems === true ? open : additionalItems;
  }
  if (draft['items'] === false) {
    const { prefixItems, maxItems } = draft;
    const most = Array.isArray(prefixItems) ? prefixItems.length : 0;
    delete draft['items'];
    draft['maxItems'] = typeof maxItems === 'number' ? Math.min(maxItems, most) : most;
  }
  return false;
}

export function lacksItems({ type, items }: Draft): boolean {
  return items === undefined && (type === 'array' || (Array.isArray(type) && type.includes('array')));
}
