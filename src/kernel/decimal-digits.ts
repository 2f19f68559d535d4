// Owns the digits of all scripts: Unicode has those of each script in a run of ten, from nought to nine.

import { latePattern } from './late-pattern.ts';

const digit = latePattern(String.raw`\p{Nd}`, 'u');
const otherDigits = latePattern(String.raw`(?![0-9])\p{Nd}`, 'gu');

/** The plain digit that a digit of any script stands for; `undefined` for another character. */
export function plainDigit(sign: string): string | undefined {
  if (!digit().test(sign)) return undefined;
  const code = sign.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && digit().test(String.fromCodePoint(code - value - 1))) value++;
  return String(value);
}

export const withPlainDigits = (text: string): string =>
  text.replace(otherDigits(), (sign) => plainDigit(sign) ?? sign);
