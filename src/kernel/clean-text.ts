// Owns cleaning texts of strangers of what a reader cannot see: controls, terminal escapes, hidden and reordering
// characters. What a script or an emoji needs to be written right stays.

export interface CleanText {
  readonly text: string;
  /** The kinds that were found, in words for a person; each once, in a fixed order. */
  readonly found: readonly string[];
}

const nothing: readonly string[] = Object.freeze([]);

const plain = /^[\n\t\x20-\x7e]*$/;

/** Linear in the text's length, whatever it holds. */
export function cleanText(text: string): CleanText {
  if (plain.test(text)) return { text, found: nothing };
  const found = new Set<Kind>();
  const escapesGone = text.replace(escapes, () => noted(found, 'terminal escapes', ''));
  const cleaned = escapesGone
    .replaceAll('\r\n', '\n')
    .replace(suspicious, (char, at: number, whole: string) => replacementOf(char, at, whole, found));
  return { text: cleaned, found: found.size === 0 ? nothing : kinds.filter((kind) => found.has(kind)) };
}

/** Whether any of it would be taken out or replaced. */
export function hidesSomething(text: string): boolean {
  return !plain.test(text) && cleanText(text).found.length > 0;
}

/** The same of every text within a value, and of every key. */
export function hidesAnything(value: unknown): boolean {
  if (typeof value === 'string') return hidesSomething(value);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hidesAnything);
  return Object.entries(value).some(([key, part]) => hidesSomething(key) || hidesAnything(part));
}

/** Nothing taken out, everything visible: for names, which mean what they are. */
export function showHidden(text: string): string {
  if (plain.test(text)) return text;
  return text.replace(suspicious, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}

/** The same for a text, in words of one's own: what a script or an emoji needs stays, and the end of a line too. */
export function replaceHidden(text: string, replacement: (char: string) => string): string {
  if (plain.test(text)) return text;
  return text.replace(suspicious, (char, at: number, whole: string) =>
    isNeeded(char, at, whole) || (char === '\r' && whole[at + 1] === '\n') ? char : replacement(char),
  );
}

const kinds = [
  'terminal escapes',
  'control characters',
  'zero-width characters',
  'characters that turn the direction of text',
  'tag characters',
  'variation selectors',
  'broken characters',
] as const;
type Kind = (typeof kinds)[number];

/** With their whole text where it has an end: a link's address, a window's title. Without an end only the start is one. */
const escapes =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes are made of them
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]/g;

const suspicious =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is looked for alone
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufff9-\ufffb\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u061c\u2060-\u206f\u3164\ufeff\uffa0\ufe00-\ufe0f\p{Cs}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

function replacementOf(char: string, at: number, whole: string, found: Set<Kind>): string {
  const code = char.codePointAt(0) ?? 0;
  if (code === 0x0d || code === 0x2028 || code === 0x2029) return noted(found, 'control characters', '\n');
  if (isNeeded(char, at, whole)) return char;
  if (code >= 0xd800 && code <= 0xdfff) return noted(found, 'broken characters', '\ufffd');
  return noted(found, kindOf(code), '');
}

/** What joins two characters, or chooses a form of one, where they have such forms. */
function isNeeded(char: string, at: number, whole: string): boolean {
  const code = char.codePointAt(0) ?? 0;
  if (code === 0x200c || code === 0x200d) return joins(at, whole);
  return isSelector(code) && varies(code, before(at, whole));
}

const isSelector = (code: number) => (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef);

function kindOf(code: number): Kind {
  if (code < 0x20 || (code >= 0x7f && code <= 0x9f) || (code >= 0xfff9 && code <= 0xfffb)) return 'control characters';
  if (isSelector(code)) return 'variation selectors';
  if (code >= 0xe0000) return 'tag characters';
  const turns = code === 0x61c || code === 0x200e || code === 0x200f || (code >= 0x202a && code <= 0x202e);
  return turns || (code >= 0x2066 && code <= 0x2069)
    ? 'characters that turn the direction of text'
    : 'zero-width characters';
}

function noted(found: Set<Kind>, kind: Kind, replacement: string): string {
  found.add(kind);
  return replacement;
}

const pictograph = /[\p{Extended_Pictographic}\p{Emoji_Modifier}]/u;
/** The scripts in which a joiner, or its opposite, changes how a word is spelled. */
const joiningScript =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Nko}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u;

function joins(at: number, whole: string): boolean {
  const next = String.fromCodePoint(whole.codePointAt(at + 1) ?? 0x20);
  let last = before(at, whole);
  if (joiningScript.test(last) && joiningScript.test(next)) return true;
  if (last === '\ufe0f') last = before(at - 1, whole);
  return pictograph.test(last) && pictograph.test(next);
}

const hasEmojiForm = /[\p{Emoji}\p{S}\p{P}]/u;
const hasVariants = /[\p{Script=Han}\p{Script=Mongolian}\p{Sm}\p{Nd}]/u;

/** One after a character that has such forms; a chain of them is data. */
function varies(code: number, base: string): boolean {
  return code === 0xfe0e || code === 0xfe0f ? hasEmojiForm.test(base) : hasVariants.test(base);
}

function before(at: number, whole: string): string {
  if (at <= 0) return ' ';
  const pair = at >= 2 ? (whole.codePointAt(at - 2) ?? 0) : 0;
  return pair > 0xffff ? String.fromCodePoint(pair) : whole.charAt(at - 1);
}
