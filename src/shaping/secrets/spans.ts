// Owns the stretches of a text that are secrets, and joining those that were found in two ways.

export interface SecretSpan {
  /** The name of the detector's rule, shown in the mark that replaces the secret. */
  readonly rule: string;
  readonly start: number;
  readonly end: number;
}

/** Both in the order of the text. Of two that overlap the one that was found by name or shape stays. */
export function mergedSpans(told: readonly SecretSpan[], generated: readonly SecretSpan[]): readonly SecretSpan[] {
  if (generated.length === 0) return told;
  if (told.length === 0) return generated;
  const all: SecretSpan[] = [];
  let next = 0;
  for (const span of told) {
    for (; next < generated.length; next++) {
      const other = generated[next] as SecretSpan;
      if (other.start >= span.end) break;
      if (other.end <= span.start) all.push(other);
    }
    all.push(span);
  }
  return [...all, ...generated.slice(next)];
}
