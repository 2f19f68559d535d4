// Owns "did you mean": the known words closest to one that was not understood.

/** At most `count` words whose distance is small against their length, closest first. */
export function nearest(word: string, known: Iterable<string>, count: number): string[] {
  const wanted = word.slice(0, 200).toLowerCase();
  return [...known]
    .map((each) => ({ each, distance: distance(wanted, each.slice(0, 200).toLowerCase()) }))
    .filter(({ each, distance: d }) => d <= Math.max(1, Math.floor(Math.max(wanted.length, each.length) / 3)))
    .sort((a, b) => a.distance - b.distance || (a.each < b.each ? -1 : 1))
    .slice(0, count)
    .map(({ each }) => each);
}

/** Levenshtein, one row at a time. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
