// Owns finding the values of one argument in a call, also nested ones. Arguments come from the model and may be anything.

import { isObject, type JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';

export interface ArgumentValues {
  readonly values: readonly unknown[];
  /** Every place where the argument can stand has a value. Otherwise an allow does not hold: the call could avoid it. */
  readonly isComplete: boolean;
  /** False where something else is in the argument's place, or too much to look through; a deny or ask then holds. */
  readonly isClear: boolean;
}

/** `keys` lead into maps; a key that contains a dot itself is found as well. Of a list, each element counts. */
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
    let isPresent = false;
    for (let end = at + 1; end <= keys.length; end++) {
      const key = keys.slice(at, end).join('.');
      if (!Object.hasOwn(map, key) || map[key] === undefined) continue;
      isPresent = true;
      visit(map[key], end, depth + 1);
    }
    if (!isPresent) isComplete = false;
  };
  enter(args, 0, 0);
  return { values, isComplete: isComplete && values.length > 0, isClear };
}
