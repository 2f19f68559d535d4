// Owns stemming English words: plurals, tenses and the commonest endings, after steps 1, 2, 3 and 5 of Porter's algorithm. Its
// step 4 is left out: it gives one stem to many words that have nothing to do with each other.

/** Words that look like a form of another word and are not. */
const unstemmed = new Set(['news', 'training', 'building', 'parking', 'meeting', 'marketing', 'setting', 'wedding']);

/** Forms that no rule gives; the word that they belong to comes last. */
const irregular: ReadonlyMap<string, string> = new Map(
  [
    'bought buy, sent send, wrote written write, made make, ran run, found find, told tell, spent spend, sold sell, kept keep',
    'paid pay, built build, began begun begin, broke broken break, chose chosen choose, drew drawn draw, drove driven drive',
    'ate eaten eat, fell fallen fall, flew flown fly, forgot forgotten forget, gave given give, grew grown grow, held hold',
    'knew known know, lent lend, lost lose, met meet, rode ridden ride, saw seen see, sang sung sing, spoke spoken speak',
    'stole stolen steal, took taken take, taught teach, thought think, threw thrown throw, wore worn wear, won win',
    'went gone go, came come, slept sleep, caught catch, brought bring, hid hidden hide, swam swum swim',
    'children child, men man, women woman, feet foot, teeth tooth, mice mouse, lives life, knives knife, shelves shelf',
    'criteria criterion, indices indexes index, matrices matrix, vertices vertex, analyses analysis, halves half',
  ].flatMap((line) =>
    line.split(', ').flatMap((group) => {
      const forms = group.split(' ');
      const base = forms.pop() ?? '';
      return forms.map((form) => [form, base] as const);
    }),
  ),
);

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

/** The same words come again and again. A full cache starts anew. */
const cachedStems = new Map<string, string>();
const MOST_CACHED = 50_000;

/** Takes a word in lower case; a word with other than English letters stays as it is. */
export function stem(word: string): string {
  const cached = cachedStems.get(word);
  if (cached !== undefined) return cached;
  if (cachedStems.size >= MOST_CACHED) cachedStems.clear();
  const stemmed = stemOf(irregular.get(word) ?? word);
  cachedStems.set(word, stemmed);
  return stemmed;
}

function stemOf(word: string): string {
  if (word.length < 3 || unstemmed.has(word) || !/^[a-z]+$/.test(word)) return word;
  const singular = withoutPlural(word);
  if (unstemmed.has(singular)) return singular;
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

/** Whether the word is one syllable that lost its `e`: `hop` of `hoping`. */
function isShort(word: string): boolean {
  const last = word.length - 1;
  return /^[^aeiou]+[aeiouy][^aeiouwxy]$/.test(word) && last >= 1 && !isVowel(word, last);
}
