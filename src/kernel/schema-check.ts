// Owns what the rules for JSON Schema keywords share: the checker that runs them, reading a keyword's value, and the error for a
// schema that cannot be decided.

import { isObject, type JsonObject } from './json.ts';
import { nearest } from './nearest.ts';
import { UndecidedPattern } from './safe-pattern.ts';
import type { Complaints, ValueLocation } from './schema-words.ts';

export class Undecided extends Error {
  override readonly name = 'Undecided';
}

const undecided = [Undecided, UndecidedPattern, RangeError, URIError] as const;
/** RangeError: a chain of references overflowed the stack. URIError: a reference is no valid URI. */
export const isUndecided = (error: unknown) => undecided.some((kind) => error instanceof kind);

/** Whether a value fits a schema; `maybe` where a keyword that is not checked could still refuse it. */
export type SchemaFit = 'yes' | 'maybe' | 'no';

export interface SchemaChecker {
  /** Returns false only if the value certainly does not fit. */
  visit(schema: unknown, value: unknown, location: ValueLocation | undefined, problems: Complaints): boolean;
  visitReference(reference: string, about: KeywordContext): boolean;
  /** The schema that a reference stands for. Only references within the schema itself: nothing is ever fetched. */
  resolve(reference: string): unknown;
  /** For keywords such as `not` and `oneOf`, where a "yes" refuses the value. */
  judge(schema: unknown, value: unknown): SchemaFit;
  /** Notes that a keyword was not checked: a "yes" becomes a "maybe". */
  doubt(): void;
  /** Called before work, in steps of about a microsecond; a schema that needs too many is left undecided. */
  readonly spend: (steps: number) => void;
  /** Searches for a better explanation within a small budget of its own; `undefined` when that is used up. */
  explain<Answer>(search: () => Answer): Answer | undefined;
}

/** What a keyword's rule is applied to. */
export interface KeywordContext {
  readonly schema: JsonObject;
  readonly value: unknown;
  readonly location: ValueLocation | undefined;
  readonly problems: Complaints;
}

export type KeywordRule = (check: SchemaChecker, keyword: unknown, about: KeywordContext) => boolean;

/** How many guesses of what was meant a reader is shown. */
export const GUESSES = 5;
export const MOST_COMPARED = 200;
const LONGEST_COMPARED = 64;

export function guess(check: SchemaChecker, word: string, known: readonly string[]): string | undefined {
  const words = known.slice(0, MOST_COMPARED);
  return check.explain(() => {
    const chars = words.reduce((sum, each) => sum + Math.min(each.length, LONGEST_COMPARED), 0);
    check.spend((chars * Math.min(word.length, LONGEST_COMPARED)) / 200);
    return nearest(word, words, 1)[0];
  });
}

/** A key whose value is `undefined` counts as absent: it is not sent either. */
export function keysIn(check: SchemaChecker, value: unknown): readonly string[] {
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
