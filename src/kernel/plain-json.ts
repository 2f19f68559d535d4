// Owns checking that a value is plain JSON: no cycles, no dates, no functions, nothing that throws when it is read. The value is
// copied while it is checked, so that what is shown and sent is what was checked, whatever its owner does to it afterwards.

import { pathOf, quote, type ValueLocation } from './schema-words.ts';

export interface PlainLimits {
  readonly depth: number;
  /** Values in total. */
  readonly parts: number;
  /** Of all strings and keys together. */
  readonly chars: number;
}

export type CopiedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** A copy in plain objects and lists, or what is wrong, in words. A key whose value is `undefined` is left out. */
export function copyJson(value: unknown, limits: PlainLimits): CopiedJson {
  const walk: CopyWalk = { limits, partsLeft: limits.parts, charsLeft: limits.chars, ancestors: [] };
  try {
    return { ok: true, value: copy(walk, value, undefined) };
  } catch (error) {
    if (error instanceof NotJson) return { ok: false, problem: error.problem };
    // A getter or a proxy threw: only the error's name is told.
    return { ok: false, problem: `they cannot be read (${error instanceof Error ? error.name : typeof error})` };
  }
}

export function whyNotJson(value: unknown, limits: PlainLimits): string | undefined {
  const copied = copyJson(value, limits);
  return copied.ok ? undefined : copied.problem;
}

class NotJson extends Error {
  readonly problem: string;

  constructor(problem: string) {
    super(problem);
    this.problem = problem;
  }
}

interface CopyWalk {
  readonly limits: PlainLimits;
  partsLeft: number;
  charsLeft: number;
  /** The objects and lists that hold the present value, to notice cycles. */
  readonly ancestors: object[];
}

function copy(walk: CopyWalk, value: unknown, location: ValueLocation | undefined): unknown {
  switch (typeof value) {
    case 'string':
      spendChars(walk, value.length);
      return value;
    case 'boolean':
    case 'undefined':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw is(location, `${value}, which JSON has no word for`);
      return value;
    case 'object':
      return value === null ? null : copyInside(walk, value, location);
    default:
      throw is(location, `a ${typeof value}, which JSON has no word for`);
  }
}

function copyInside(walk: CopyWalk, value: object, location: ValueLocation | undefined): unknown {
  const { limits, ancestors } = walk;
  if (ancestors.includes(value)) throw is(location, 'inside of itself');
  if (ancestors.length >= limits.depth) throw new NotJson(`they are nested more than ${limits.depth} levels deep`);
  const kind = kindOf(value);
  if (kind !== undefined) throw is(location, `${kind}; write it as a text, a number, a list or an object`);
  ancestors.push(value);
  const copied = Array.isArray(value) ? copyItems(walk, value, location) : copyKeys(walk, value, location);
  ancestors.pop();
  return copied;
}

function copyItems(walk: CopyWalk, items: readonly unknown[], location: ValueLocation | undefined): unknown[] {
  const { length } = items;
  spendParts(walk, length);
  const copied: unknown[] = [];
  for (let at = 0; at < length; at++) {
    const item = items[at];
    // Numbers are handled here, because a list may have millions of them. An absent item is written as null, as JSON does.
    if (typeof item === 'number' && Number.isFinite(item)) copied.push(item);
    else copied.push(copy(walk, item, { key: at, within: location }) ?? null);
  }
  return copied;
}

function copyKeys(walk: CopyWalk, value: object, location: ValueLocation | undefined): Record<string, unknown> {
  const keys = Object.keys(value);
  spendParts(walk, keys.length);
  const copied: Record<string, unknown> = {};
  for (const key of keys) {
    // Harmless here, but it changes the prototype of an object that a server copies it into.
    if (key === '__proto__') throw is({ key, within: location }, 'a name that is not allowed');
    spendChars(walk, key.length);
    const part = copy(walk, (value as Record<string, unknown>)[key], { key, within: location });
    if (part !== undefined) copied[key] = part;
  }
  return copied;
}

/** The kind of an object that is neither plain nor a list: JSON would write it as something else, or as nothing. */
function kindOf(value: object): string | undefined {
  if (Array.isArray(value)) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return undefined;
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  if (tag !== 'Object') return `a JavaScript ${tag.slice(0, 40)}`;
  return typeof (value as { toJSON?: unknown }).toJSON === 'function'
    ? 'an object with a spelling of its own'
    : undefined;
}

function spendParts(walk: CopyWalk, parts: number): void {
  walk.partsLeft -= parts;
  if (walk.partsLeft < 0) throw new NotJson(`they hold more than ${walk.limits.parts} values`);
}

function spendChars(walk: CopyWalk, chars: number): void {
  walk.charsLeft -= chars;
  if (walk.charsLeft < 0) throw new NotJson(`they hold more than ${walk.limits.chars} characters`);
}

const is = (location: ValueLocation | undefined, what: string) =>
  new NotJson(`${location === undefined ? 'they are' : `${quote(pathOf(location).join('.'))} is`} ${what}`);
