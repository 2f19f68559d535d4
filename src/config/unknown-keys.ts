// Owns what is said of keys that mean nothing here: a typo with what was likely meant, or a word for another program.

import { nearest } from '../kernel/nearest.ts';
import { limits } from '../model/limits.ts';
import { camelCase, snakeCase } from './key-case.ts';
import { type ConfigProblem, labelOf } from './problem.ts';

/** What is known of a map, to tell what may have been meant in it. */
export interface KnownKeys {
  /** What the map is, to complete "… is not a setting of". */
  readonly of: string;
  /** What says something to another program that is said differently here: how. */
  readonly elsewhere: ReadonlyMap<string, string>;
  /** What a person may have meant: our own words. */
  readonly guesses: readonly string[];
}

/** A likely typo gets its own sentence; the rest, which is usually meant for another program, shares one. */
export function withoutMeaning(
  unknown: readonly (readonly [key: string, value: unknown])[],
  { of, elsewhere, guesses: known }: KnownKeys,
  understood: number,
): { told: readonly ConfigProblem[]; strangers: readonly string[] } {
  const isForeign = unknown.length >= FOREIGN_KEYS && unknown.length > understood;
  const typos: ConfigProblem[] = [];
  const strangers: string[] = [];
  for (const [at, [key, value]] of unknown.entries()) {
    const remedy = elsewhere.get(camelCase(key)) ?? (key.includes('.') ? 'Write it as a map inside a map.' : undefined);
    const near = at < GUESSED_KEYS && !isForeign && !remedy ? nearest(camelCase(key), known, limits.suggestions) : [];
    const guesses = near.map((guess) => `"${key.includes('_') ? snakeCase(guess) : guess}"`);
    if (guesses.length > 0) typos.push(withoutEffect([key], of, `Did you mean ${guesses.join(' or ')}?`));
    else if (isHollow(value) || (remedy && value === false)) continue;
    else if (remedy !== undefined) typos.push(withoutEffect([key], of, remedy));
    else strangers.push(key);
  }
  const shared = strangers.length === 0 ? [] : [withoutEffect(strangers, of, forOthers(strangers))];
  return { told: [...typos, ...shared], strangers };
}

/** Says nothing, to whomever. */
const isHollow = (value: unknown) =>
  value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

/** Whoever writes so much that is strange, and more than what is known, writes for another program and mistypes nothing. */
const FOREIGN_KEYS = 5;

const forOthers = (keys: readonly string[]) =>
  `Remove ${keys.length === 1 ? 'it' : 'them'}, unless another program reads the file too; all settings: plexus config schema`;

const SHOWN_KEYS = 5;
/** Nobody mistypes more; a map with a hundred thousand strange keys must not cost seconds. */
const GUESSED_KEYS = 20;

function withoutEffect(keys: readonly string[], of: string, remedy: string): ConfigProblem {
  const shown = keys.slice(0, SHOWN_KEYS).map((key) => labelOf([key]));
  const more = keys.length > SHOWN_KEYS ? ` and ${keys.length - SHOWN_KEYS} more` : '';
  const what = keys.length === 1 ? 'is not a setting' : 'are not settings';
  const message = `${shown.join(', ')}${more} ${what} of ${of} and without effect`;
  return { severity: 'warning', path: keys.slice(0, 1), message, remedy };
}
