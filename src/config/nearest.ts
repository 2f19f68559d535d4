// Owns "did you mean": which known words lie close to one that is not known.

import { limits } from '../model/limits.ts';

/** A typo, or a part of a longer word; only the closest. Long words are not compared: no key is, and the cost is quadratic. */
export function nearest(word: string, known: readonly string[]): readonly string[] {
  if (word.length > limits.toolNameLength) return [];
  const tolerated = Math.max(1, Math.floor(word.length / 3));
  const measured = known.map((each) => ({ each, distance: distanceTo(each, word) }));
  const closest = Math.min(tolerated, ...measured.map(({ distance }) => distance));
  return measured.flatMap(({ each, distance }) => (distance === closest ? each : [])).slice(0, limits.suggestions);
}

const WORTH_COMPLETING = 4;

function distanceTo(known: string, word: string): number {
  const [a, b] = [known.toLowerCase(), word.toLowerCase()];
  return b.length >= WORTH_COMPLETING && a.includes(b) ? 1 : editDistance(a, b);
}

/** Levenshtein's, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(at(row, j) + 1, at(next, j - 1) + 1, substituted));
    }
    row = next;
  }
  return at(row, b.length);
}

const at = (row: readonly number[], index: number) => row[index] ?? 0;
