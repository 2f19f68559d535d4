// Owns matching with `*` (any run of characters) and `?` (exactly one). Linear: patterns come from files and may be hostile.

/** Two cursors and one point to go back to: each character of the text is looked at a bounded number of times per star. */
export function matchesWildcard(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let resume = 0;
  while (t < text.length) {
    if (p < pattern.length && pattern[p] === '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}

/** How much a pattern pins down: the more literal characters, the closer the rule. */
export function specificity(pattern: string): number {
  return pattern.replaceAll('*', '').replaceAll('?', '').length;
}
