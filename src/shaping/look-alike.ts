// Owns whether a lenient reader could take a tag for another one: with characters left out of its name, put in between, or
// replaced by letters that look the same. Letters that Unicode normalizes to the same one need no list here.

/** Characters that look like "<", for a character class. */
export const OPENERS =
  '<\\u00ab\\u02c2\\u1438\\u2039\\u226a\\u2329\\u276c\\u276e\\u2770\\u27e8\\u27ea\\u29fc\\u3008\\u300a\\ufe64\\uff1c';

/** Characters that look like a Latin letter and are not normalized to it; lower case. */
const lookAlikes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    m: 'мᴍμꮇ',
    c: 'сϲᴄꮯ¢',
    p: 'рρᴘþꮲ',
    t: 'тτᴛŧꭲ',
    o: 'оοօᴏøσס0',
    l: 'ӏіιʟłıǀ∣ꮮi1|',
    u: 'υսᴜʋ',
  }).flatMap(([letter, signs]) => [...signs].map((sign) => [sign, letter] as const)),
);

const UNSEEN = '\\p{M}\\p{Cc}\\p{Cf}\\p{Cs}\\p{Default_Ignorable_Code_Point}';
const unseenRun = new RegExp(`[${UNSEEN}]+`, 'uy');
const SLASHES = '/\\\\\\u2044\\u2215\\u29f8\\uff0f';
const slash = new RegExp(`[${SLASHES}]`);
/** What may stand before the name in some dialect of markup. */
const lead = new RegExp(`[\\s!?|${SLASHES}${UNSEEN}]+`, 'uy');
/** Characters that join the words of a name. */
const joint = /[\t-\r\p{Z}\p{Pc}\p{Pd}]/u;
const border = new RegExp(`[>${OPENERS}]`);
const letterOrDigit = /[\p{L}\p{N}]/u;
const marks = /\p{M}/gu;
const prefix = /[\w.-]{1,64}:/y;
const terminalEscape =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes are made of them
  /(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b<]{0,200}(?:\x07|\x1b\\)/y;

/**
 * Whether a tag of this name (words joined by `_`) begins at `at`, just behind its opening sign. A closing tag is recognized by
 * its letters alone; an opening tag needs its words apart, because a type in a program may have such a name. Linear: never reads
 * beyond the next tag.
 */
export function looksLike(text: string, at: number, name: string): boolean {
  // Some readers show the letter that ends a terminal escape, others hide it.
  return isTag(new TagReader(text, at, false), name) || isTag(new TagReader(text, at, true), name);
}

function isTag(reader: TagReader, name: string): boolean {
  const start = reader.at;
  while (reader.skip(lead) || reader.skipEscape());
  const isClosing = slash.test(reader.text.slice(start, reader.at));
  const nameAt = reader.at;
  if (spells(reader, name, isClosing)) return true;
  reader.at = nameAt;
  return reader.skip(prefix) && spells(reader, name, isClosing);
}

function spells(reader: TagReader, name: string, isClosing: boolean): boolean {
  let matched = 0;
  let isApart = false;
  for (;;) {
    const char = reader.next();
    if (char === '' || border.test(char)) return false;
    for (const part of folded(char)) {
      const isJoint = name[matched] === '_';
      const letter = name[isJoint ? matched + 1 : matched];
      if (part === letter || lookAlikes.get(part) === letter) {
        if (!isClosing && isJoint !== isApart) return false;
        matched += isJoint ? 2 : 1;
        isApart = false;
        if (matched === name.length) return true;
      } else if (letterOrDigit.test(part) || !(isClosing || joint.test(part))) return false;
      else isApart = true;
    }
  }
}

/** Lower case, without accents and in the plain form of the letters. */
function folded(char: string): string {
  return char > '\u007f' ? char.normalize('NFKD').toLowerCase().replace(marks, '') : char.toLowerCase();
}

class TagReader {
  readonly text: string;
  at: number;
  readonly #hidesEscapes: boolean;

  constructor(text: string, at: number, hidesEscapes: boolean) {
    this.text = text;
    this.at = at;
    this.#hidesEscapes = hidesEscapes;
  }

  skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.text)) return false;
    this.at = pattern.lastIndex;
    return true;
  }

  skipEscape(): boolean {
    return this.#hidesEscapes && this.skip(terminalEscape);
  }

  /** The next visible character; empty at the end. */
  next(): string {
    for (;;) {
      const code = this.text.codePointAt(this.at);
      if (code === undefined) return '';
      const char = String.fromCodePoint(code);
      if ((code >= 0x20 && code < 0x7f) || joint.test(char) || !(this.skipEscape() || this.skip(unseenRun))) {
        this.at += char.length;
        return char;
      }
    }
  }
}
