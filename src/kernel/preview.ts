// Owns previews of data of any size: a copy with as much of it as a person would read, which says what it leaves out. The copy
// shares nothing with the data, so that its receiver cannot change the data.

import { isObject } from './json.ts';

export interface PreviewLimits {
  /** Values in all. */
  readonly parts: number;
  /** Per string. */
  readonly chars: number;
}

/** For plain data. Parts beyond the limits are counted, not visited. */
export function preview(value: unknown, limits: PreviewLimits): unknown {
  return copy(value, { left: limits.parts, chars: limits.chars });
}

const LONGEST_KEY = 200;

interface PreviewBudget {
  left: number;
  readonly chars: number;
}

function copy(value: unknown, budget: PreviewBudget): unknown {
  budget.left--;
  if (typeof value === 'string') return cut(value, budget.chars);
  if (Array.isArray(value)) return copyList(value, budget);
  return isObject(value) ? copyMap(value, budget) : value;
}

function cut(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const head = text.slice(0, chars).replace(/[\uD800-\uDBFF]$/, '');
  return `${head}… (${text.length} characters)`;
}

function copyList(list: readonly unknown[], budget: PreviewBudget): unknown {
  const shown: unknown[] = [];
  for (const item of list) {
    if (budget.left <= 0) return [...shown, `… (${list.length - shown.length} more)`];
    shown.push(copy(item, budget));
  }
  return shown;
}

function copyMap(map: Readonly<Record<string, unknown>>, budget: PreviewBudget): unknown {
  const shown: [key: string, value: unknown][] = [];
  const keys = Object.keys(map);
  for (const key of keys) {
    if (budget.left <= 0) {
      shown.push(['…', `${keys.length - shown.length} more`]);
      break;
    }
    shown.push([cut(key, LONGEST_KEY), copy(map[key], budget)]);
  }
  return Object.fromEntries(shown);
}
