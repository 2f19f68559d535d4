// Owns building the table of `letters.ts` from Unicode: which plain letter each character stands for. Runs when the tables are
// compiled (`compile-signals.ts`), not when texts are read.

import { ESCAPE, OTHER, PAIR, SPACE, UNSEEN } from './letters.ts';

const A = 0x61;
const MATH_LETTERS = 0x1d400;

/** Cyrillic, Greek and other letters, each before the Latin letter it is mistaken for. */
const lookAlikes =
  'аaвbсcеeһhіiјjкkмmнhоoрpѕsтtуyхxԁdԛqԝwɡgɩiɪiʟlɴnʀrʏyʙbʜhᴀaᴄcᴅdᴇeᴊjᴋkᴍmᴏoᴘpᴛtᴜuᴠvᴡwᴢzαaβbεeιiκkνvοoρpτtυuχxАaВbСcЕeІiЈjКkМmНhОoРpЅsТtУyХxΑaΒbΕeΖzΗhΙiΚkΜmΝnΟoΡpΤtΥyΧx0o1i3e4a5s7t';

const composed: readonly (readonly [number, number])[] = [
  [0xa0, 0x24f],
  [0x1e00, 0x1eff],
  [0x2100, 0x214f],
  [0x24b6, 0x24e9],
  [0xff10, 0xff5a],
];

/** Zero-width and joining characters, marks above and below letters, and the apostrophe of "don't". */
const unseen: readonly (readonly [number, number])[] = [
  [0x27, 0x27],
  [0xad, 0xad],
  [0x300, 0x36f],
  [0x180b, 0x180e],
  [0x200b, 0x200f],
  [0x2019, 0x2019],
  [0x202a, 0x202e],
  [0x2060, 0x2069],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
];

/** The kind of every code unit. */
export function buildLetters(): Uint8Array {
  const kinds = new Uint8Array(0x10000);
  fill(kinds, [0x30, 0x39], () => OTHER);
  fill(kinds, [0x250, 0x1fff], () => OTHER);
  for (const range of composed) fill(kinds, range, (code) => plain(String.fromCharCode(code).normalize('NFKD')));
  for (let letter = 0; letter < 26; letter++) kinds[A + letter] = kinds[A - 32 + letter] = letter + 1;
  for (let at = 0; at < lookAlikes.length; at += 2)
    kinds[lookAlikes.charCodeAt(at)] = lookAlikes.charCodeAt(at + 1) - A + 1;
  for (const range of unseen) fill(kinds, range, () => UNSEEN);
  kinds[0x5c] = ESCAPE;
  fill(kinds, [0xd800, 0xdbff], () => PAIR);
  // The low surrogates are filled for this high surrogate (mathematical letters); a pair with another one is no letter.
  kinds[0xd835] = UNSEEN;
  fill(kinds, [0xdc00, 0xdfff], (code) => plain(String.fromCodePoint(MATH_LETTERS + code - 0xdc00).normalize('NFKD')));
  return kinds;
}

function fill(kinds: Uint8Array, [from, to]: readonly [number, number], kindOf: (code: number) => number): void {
  for (let code = from; code <= to; code++) kinds[code] = kindOf(code);
}

function plain(decomposed: string): number {
  const code = decomposed.toLowerCase().charCodeAt(0);
  if (code >= A && code < A + 26) return code - A + 1;
  return /\p{L}|\p{N}/u.test(decomposed) ? OTHER : SPACE;
}
