// Owns the canonical copy of a definition: keys sorted at every depth, frozen, byte for byte equal for equal content.

import { limits } from '../../model/limits.ts';

/** `undefined` if the value is too deep or has too many parts; a value that contains itself always is. */
export function canonicalCopy<Value>(value: Value): Value | undefined {
  const copy = new CanonicalCopy(limits.definition, false).of(value, 1);
  return copy === tooLarge ? undefined : (copy as Value);
}

/** For a value built from a canonical copy: its frozen parts are canonical already and stay. */
export function canonicalAgain<Value>(value: Value): Value {
  return new CanonicalCopy(unbounded, true).of(value, 1) as Value;
}

const unbounded = { depth: Number.POSITIVE_INFINITY, parts: Number.POSITIVE_INFINITY };

interface CopyLimits {
  readonly depth: number;
  readonly parts: number;
}

const tooLarge = Symbol('too large');

class CanonicalCopy {
  readonly #depth: number;
  #partsLeft: number;

  readonly #keepsFrozen: boolean;

  constructor({ depth, parts }: CopyLimits, keepsFrozen: boolean) {
    this.#keepsFrozen = keepsFrozen;
    this.#depth = depth;
    this.#partsLeft = parts;
  }

  of(value: unknown, level: number): unknown {
    if (--this.#partsLeft < 0 || level > this.#depth) return tooLarge;
    if (typeof value !== 'object' || value === null || (this.#keepsFrozen && Object.isFrozen(value))) return value;
    return Array.isArray(value) ? this.#list(value, level) : this.#object(value as Record<string, unknown>, level);
  }

  /** A list whose parts need no copy is frozen itself. */
  #list(value: readonly unknown[], level: number): unknown {
    let copy: unknown[] | undefined;
    for (let at = 0; at < value.length; at++) {
      const part = this.of(value[at], level + 1);
      if (part === tooLarge) return tooLarge;
      if (part !== value[at]) copy ??= value.slice(0, at);
      copy?.push(part);
    }
    return Object.freeze(copy ?? value);
  }

  #object(value: Readonly<Record<string, unknown>>, level: number): unknown {
    const keys = Object.keys(value);
    let isSame = !sortKeys(keys);
    const copy: Record<string, unknown> = {};
    for (const key of keys) {
      const own = value[key];
      const part = this.of(own, level + 1);
      if (part === tooLarge) return tooLarge;
      if (part !== own) isSame = false;
      if (key === '__proto__') Object.defineProperty(copy, key, { value: part, enumerable: true });
      else copy[key] = part;
    }
    return Object.freeze(isSame ? value : copy);
  }
}

const FEW = 16;

/** Gives whether the order changed. Most lists of keys are short, and for those insertion sort is the fastest. */
function sortKeys(keys: string[]): boolean {
  let isChanged = false;
  for (let at = 1; at < keys.length; at++) {
    const key = keys[at] as string;
    if ((keys[at - 1] as string) <= key) continue;
    isChanged = true;
    if (keys.length > FEW) return keys.sort().length > 0;
    let to = at;
    for (; to > 0 && (keys[to - 1] as string) > key; to--) keys[to] = keys[to - 1] as string;
    keys[to] = key;
  }
  return isChanged;
}
