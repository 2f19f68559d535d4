// Owns finding Base64 that holds an order. Checks only every n-th character until one may belong to a run that is long enough,
// so that ordinary text costs next to nothing.

import type { SignalMatches } from './signal-matches.ts';

const NAME = 'encoded-payload';
const SHORTEST = 40;
/** Decoding so much of a run tells whether it is text. */
const SAMPLE = 64;

const readable = /^[\t\n\r\x20-\x7e]+$/;

/** Base64 alone is no signal: `hasOrder` searches the decoded text. `bytes` as in `spelled.ts`. */
export function findEncoded(
  text: string,
  bytes: Uint8Array,
  hasOrder: (hidden: string) => boolean,
  matches: SignalMatches,
): void {
  let from = 0;
  for (let probe = SHORTEST - 1; probe < bytes.length; probe += SHORTEST) {
    if (!isEncoded(bytes[probe] as number)) continue;
    let start = probe;
    while (start > from && isEncoded(bytes[start - 1] as number)) start--;
    let end = probe + 1;
    while (end < bytes.length && isEncoded(bytes[end] as number)) end++;
    if (end - start >= SHORTEST && holdsOrder(text, start, end, hasOrder)) matches.add(NAME, start, end);
    if (matches.isFull(NAME)) return;
    from = end;
    probe = end - 1;
  }
}

function holdsOrder(text: string, start: number, end: number, hasOrder: (hidden: string) => boolean): boolean {
  const sample = decode(text.slice(start, Math.min(end, start + SAMPLE)));
  return readable.test(sample) && hasOrder(decode(text.slice(start, end)));
}

const decode = (run: string) => Buffer.from(run, 'base64').toString('latin1');

function isEncoded(code: number): boolean {
  const lower = code | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2f;
}
