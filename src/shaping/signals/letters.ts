// Owns which plain letter a character stands for: accented letters, look-alikes of other scripts and digits in place of letters
// count as the plain letter, and invisible characters inside a word count as nothing. `build-letters.ts` makes the table.

import compiled from './compiled.json' with { type: 'json' };

/** The kinds of code units besides the letters a to z, which are 1 to 26. */
export const SPACE = 0;
export const OTHER = 27;
export const UNSEEN = 28;
export const ESCAPE = 29;
export const PAIR = 30;
/** A kind fits into so many bits: a state and a kind make one index. */
export const KIND_BITS = 5;

const CODE_UNITS = 0x10000;

export function isPlainLetter(code: number): boolean {
  const kind = letters()[code] ?? SPACE;
  return kind > SPACE && kind < OTHER;
}

let table: Uint8Array | undefined;

/** The kind of every code unit. Read when the first text is. */
export function letters(): Uint8Array {
  table ??= fromRuns(compiled.letterKinds, compiled.letterRuns);
  return table;
}

function fromRuns(kindsOfRuns: string, lengths: string): Uint8Array {
  const kinds = new Uint8Array(CODE_UNITS);
  const [kindOf, lengthOf] = [numbersOf(kindsOfRuns), numbersOf(lengths)];
  let at = 0;
  for (let run = 0; run < lengthOf.length; run++) {
    const end = at + (lengthOf[run] as number);
    kinds.fill(kindOf[run] as number, at, end);
    at = end;
  }
  return kinds;
}

/** A list of small numbers as `compile-signals.ts` writes it: two bytes each, in Base64. */
export function numbersOf(text: string): Uint16Array {
  return new Uint16Array(Uint8Array.from(Buffer.from(text, 'base64')).buffer);
}
