// Owns bringing the forms of an English word together: plurals, tenses and the commonest endings, after Porter's steps 1, 2, 3
// and 5. His step 4 is left out: it makes one word of many that have nothing to do with each other.

/** Words that are not a form of the word they end on. */
const themselves = new Set(['news', 'training', 'building', 'parking', 'meeting', 'marketing', 'setting', 'wedding']);

const nouns: readonly (readonly [ending: string, instead: string])[] = [
  ['ational', 'ate'],
  ['ization', 'ize'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['tional', 'tion'],
  ['biliti', 'ble'],
  ['entli', 'ent'],
  ['ousli', 'ous'],
  ['ation', 'ate'],
  ['alism', 'al'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['alli', 'al'],
  ['ator', 'ate'],
  ['logi', 'log'],
  ['bli', 'ble'],
  ['eli', 'e'],
];

const adjectives: readonly (readonly [ending: string, instead: string])[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ness', ''],
  ['ful', ''],
];

/** The same words come again and again. What nobody asks for any more goes with the rest. */
const known = new Map<string, string>();
const MOST_KNOWN = 50_000;

/** Takes a word in lower case; what is not English letters stays as it is. */
export function stem(word: string): string {
  const before = known.get(word);
  if (before !== undefined) return before;
  if (known.size >= MOST_KNOWN) known.clear();
  const stemmed = stemOf(word);
  known.set(word, stemmed);
  return stemmed;
}

function stemOf(word: string): string {
  if (word.length < 3 || themselves.has(word) || !/^[a-z]+$/.test(word)) return word;
  const singular = withoutPlural(word);
  if (themselves.has(singular)) return singular;
  return withoutEnd(exchange(exchange(withYAsI(withoutTense(singular)), nouns), adjectives));
}

function withoutPlural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2);
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

function withoutTense(word: string): string {
  if (word.endsWith('eed')) return syllables(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const rest = word.endsWith('ed') ? word.slice(0, -2) : word.endsWith('ing') ? word.slice(0, -3) : undefined;
  if (rest === undefined || !hasVowel(rest)) return word;
  if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`;
  if (/([^aeiouylsz])\1$/.test(rest)) return rest.slice(0, -1);
  return isShort(rest) ? `${rest}e` : rest;
}

function withYAsI(word: string): string {
  return word.endsWith('y') && hasVowel(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word;
}

function exchange(word: string, endings: typeof nouns): string {
  for (const [ending, instead] of endings) {
    if (!word.endsWith(ending)) continue;
    const rest = word.slice(0, -ending.length);
    return syllables(rest) > 0 ? rest + instead : word;
  }
  return word;
}

function withoutEnd(word: string): string {
  let short = word;
  if (word.endsWith('e')) {
    const rest = word.slice(0, -1);
    const count = syllables(rest);
    if (count > 1 || (count === 1 && !isShort(rest))) short = rest;
  }
  return short.endsWith('ll') && syllables(short) > 1 ? short.slice(0, -1) : short;
}

function isVowel(word: string, at: number): boolean {
  const letter = word.charAt(at);
  return letter === 'y' ? at > 0 && !isVowel(word, at - 1) : 'aeiou'.includes(letter);
}

function hasVowel(word: string): boolean {
  for (let at = 0; at < word.length; at++) if (isVowel(word, at)) return true;
  return false;
}

/** How often vowels are followed by consonants. */
function syllables(word: string): number {
  let count = 0;
  for (let at = 1; at < word.length; at++) if (isVowel(word, at - 1) && !isVowel(word, at)) count++;
  return count;
}

/** One syllable that an `e` was taken from: `hop` of `hoping`. */
function isShort(word: string): boolean {
  const last = word.length - 1;
  return /^[^aeiou]+[aeiouy][^aeiouwxy]$/.test(word) && last >= 1 && !isVowel(word, last);
}
