// Owns the one spelling of a definition: its keys sorted at every depth, frozen, equal to the byte for equal content.

import { limits } from '../../model/limits.ts';

/** Nothing where it is too deep or has too many parts; what holds itself always is. */
export function canonicalCopy<Value>(value: Value): Value | undefined {
  const copy = new Copy(limits.definition, false).of(value, 1);
  return copy === tooMuch ? undefined : (copy as Value);
}

/** For what was made of such a copy: the parts that were kept are frozen, and in order. */
export function canonicalAgain<Value>(value: Value): Value {
  return new Copy(unbounded, true).of(value, 1) as Value;
}

const unbounded = { depth: Number.POSITIVE_INFINITY, parts: Number.POSITIVE_INFINITY };

interface Size {
  readonly depth: number;
  readonly parts: number;
}

const tooMuch = Symbol('too much');

class Copy {
  readonly #depth: number;
  #partsLeft: number;

  readonly #keepsFrozen: boolean;

  constructor({ depth, parts }: Size, keepsFrozen: boolean) {
    this.#keepsFrozen = keepsFrozen;
    this.#depth = depth;
    this.#partsLeft = parts;
  }

  of(value: unknown, level: number): unknown {
    if (--this.#partsLeft < 0 || level > this.#depth) return tooMuch;
    if (typeof value !== 'object' || value === null || (this.#keepsFrozen && Object.isFrozen(value))) return value;
    return Array.isArray(value) ? this.#list(value, level) : this.#object(value as Record<string, unknown>, level);
  }

  /** What is in order already is frozen as it is. */
  #list(value: readonly unknown[], level: number): unknown {
    let copy: unknown[] | undefined;
    for (let at = 0; at < value.length; at++) {
      const part = this.of(value[at], level + 1);
      if (part === tooMuch) return tooMuch;
      if (part !== value[at]) copy ??= value.slice(0, at);
      copy?.push(part);
    }
    return Object.freeze(copy ?? value);
  }

  #object(value: Readonly<Record<string, unknown>>, level: number): unknown {
    const keys = Object.keys(value);
    let isSame = !sort(keys);
    const copy: Record<string, unknown> = {};
    for (const key of keys) {
      const own = value[key];
      const part = this.of(own, level + 1);
      if (part === tooMuch) return tooMuch;
      if (part !== own) isSame = false;
      if (key === '__proto__') Object.defineProperty(copy, key, { value: part, enumerable: true });
      else copy[key] = part;
    }
    return Object.freeze(isSame ? value : copy);
  }
}

const FEW = 16;

/** Whether it had to. Most lists of keys are short, and for those a plain insertion is the fastest. */
function sort(keys: string[]): boolean {
  let hadTo = false;
  for (let at = 1; at < keys.length; at++) {
    const key = keys[at] as string;
    if ((keys[at - 1] as string) <= key) continue;
    hadTo = true;
    if (keys.length > FEW) return keys.sort().length > 0;
    let to = at;
    for (; to > 0 && (keys[to - 1] as string) > key; to--) keys[to] = keys[to - 1] as string;
    keys[to] = key;
  }
  return hadTo;
}
