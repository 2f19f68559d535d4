// Owns matching with `*` (any run of characters) and `?` (exactly one). Patterns come from files and may be hostile, so matching
// never backtracks: each part between stars is searched for once, from where the part before it ended.

export function matchesWildcard(pattern: string, text: string): boolean {
  const [head = '', ...parts] = pattern.split('*');
  const tail = parts.pop();
  if (tail === undefined) return head.length === text.length && fitsAt(head, text, 0);
  const end = text.length - tail.length;
  if (end < head.length || !fitsAt(head, text, 0) || !fitsAt(tail, text, end)) return false;
  let from = head.length;
  for (const part of parts) {
    const at = find(part, text, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
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
