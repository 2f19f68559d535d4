// Owns whether a lenient reader could take a tag for another one: with characters left out of its name, put in between, or
// replaced by letters that look the same. Letters that Unicode normalizes to the same one need no list here.

import { plainDigit } from '../kernel/decimal-digits.ts';
import { latePattern } from '../kernel/late-pattern.ts';
import { JOINTS, lookAlikes, OPENERS, SLASHES } from './look-alike-signs.ts';

const UNSEEN = '\\p{M}\\p{Cc}\\p{Cf}\\p{Cs}\\p{Default_Ignorable_Code_Point}';
const unseenRun = latePattern(`[${UNSEEN}]+`, 'uy');
const slash = latePattern(`[${SLASHES}]`, 'u');
/** What may stand before the name in some dialect of markup. */
const lead = latePattern(`[\\s!?|${SLASHES}${UNSEEN}]+`, 'uy');
const joint = latePattern(`[${JOINTS}]`, 'u');
const border = latePattern(`[>${OPENERS}]`, 'u');
const letterOrDigit = latePattern(String.raw`[\p{L}\p{N}]`, 'u');
/** How many letters of a name may be of another alphabet and in no table: no table is complete. */
const MOST_UNKNOWN = 4;
const marks = latePattern(String.raw`\p{M}`, 'gu');
const prefix = /[\w.-]{1,64}:/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: escapes begin with them
const escapeStart = /[\x1b\x9b]/;
const terminalEscape =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes are made of them
  /(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b<]{0,200}(?:\x07|\x1b\\)/y;

/**
 * Whether a tag of this name (words joined by `_`) begins at `at`, just behind its opening sign. A closing tag is recognized by
 * its letters alone; an opening tag needs its words apart, because a type in a program may have such a name. Linear: never reads
 * beyond the next tag.
 */
export function looksLike(text: string, at: number, name: string): boolean {
  const reader = new TagReader(text, at, false);
  // Some readers show the letter that ends a terminal escape, others hide it.
  return isTag(reader, name) || (reader.sawEscape && isTag(new TagReader(text, at, true), name));
}

function isTag(reader: TagReader, name: string): boolean {
  const start = reader.at;
  while (reader.skip(lead()) || reader.skipEscape());
  const before = reader.text.slice(start, reader.at);
  const isClosing = slash().test(before);
  reader.sawEscape ||= escapeStart.test(before);
  const nameAt = reader.at;
  if (spells(reader, name, isClosing)) return true;
  reader.at = nameAt;
  return reader.skip(prefix) && spells(reader, name, isClosing);
}

function spells(reader: TagReader, name: string, isClosing: boolean): boolean {
  let places: readonly Place[] = [{ matched: 0, isApart: false, unknown: 0 }];
  while (places.length > 0) {
    const char = reader.next();
    // A sign that is both reads as a letter here: the text behind it is searched when its own turn comes.
    if (char === '' || (border().test(char) && !lookAlikes.has(char))) return false;
    for (const part of folded(char)) {
      places = placesAfter(places, part, { name, isClosing });
      if (places.some(({ matched }) => matched === name.length)) return true;
    }
  }
  return false;
}

/** How far a name has been read. There may be several: a sign like "|" is a letter to one reader and overlooked by another. */
interface Place {
  readonly matched: number;
  /** A joint was read since the last letter. */
  readonly isApart: boolean;
  /** How many letters were of no alphabet that the table has. */
  readonly unknown: number;
}

interface Tag {
  readonly name: string;
  readonly isClosing: boolean;
}

function placesAfter(places: readonly Place[], part: string, tag: Tag): readonly Place[] {
  const isLetter = letterOrDigit().test(part);
  const isOverlooked = joint().test(part) || (tag.isClosing && !isLetter);
  const sign: Sign = { letters: part + lettersOf(part), mayBeAny: isLetter && part > '\u007f' };
  const next: Place[] = [];
  for (const place of places) {
    const read = withLetter(place, sign, tag);
    if (read) add(next, read);
    if (isOverlooked) add(next, place.isApart ? place : { ...place, isApart: true });
  }
  return next;
}

interface Sign {
  /** The letters that it may be taken for. */
  readonly letters: string;
  /** It is a letter of another alphabet, and may be taken for letters that the table does not name. */
  readonly mayBeAny: boolean;
}

/** The place behind the next letter of the name, if the sign may be taken for it. */
function withLetter(place: Place, { letters, mayBeAny }: Sign, { name, isClosing }: Tag): Place | undefined {
  const { matched, isApart } = place;
  const isJoint = name[matched] === '_';
  if (!isClosing && isJoint !== isApart) return undefined;
  const isKnown = letters.includes(name[isJoint ? matched + 1 : matched] ?? ' ');
  const unknown = isKnown ? place.unknown : place.unknown + 1;
  if (!isKnown && !(mayBeAny && unknown <= MOST_UNKNOWN)) return undefined;
  return { matched: matched + (isJoint ? 2 : 1), isApart: false, unknown };
}

/** One place for each stretch of the name, so that there are never more of them than the name is long. */
function add(places: Place[], place: Place): void {
  const at = places.findIndex(({ matched, isApart }) => matched === place.matched && isApart === place.isApart);
  if (at < 0) places.push(place);
  else if (place.unknown < (places[at]?.unknown ?? 0)) places[at] = place;
}

/** The letters that a sign may be taken for. Digits of any script count as the plain ones. */
function lettersOf(sign: string): string {
  const value = sign > '\u007f' ? plainDigit(sign) : undefined;
  return `${lookAlikes.get(sign) ?? ''}${value === undefined ? '' : (lookAlikes.get(value) ?? '')}`;
}

/** Lower case, without accents and in the plain form of the letters. */
function folded(char: string): string {
  return char > '\u007f' ? char.normalize('NFKD').toLowerCase().replace(marks(), '') : char.toLowerCase();
}

class TagReader {
  readonly text: string;
  at: number;
  /** The text that was read holds what may be a terminal escape. */
  sawEscape = false;
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
      this.sawEscape ||= code === 0x1b || code === 0x9b;
      if ((code >= 0x20 && code < 0x7f) || joint().test(char) || !(this.skipEscape() || this.skip(unseenRun()))) {
        this.at += char.length;
        return char;
      }
    }
  }
}
