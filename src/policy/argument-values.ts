// Owns finding what a call has in one argument, also within others. It is the caller's, so it may be anything.

import { isObject, type JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';

export interface ArgumentValues {
  readonly values: readonly unknown[];
  /** Wherever there could be one, there is one: what is allowed must not go around it. */
  readonly isComplete: boolean;
  /** Something else is in its place, or so much that nobody reads it all: what is closed stays closed. */
  readonly isClear: boolean;
}

/** Of a list, each element. `keys` lead into maps; a name that has a dot itself counts as well. */
export function valuesAt(args: JsonObject, keys: readonly string[]): ArgumentValues {
  const values: unknown[] = [];
  let [isComplete, isClear, parts] = [true, true, 0];
  const visit = (value: unknown, at: number, depth: number): void => {
    if (++parts > limits.ruleValues.parts || depth > limits.ruleValues.depth) {
      isComplete = false;
      isClear = false;
    } else if (Array.isArray(value))
      for (let index = 0; index < value.length && isClear; index++) visit(value[index], at, depth + 1);
    else if (at === keys.length) values.push(value);
    else if (isObject(value)) enter(value, at, depth);
    else {
      isComplete = false;
      if (value !== null && value !== undefined) isClear = false;
    }
  };
  const enter = (map: JsonObject, at: number, depth: number): void => {
    let isThere = false;
    for (let end = at + 1; end <= keys.length; end++) {
      const key = keys.slice(at, end).join('.');
      if (!Object.hasOwn(map, key) || map[key] === undefined) continue;
      isThere = true;
      visit(map[key], end, depth + 1);
    }
    if (!isThere) isComplete = false;
  };
  enter(args, 0, 0);
  return { values, isComplete: isComplete && values.length > 0, isClear };
}
