// Owns matching with `*` (any run of characters) and `?` (exactly one). Patterns come from files and may be hostile, so matching
// never backtracks: each part between stars is searched for once, from where the part before it ended, and no part is looked at
// once one was not found.

export function matchesWildcard(pattern: string, text: string): boolean {
  const first = pattern.indexOf('*');
  if (first < 0) return pattern.length === text.length && fitsAt(pattern, text, 0);
  const last = pattern.lastIndexOf('*');
  const end = text.length - (pattern.length - last - 1);
  if (end < first || !fitsAt(pattern.slice(0, first), text, 0) || !fitsAt(pattern.slice(last + 1), text, end))
    return false;
  let from = first;
  for (let star = first; star < last; ) {
    const next = pattern.indexOf('*', star + 1);
    const length = next - star - 1;
    const at = find(pattern.slice(star + 1, next), text, from);
    if (at < 0 || at + length > end) return false;
    from = at + length;
    star = next;
  }
  return true;
}

/** The first position at or behind `from` where the part fits; searches for the part's longest literal run. */
function find(part: string, text: string, from: number): number {
  if (!part.includes('?')) return text.indexOf(part, from);
  const run = part.split('?').reduce((longest, each) => (each.length > longest.length ? each : longest));
  if (run === '') return fitsAt(part, text, from) ? from : -1;
  const offset = part.indexOf(run);
  for (let at = text.indexOf(run, from + offset); at >= 0; at = text.indexOf(run, at + 1)) {
    if (fitsAt(part, text, at - offset)) return at - offset;
  }
  return -1;
}

function fitsAt(part: string, text: string, at: number): boolean {
  if (!part.includes('?')) return text.startsWith(part, at);
  if (at + part.length > text.length) return false;
  for (let index = 0; index < part.length; index++) {
    if (part[index] !== '?' && part[index] !== text[at + index]) return false;
  }
  return true;
}

/** The number of literal characters: a rule with more of them is the more specific one. */
export function specificity(pattern: string): number {
  return pattern.replaceAll('*', '').replaceAll('?', '').length;
}
