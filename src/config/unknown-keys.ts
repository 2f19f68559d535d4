// Owns the warnings about unknown keys: a likely typo gets suggestions, a key for another program a hint to remove it.

import { nearest } from '../kernel/nearest.ts';
import { limits } from '../model/limits.ts';
import { camelCase, snakeCase } from './key-case.ts';
import { type ConfigProblem, labelOf } from './problem.ts';

/** The known keys of a section, to guess which of them was meant. */
export interface KnownKeys {
  /** The section's name, which completes "… is not a setting of". */
  readonly of: string;
  /** Keys of other programs whose meaning is written differently here → how to write it. */
  readonly elsewhere: ReadonlyMap<string, string>;
  /** Keys that may have been meant. */
  readonly guesses: readonly string[];
}

/** A likely typo gets a warning of its own; the other unknown keys, which are usually for another program, share one. */
export function reportUnknownKeys(
  unknown: readonly (readonly [key: string, value: unknown])[],
  { of, elsewhere, guesses: known }: KnownKeys,
  understood: number,
): { problems: readonly ConfigProblem[]; unknownKeys: readonly string[] } {
  const isForeign = unknown.length >= FOREIGN_KEYS && unknown.length > understood;
  const typos: ConfigProblem[] = [];
  const unknownKeys: string[] = [];
  for (const [at, [key, value]] of unknown.entries()) {
    const remedy = elsewhere.get(camelCase(key)) ?? (key.includes('.') ? 'Write it as a map inside a map.' : undefined);
    const near = at < GUESSED_KEYS && !isForeign && !remedy ? nearest(camelCase(key), known, limits.suggestions) : [];
    const guesses = near.map((guess) => `"${key.includes('_') ? snakeCase(guess) : guess}"`);
    if (guesses.length > 0) typos.push(withoutEffect([key], of, `Did you mean ${guesses.join(' or ')}?`));
    else if (isEmpty(value) || (remedy && value === false)) continue;
    else if (remedy !== undefined) typos.push(withoutEffect([key], of, remedy));
    else unknownKeys.push(key);
  }
  const shared = unknownKeys.length === 0 ? [] : [withoutEffect(unknownKeys, of, forOthers(unknownKeys))];
  return { problems: [...typos, ...shared], unknownKeys };
}

/** An empty value says nothing to any program. */
const isEmpty = (value: unknown) =>
  value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

/** A section with so many unknown keys, and more of them than known ones, was written for another program: no key is a typo. */
const FOREIGN_KEYS = 5;

const forOthers = (keys: readonly string[]) =>
  `Remove ${keys.length === 1 ? 'it' : 'them'}, unless another program reads the file too; all settings: plexus config schema`;

const SHOWN_KEYS = 5;
/** Only so many keys get suggestions: a map with a hundred thousand unknown keys must not cost seconds. */
const GUESSED_KEYS = 20;

function withoutEffect(keys: readonly string[], of: string, remedy: string): ConfigProblem {
  const shown = keys.slice(0, SHOWN_KEYS).map((key) => labelOf([key]));
  const more = keys.length > SHOWN_KEYS ? ` and ${keys.length - SHOWN_KEYS} more` : '';
  const what = keys.length === 1 ? 'is not a setting' : 'are not settings';
  const message = `${shown.join(', ')}${more} ${what} of ${of} and without effect`;
  return { severity: 'warning', path: keys.slice(0, 1), message, remedy };
}
