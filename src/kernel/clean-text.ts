// Owns removing from untrusted texts what a reader cannot see: control characters, terminal escapes, hidden and reordering
// characters. Joiners and selectors that a script or an emoji needs stay.

import { latePattern } from './late-pattern.ts';

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
  const found = new Set<HiddenKind>();
  const escapesGone = text.replace(escapes, () => noted(found, 'terminal escapes', ''));
  const cleaned = escapesGone
    .replaceAll('\r\n', '\n')
    .replace(suspicious, (char, at: number, source: string) => replacementOf(char, at, source, found));
  return { text: cleaned, found: found.size === 0 ? nothing : kinds.filter((kind) => found.has(kind)) };
}

/** Whether `cleanText` would remove or replace anything. */
export function hidesSomething(text: string): boolean {
  return !plain.test(text) && cleanText(text).found.length > 0;
}

/** The same for every string and key within a value. */
export function hidesAnything(value: unknown): boolean {
  if (typeof value === 'string') return hidesSomething(value);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hidesAnything);
  return Object.entries(value).some(([key, part]) => hidesSomething(key) || hidesAnything(part));
}

/** Removes nothing and makes every hidden character visible: for names, which must stay distinguishable. */
export function showHidden(text: string): string {
  if (plain.test(text)) return text;
  return text.replace(suspicious, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}

/** Replaces every hidden character as the caller says; joiners and selectors that are needed stay, and so do line ends. */
export function replaceHidden(text: string, replacement: (char: string) => string): string {
  if (plain.test(text)) return text;
  return text.replace(suspicious, (char, at: number, source: string) =>
    isNeeded(char, at, source) || (char === '\r' && source[at + 1] === '\n') ? char : replacement(char),
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
type HiddenKind = (typeof kinds)[number];

/** With their text (a link's address, a window's title) where they are terminated; otherwise only their beginning. */
const escapes =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes are made of them
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]/g;

const suspicious =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is matched on its own
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufff9-\ufffb\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u061c\u2060-\u206f\u3164\ufeff\uffa0\ufe00-\ufe0f\ud800-\udfff\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

function replacementOf(char: string, at: number, source: string, found: Set<HiddenKind>): string {
  const code = char.codePointAt(0) ?? 0;
  if (code === 0x0d || code === 0x2028 || code === 0x2029) return noted(found, 'control characters', '\n');
  if (isNeeded(char, at, source)) return char;
  if (code >= 0xd800 && code <= 0xdfff) return noted(found, 'broken characters', '\ufffd');
  return noted(found, kindOf(code), '');
}

/** Joiners between characters that can be joined, and selectors behind a character that has variants. */
function isNeeded(char: string, at: number, source: string): boolean {
  const code = char.codePointAt(0) ?? 0;
  if (code === 0x200c || code === 0x200d) return joins(at, source);
  return isSelector(code) && varies(code, before(at, source));
}

const isSelector = (code: number) => (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef);

function kindOf(code: number): HiddenKind {
  if (code < 0x20 || (code >= 0x7f && code <= 0x9f) || (code >= 0xfff9 && code <= 0xfffb)) return 'control characters';
  if (isSelector(code)) return 'variation selectors';
  if (code >= 0xe0000) return 'tag characters';
  const turns = code === 0x61c || code === 0x200e || code === 0x200f || (code >= 0x202a && code <= 0x202e);
  return turns || (code >= 0x2066 && code <= 0x2069)
    ? 'characters that turn the direction of text'
    : 'zero-width characters';
}

function noted(found: Set<HiddenKind>, kind: HiddenKind, replacement: string): string {
  found.add(kind);
  return replacement;
}

const pictograph = latePattern(String.raw`[\p{Extended_Pictographic}\p{Emoji_Modifier}]`, 'u');
/** The scripts in which a joiner or non-joiner changes the spelling of a word. */
const joiningScript = latePattern(
  String.raw`[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Nko}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]`,
  'u',
);

function joins(at: number, source: string): boolean {
  const next = String.fromCodePoint(source.codePointAt(at + 1) ?? 0x20);
  let last = before(at, source);
  if (joiningScript().test(last) && joiningScript().test(next)) return true;
  if (last === '\ufe0f') last = before(at - 1, source);
  return pictograph().test(last) && pictograph().test(next);
}

const hasEmojiForm = latePattern(String.raw`[\p{Emoji}\p{S}\p{P}]`, 'u');
const hasVariants = latePattern(String.raw`[\p{Script=Han}\p{Script=Mongolian}\p{Sm}\p{Nd}]`, 'u');

/** One selector behind a character with variants is needed; a chain of selectors is hidden data. */
function varies(code: number, base: string): boolean {
  return code === 0xfe0e || code === 0xfe0f ? hasEmojiForm().test(base) : hasVariants().test(base);
}

function before(at: number, source: string): string {
  if (at <= 0) return ' ';
  const pair = at >= 2 ? (source.codePointAt(at - 2) ?? 0) : 0;
  return pair > 0xffff ? String.fromCodePoint(pair) : source.charAt(at - 1);
}
