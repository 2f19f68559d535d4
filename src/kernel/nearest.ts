// Owns "did you mean": the known words closest to an unknown one.

/** At most `count` words, all at the smallest distance, if that is small compared with their length. */
export function nearest(word: string, known: Iterable<string>, count: number): string[] {
  const wanted = word.slice(0, LONGEST).toLowerCase();
  const measured = [...known].map((each) => ({
    each,
    distance: distanceTo(each.slice(0, LONGEST).toLowerCase(), wanted),
  }));
  const close = measured.filter(
    ({ each, distance }) => distance <= Math.max(1, Math.floor(Math.max(wanted.length, each.length) / 3)),
  );
  const least = close.reduce((smallest, { distance }) => Math.min(smallest, distance), Number.POSITIVE_INFINITY);
  return close
    .flatMap(({ each, distance }) => (distance === least ? each : []))
    .sort()
    .slice(0, count);
}

/** Longer words are compared up to here: the cost is quadratic. */
const LONGEST = 64;
const WORTH_COMPLETING = 4;

/** The edit distance; 1 where the word is a part of the known one. */
function distanceTo(known: string, word: string): number {
  return word.length >= WORTH_COMPLETING && word !== known && known.includes(word) ? 1 : editDistance(word, known);
}

/** Letters added, left out or replaced; two exchanged neighbors count as one. Only three rows of the table are kept. */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const least = Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
      const isExchange = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next.push(isExchange ? Math.min(least, (before[j - 2] ?? 0) + 1) : least);
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
