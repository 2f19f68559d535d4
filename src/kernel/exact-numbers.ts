// Owns finding numbers that a program of ours cannot hold: JavaScript would change them without a word, and the tool would be called
// with another id than the person typed.

/** A number, or a string in which digits are no number. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;

/** The first number of a JSON text that would be changed; `undefined` if all stay as they are. */
export function changedNumberIn(json: string): string | undefined {
  for (const [token] of json.matchAll(TOKENS)) if (!token.startsWith('"') && isChanged(token)) return token;
  return undefined;
}

/** Integers beyond 2^53, and numbers too large for any double. Digits behind the point are rounded everywhere, and are not counted. */
function isChanged(token: string): boolean {
  return /^-?\d+$/.test(token) ? !Number.isSafeInteger(Number(token)) : !Number.isFinite(Number(token));
}

/** Completes "…": why the number is not sent. */
export const changedNumberText = (number: string) =>
  `${number} is beyond ±${Number.MAX_SAFE_INTEGER} and would arrive as another number`;
