// Owns whether a tag could be taken for another one by a lenient reader: whatever is left out of its name, put in between, or
// written in letters that look the same. What Unicode knows to be the same letter needs no list.

/** What looks like a "<", for a class of a pattern. */
export const OPENERS =
  '<\\u00ab\\u02c2\\u1438\\u2039\\u226a\\u2329\\u276c\\u276e\\u2770\\u27e8\\u27ea\\u29fc\\u3008\\u300a\\ufe64\\uff1c';

/** What looks like another letter although it is one of its own; in lower case. */
const twins: ReadonlyMap<string, string> = new Map(
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
/** What may stand before the name, in one dialect or another. */
const lead = new RegExp(`[\\s!?|${SLASHES}${UNSEEN}]+`, 'uy');
/** What joins the words of a name. */
const joint = /[\t-\r\p{Z}\p{Pc}\p{Pd}]/u;
const border = new RegExp(`[>${OPENERS}]`);
const letterOrDigit = /[\p{L}\p{N}]/u;
const marks = /\p{M}/gu;
const prefix = /[\w.-]{1,64}:/y;
const terminalEscape =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes are made of them
  /(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b<]{0,200}(?:\x07|\x1b\\)/y;

/**
 * Whether what begins at `at`, after the sign that opens it, is a tag of this name: words with `_` between. One that closes is
 * known by its letters alone; one that opens needs its words apart, because a type of a program may have such a name. Linear:
 * never looks beyond the next tag.
 */
export function looksLike(text: string, at: number, name: string): boolean {
  // Of an escape some see the letter that ends it, and some do not.
  return isTag(new Reader(text, at, false), name) || isTag(new Reader(text, at, true), name);
}

function isTag(reader: Reader, name: string): boolean {
  const start = reader.at;
  while (reader.skip(lead) || reader.skipEscape());
  const isClosing = slash.test(reader.text.slice(start, reader.at));
  const nameAt = reader.at;
  if (spells(reader, name, isClosing)) return true;
  reader.at = nameAt;
  return reader.skip(prefix) && spells(reader, name, isClosing);
}

function spells(reader: Reader, name: string, isClosing: boolean): boolean {
  let found = 0;
  let isApart = false;
  for (;;) {
    const char = reader.next();
    if (char === '' || border.test(char)) return false;
    for (const part of folded(char)) {
      const isJoint = name[found] === '_';
      const letter = name[isJoint ? found + 1 : found];
      if (part === letter || twins.get(part) === letter) {
        if (!isClosing && isJoint !== isApart) return false;
        found += isJoint ? 2 : 1;
        isApart = false;
        if (found === name.length) return true;
      } else if (letterOrDigit.test(part) || !(isClosing || joint.test(part))) return false;
      else isApart = true;
    }
  }
}

/** In plain small letters. */
function folded(char: string): string {
  return char > '\u007f' ? char.normalize('NFKD').toLowerCase().replace(marks, '') : char.toLowerCase();
}

class Reader {
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

  /** The next character that can be seen, or nothing at the end. */
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
