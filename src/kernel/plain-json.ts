// Owns whether a value is what JSON can say: no cycles, no dates, no functions, nothing that throws when it is read. What
// passes is copied as it is read, once: whatever its owner does to it, what was checked is what is shown and sent.

import { type Place, pathOf, quote } from './schema-words.ts';

export interface PlainLimits {
  readonly depth: number;
  /** Values in all, of whatever kind. */
  readonly parts: number;
  /** Of all texts and keys together. */
  readonly chars: number;
}

export type Copied = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/** The same in plain objects and lists, or what is wrong with it, in words. A key whose value is undefined is not there. */
export function copyJson(value: unknown, limits: PlainLimits): Copied {
  const walk: Walk = { limits, partsLeft: limits.parts, charsLeft: limits.chars, environment: [] };
  try {
    return { ok: true, value: copy(walk, value, undefined) };
  } catch (error) {
    if (error instanceof NotJson) return { ok: false, problem: error.problem };
    // A getter, or a proxy: whatever it throws is its own affair.
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

interface Walk {
  readonly limits: PlainLimits;
  partsLeft: number;
  charsLeft: number;
  /** What the value is inside of; something that stands in itself never ends. */
  readonly environment: object[];
}

function copy(walk: Walk, value: unknown, place: Place | undefined): unknown {
  switch (typeof value) {
    case 'string':
      spendChars(walk, value.length);
      return value;
    case 'boolean':
    case 'undefined':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw is(place, `${value}, which JSON has no word for`);
      return value;
    case 'object':
      return value === null ? null : copyInside(walk, value, place);
    default:
      throw is(place, `a ${typeof value}, which JSON has no word for`);
  }
}

function copyInside(walk: Walk, value: object, place: Place | undefined): unknown {
  const { limits, environment } = walk;
  if (environment.includes(value)) throw is(place, 'inside of itself');
  if (environment.length >= limits.depth) throw new NotJson(`they are nested more than ${limits.depth} levels deep`);
  const kind = kindOf(value);
  if (kind !== undefined) throw is(place, `${kind}; write it as a text, a number, a list or an object`);
  environment.push(value);
  const copied = Array.isArray(value) ? copyItems(walk, value, place) : copyKeys(walk, value, place);
  environment.pop();
  return copied;
}

function copyItems(walk: Walk, items: readonly unknown[], place: Place | undefined): unknown[] {
  const { length } = items;
  spendParts(walk, length);
  const copied: unknown[] = [];
  for (let at = 0; at < length; at++) {
    const item = items[at];
    // The common ones are told apart here: a list may have millions of them. What is not there is written as null.
    if (typeof item === 'number' && Number.isFinite(item)) copied.push(item);
    else copied.push(copy(walk, item, { key: at, within: place }) ?? null);
  }
  return copied;
}

function copyKeys(walk: Walk, value: object, place: Place | undefined): Record<string, unknown> {
  const keys = Object.keys(value);
  spendParts(walk, keys.length);
  const copied: Record<string, unknown> = {};
  for (const key of keys) {
    // As a key it is harmless here, and a trap for whoever copies it into an object of theirs.
    if (key === '__proto__') throw is({ key, within: place }, 'a name that is not allowed');
    spendChars(walk, key.length);
    const part = copy(walk, (value as Record<string, unknown>)[key], { key, within: place });
    if (part !== undefined) copied[key] = part;
  }
  return copied;
}

/** What is no plain object or list although it is one of JavaScript's: it would be written as something else, or as nothing. */
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

function spendParts(walk: Walk, parts: number): void {
  walk.partsLeft -= parts;
  if (walk.partsLeft < 0) throw new NotJson(`they hold more than ${walk.limits.parts} values`);
}

function spendChars(walk: Walk, chars: number): void {
  walk.charsLeft -= chars;
  if (walk.charsLeft < 0) throw new NotJson(`they hold more than ${walk.limits.chars} characters`);
}

const is = (place: Place | undefined, what: string) =>
  new NotJson(`${place === undefined ? 'they are' : `${quote(pathOf(place).join('.'))} is`} ${what}`);
