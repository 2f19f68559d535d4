// Owns what the rules of a JSON Schema have in common: what they ask of the check that runs them, how they read a keyword, and
// what they cannot decide.

import { isObject, type JsonObject } from './json.ts';
import { nearest } from './nearest.ts';
import { UndecidedPattern } from './safe-pattern.ts';
import type { Place, Problems } from './schema-words.ts';

export class Undecided extends Error {
  override readonly name = 'Undecided';
}

const undecided = [Undecided, UndecidedPattern, RangeError, URIError] as const;
/** A chain of references may be longer than the stack, and a reference no address. */
export const isUndecided = (error: unknown) => undecided.some((kind) => error instanceof kind);

/** Something that is not checked here speaks for "maybe": it can only make a "no" of a "yes". */
export type Verdict = 'yes' | 'maybe' | 'no';

export interface Checking {
  /** Whether nothing speaks against it for sure. */
  visit(schema: unknown, value: unknown, place: Place | undefined, problems: Problems): boolean;
  visitReference(reference: string, about: About): boolean;
  /** Where a "yes" has consequences as well. */
  judge(schema: unknown, value: unknown): Verdict;
  /** What was found so far might be a "no" after all. */
  doubt(): void;
  /** What a rule is about to do costs so much, of about a microsecond each; a schema that asks for too much is left undecided. */
  readonly spend: (steps: number) => void;
  /** Looking for better words may cost a little, and never the verdict. */
  explain<Words>(look: () => Words): Words | undefined;
}

export interface About {
  readonly schema: JsonObject;
  readonly value: unknown;
  readonly place: Place | undefined;
  readonly problems: Problems;
}

export type Rule = (check: Checking, keyword: unknown, about: About) => boolean;

/** Guessing what was meant is for a reader; a few guesses are all that will be read. */
export const GUESSES = 5;
export const MOST_COMPARED = 200;
const LONGEST_COMPARED = 64;

export function guess(check: Checking, word: string, known: readonly string[]): string | undefined {
  const words = known.slice(0, MOST_COMPARED);
  return check.explain(() => {
    const chars = words.reduce((sum, each) => sum + Math.min(each.length, LONGEST_COMPARED), 0);
    check.spend((chars * Math.min(word.length, LONGEST_COMPARED)) / 200);
    return nearest(word, words, 1)[0];
  });
}

/** A key without a value is not there: it does not go over the wire either. */
export function keysIn(check: Checking, value: unknown): readonly string[] {
  if (!isObject(value)) return [];
  const keys = Object.keys(value);
  check.spend(keys.length / 5);
  return keys.filter((key) => value[key] !== undefined);
}

export const hasKey = (value: JsonObject, key: string) => value[key] !== undefined && Object.hasOwn(value, key);

export function listOf(keyword: unknown): readonly unknown[] {
  if (!Array.isArray(keyword)) throw new Undecided();
  return keyword;
}
export function mapOf(keyword: unknown): JsonObject {
  if (!isObject(keyword)) throw new Undecided();
  return keyword;
}
export function textOf(keyword: unknown): string {
  if (typeof keyword !== 'string') throw new Undecided();
  return keyword;
}
export function numberOf(keyword: unknown): number {
  if (typeof keyword !== 'number') throw new Undecided();
  return keyword;
}
