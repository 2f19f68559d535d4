// Owns whether a value is what JSON can say, and says it the same way each time: no cycles, no dates, no functions, nothing
// that throws when it is read. What passes here is safe to check, to show and to send.

import { type Place, pathOf, quote } from './schema-words.ts';

export interface PlainLimits {
  readonly depth: number;
  /** Values in all, of whatever kind. */
  readonly parts: number;
}

/** What is wrong with it, in words, or nothing. A key whose value is undefined is a key that is not there. */
export function whyNotJson(value: unknown, limits: PlainLimits): string | undefined {
  const walk: Walk = { limits, partsLeft: limits.parts, around: [] };
  try {
    return problemIn(walk, value, undefined);
  } catch (error) {
    // A getter, or a proxy: whatever it throws is its own affair.
    return `they cannot be read (${error instanceof Error ? error.name : typeof error})`;
  }
}

interface Walk {
  readonly limits: PlainLimits;
  partsLeft: number;
  /** What the value is inside of; something that stands in itself never ends. */
  readonly around: object[];
}

function problemIn(walk: Walk, value: unknown, place: Place | undefined): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : is(place, `${value}, which JSON has no word for`);
    case 'object':
      return value === null ? undefined : problemInside(walk, value, place);
    default:
      return is(place, `a ${typeof value}, which JSON has no word for`);
  }
}

function problemInside(walk: Walk, value: object, place: Place | undefined): string | undefined {
  const { limits, around } = walk;
  if (around.includes(value)) return is(place, 'inside of itself');
  if (around.length >= limits.depth) return `they are nested more than ${limits.depth} levels deep`;
  const kind = kindOf(value);
  if (kind !== undefined) return is(place, `${kind}; write it as a text, a number, a list or an object`);
  around.push(value);
  const problem = Array.isArray(value) ? problemInItems(walk, value, place) : problemInKeys(walk, value, place);
  around.pop();
  return problem;
}

function problemInItems(walk: Walk, items: readonly unknown[], place: Place | undefined): string | undefined {
  const { length } = items;
  if (!spend(walk, length)) return tooMany(walk);
  for (let at = 0; at < length; at++) {
    const item = items[at];
    // The common ones are told apart here: a list may have millions of them.
    if (typeof item === 'string' || (typeof item === 'number' && Number.isFinite(item))) continue;
    const problem = problemIn(walk, item, { key: at, within: place });
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemInKeys(walk: Walk, value: object, place: Place | undefined): string | undefined {
  const keys = Object.keys(value);
  if (!spend(walk, keys.length)) return tooMany(walk);
  for (const key of keys) {
    // As a key it is harmless here, and a trap for whoever copies it into an object of theirs.
    if (key === '__proto__') return is({ key, within: place }, 'a name that is not allowed');
    const part: unknown = (value as Record<string, unknown>)[key];
    if (typeof part === 'string') continue;
    const problem = problemIn(walk, part, { key, within: place });
    if (problem !== undefined) return problem;
  }
  return undefined;
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

function spend(walk: Walk, parts: number): boolean {
  walk.partsLeft -= parts;
  return walk.partsLeft >= 0;
}

const tooMany = ({ limits }: Walk) => `they hold more than ${limits.parts} values`;
const is = (place: Place | undefined, what: string) =>
  `${place === undefined ? 'they are' : `${quote(pathOf(place).join('.'))} is`} ${what}`;
