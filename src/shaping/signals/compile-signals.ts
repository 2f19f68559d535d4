// Owns compiling the rules for signals to `compiled.json`, so that a start neither expands phrases nor asks Unicode for every
// letter. `npm run docs` writes the file; a test holds it.

import { buildLetters } from './build-letters.ts';
import { compilePhrases } from './compile-phrases.ts';
import { textOf } from './compile-words.ts';
import deeds from './rules/deeds.json' with { type: 'json' };
import obedience from './rules/obedience.json' with { type: 'json' };
import voices from './rules/voices.json' with { type: 'json' };
import wordKinds from './word-kinds.json' with { type: 'json' };

export function compileSignals() {
  const rows = [...obedience, ...voices, ...deeds];
  const [letterKinds, letterRuns] = runsOf(buildLetters());
  return {
    rules: rows.map(({ phrases, ...rule }) => ({ ...rule, phraseCount: phrases.length })),
    phrases: compilePhrases(
      rows.flatMap(({ phrases }) => phrases),
      wordKinds,
    ),
    letterKinds: textOf(letterKinds),
    letterRuns: textOf(letterRuns),
  };
}

/** Equal neighbours as one: what they are, and how many; at most what two bytes hold. */
function runsOf(values: Uint8Array): readonly [kinds: readonly number[], lengths: readonly number[]] {
  const [kinds, lengths]: [number[], number[]] = [[], []];
  for (const value of values) {
    const last = kinds.length - 1;
    if (kinds[last] === value && (lengths[last] as number) < 0xffff) lengths[last] = (lengths[last] as number) + 1;
    else {
      kinds.push(value);
      lengths.push(1);
    }
  }
  return [kinds, lengths];
}
