// Owns parsing a long JSON text in slices. Short stretches are parsed by `JSON.parse`; only the objects and lists around them are
// put together here. Accepts, refuses and returns what `JSON.parse` does, with one exception: what is nested absurdly deep is left out.

import { type JsonObject, type ParsedJson, parseJson } from './json.ts';
import { rememberKeys } from './many-keys.ts';
import { PART_UNITS, SLICE_UNITS, type Slices, STEP_UNITS } from './slices.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** A stretch that is parsed at once is about so long. */
const STRETCH_CHARS = 128 * 1024;

/** A longer string is read in pieces: this one takes as long as a slice. */
const LONGEST_AT_ONCE = 10 * SLICE_UNITS;

/** Deeper parts become an empty list, unread: their levels would take a hundred times the memory of the text. */
const DEEPEST = 2_000;

export function* parseInSlices(text: string, stretchChars = STRETCH_CHARS): Slices<ParsedJson> {
  try {
    return { ok: true, value: yield* new SlicedParser(text, stretchChars).parse() };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** An object or list that is longer than a stretch, filled while it is read. */
interface Frame {
  readonly value: unknown;
  readonly list: unknown[] | undefined;
  readonly object: Record<string, unknown> | undefined;
  /** The object's keys in the order of the text. */
  readonly keys: string[];
  /** A part was put in whole, so that a comma or the end must follow. */
  isFilled: boolean;
}

class SlicedParser {
  readonly #text: string;
  readonly #stretchChars: number;
  #at = 0;
  /** By level of nesting: where its bracket stands, where its first unread part begins, and its last comma. */
  readonly #brackets: number[] = [];
  readonly #starts: number[] = [];
  readonly #commas: number[] = [];
  /** The outermost levels are filled here; those within them wait until they are known to be long. */
  readonly #frames: Frame[] = [];
  /** How many levels below the deepest one are open. */
  #tooDeep = 0;
  /** Whether a string was taken for the last one of the text. */
  #hasGuessed = false;
  /** Work that is not in proportion to the characters. */
  #extraUnits = 0;

  constructor(text: string, stretchChars: number) {
    this.#text = text;
    this.#stretchChars = stretchChars;
  }

  *parse(): Slices<unknown> {
    const text = this.#text;
    this.#at = Math.max(0, text.search(NOT_BLANK));
    const first = text.charCodeAt(this.#at);
    if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return JSON.parse(text);
    this.#enter();
    const root = this.#open();
    while (this.#brackets.length > 0) {
      const from = this.#at;
      const isAtString = this.#scan(from + STEP_UNITS);
      yield this.#at - from + this.#extraUnits;
      this.#extraUnits = 0;
      if (isAtString) yield* this.#readString();
    }
    this.#mustBeBlank(this.#at, text.length);
    return root.value;
  }

  /** Reads on to a place behind `to`; true before a string that may be long. */
  #scan(to: number): boolean {
    const text = this.#text;
    const limit = Math.min(to, text.length);
    while (this.#at < limit) {
      switch (text.charCodeAt(this.#at)) {
        case QUOTE:
          if (!this.#skipString()) return true;
          continue;
        case OPEN_BRACE:
        case OPEN_BRACKET:
          this.#enter();
          continue;
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          this.#leave();
          if (this.#brackets.length === 0) return false;
          continue;
        case COMMA:
          if (this.#tooDeep > 0) break;
          this.#commas[this.#commas.length - 1] = this.#at;
          this.#shorten();
      }
      this.#at += 1;
    }
    if (limit === text.length) throw new SyntaxError('Unexpected end of JSON input');
    return false;
  }

  /** Nearly all strings end at the first quote. */
  #skipString(): boolean {
    const quote = this.#text.indexOf('"', this.#at + 1);
    if (quote === -1) throw new SyntaxError('Unterminated string in JSON');
    if (quote - this.#at > this.#stretchChars || this.#text.charCodeAt(quote - 1) === BACKSLASH) return false;
    this.#at = quote + 1;
    return true;
  }

  *#readString(): Slices<void> {
    const start = this.#at;
    const last = this.#readLastString(start);
    const end = last === undefined ? yield* endOfString(this.#text, start) : this.#text.lastIndexOf('"') + 1;
    this.#at = end;
    if (this.#tooDeep > 0 || end - start <= this.#stretchChars) return;
    const level = this.#openAll();
    const from = this.#starts[level] as number;
    // A long key is read with its value.
    if (this.#frameAt(level).list === undefined && isBlank(this.#text, from, start)) return;
    const value = last ?? (yield* longString(this.#text, start, end));
    this.#put(level, start, value);
    this.#filled(level);
    if (last !== undefined) yield (end - start) / 10;
  }

  /**
   * A long string is nearly always the last of its text, such as the text of a result. If it is, `JSON.parse` reads it at once,
   * at a millisecond for each megabyte; if not, it says so at the string's end, and no other string of the text is tried.
   */
  #readLastString(start: number): string | undefined {
    const length = this.#text.lastIndexOf('"') + 1 - start;
    if (this.#hasGuessed || this.#tooDeep > 0 || length <= this.#stretchChars || length > LONGEST_AT_ONCE)
      return undefined;
    this.#hasGuessed = true;
    const parsed = parseJson(this.#text.slice(start, start + length));
    return parsed.ok ? (parsed.value as string) : undefined;
  }

  #enter(): void {
    if (this.#brackets.length === DEEPEST) {
      if (this.#tooDeep === 0) this.#put(this.#openAll(), this.#at, []);
      this.#tooDeep += 1;
      this.#at += 1;
      return;
    }
    this.#brackets.push(this.#at);
    this.#at += 1;
    this.#starts.push(this.#at);
    this.#commas.push(-1);
    if (this.#frames.length > 0) this.#shorten();
  }

  #leave(): void {
    if (this.#tooDeep > 0) {
      this.#tooDeep -= 1;
      this.#at += 1;
      if (this.#tooDeep === 0) this.#filled(DEEPEST - 1);
      return;
    }
    const level = this.#brackets.length - 1;
    const opened = this.#text.charCodeAt(this.#brackets[level] as number);
    if ((opened === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET) !== this.#text.charCodeAt(this.#at))
      throw new SyntaxError(`Unexpected bracket in JSON at position ${this.#at}`);
    const isFrame = level < this.#frames.length;
    if (isFrame) this.#finish(level);
    this.#brackets.pop();
    this.#starts.pop();
    this.#commas.pop();
    this.#at += 1;
    if (isFrame && level > 0) this.#filled(level - 1);
  }

  /** Parses what is complete, from the outermost level inwards, until what remains unread is short. */
  #shorten(): void {
    while (this.#at - (this.#starts[this.#frames.length - 1] as number) > this.#stretchChars) {
      const level = this.#frames.length - 1;
      if (this.#parseUpToComma(level)) continue;
      if (this.#frames.length === this.#brackets.length) return;
      this.#open();
    }
  }

  /** Every level becomes a frame; returns the innermost one. */
  #openAll(): number {
    this.#parseUpToComma(this.#frames.length - 1);
    while (this.#frames.length < this.#brackets.length) {
      this.#open();
      this.#parseUpToComma(this.#frames.length - 1);
    }
    return this.#frames.length - 1;
  }

  #parseUpToComma(level: number): boolean {
    const comma = this.#commas[level] as number;
    if (comma < (this.#starts[level] as number)) return false;
    this.#add(level, comma);
    this.#starts[level] = comma + 1;
    return true;
  }

  /** The next level becomes a frame, in the place where it stands in the one around it. */
  #open(): Frame {
    const level = this.#frames.length;
    const bracket = this.#brackets[level] as number;
    const frame = frameFor(this.#text.charCodeAt(bracket));
    if (level > 0) this.#put(level - 1, bracket, frame.value);
    this.#frames.push(frame);
    this.#extraUnits += PART_UNITS;
    return frame;
  }

  #frameAt(level: number): Frame {
    return this.#frames[level] as Frame;
  }

  /** Puts a value in whole that begins at `at`, behind its key where it stands in an object. */
  #put(level: number, at: number, value: unknown): void {
    const { list, object, keys, isFilled } = this.#frameAt(level);
    const start = this.#starts[level] as number;
    if (isFilled || (list !== undefined && !isBlank(this.#text, start, at)))
      throw new SyntaxError(`Unexpected value in JSON at position ${at}`);
    list?.push(value);
    if (object === undefined) return;
    // No key before it, or more than that, is no JSON.
    const [key = ''] = Object.keys(JSON.parse(`{${this.#text.slice(start, at)}[]}`));
    setKey(object, key, value, keys);
  }

  /** A value was put in that ends here. */
  #filled(level: number): void {
    this.#starts[level] = this.#at;
    this.#frameAt(level).isFilled = true;
  }

  #finish(level: number): void {
    const { object, keys, isFilled } = this.#frameAt(level);
    const mayBeEmpty = this.#commas[level] === -1 && !isFilled;
    if (!mayBeEmpty || !isBlank(this.#text, this.#starts[level] as number, this.#at)) {
      this.#parseUpToComma(level);
      this.#add(level, this.#at);
    }
    if (object !== undefined) rememberKeys(object, keys);
    this.#frames.pop();
  }

  /** Parses the parts of a frame from its first unread one up to `end`. */
  #add(level: number, end: number): void {
    const frame = this.#frameAt(level);
    if (frame.isFilled && this.#passFilled(level, end)) return;
    const { list, object, keys } = frame;
    const part = this.#text.slice(this.#starts[level], end);
    const added = list === undefined ? addMembers(object, keys, part) : addItems(list, part);
    if (added === 0) throw new SyntaxError(`Unexpected comma or bracket in JSON at position ${end}`);
  }

  /** Behind a value that was put in, only a comma may stand; true if nothing follows it up to `end`. */
  #passFilled(level: number, end: number): boolean {
    let at = this.#starts[level] as number;
    while (at < end && isBlank(this.#text, at, at + 1)) at += 1;
    if (at < end && this.#text.charCodeAt(at) !== COMMA)
      throw new SyntaxError(`Unexpected token in JSON at position ${at}`);
    this.#frameAt(level).isFilled = false;
    this.#starts[level] = at + 1;
    return at === end;
  }

  #mustBeBlank(start: number, end: number): void {
    if (!isBlank(this.#text, start, end)) throw new SyntaxError(`Unexpected token in JSON at position ${start}`);
  }
}

function frameFor(bracket: number): Frame {
  const list: unknown[] | undefined = bracket === OPEN_BRACKET ? [] : undefined;
  const object = list === undefined ? {} : undefined;
  return { value: list ?? object, list, object, keys: [], isFilled: false };
}

const NOT_BLANK = /[^ \t\n\r]/;
const isBlank = (text: string, start: number, end: number) => start === end || !NOT_BLANK.test(text.slice(start, end));

function addItems(list: unknown[], part: string): number {
  const items = JSON.parse(`[${part}]`) as readonly unknown[];
  for (const item of items) list.push(item);
  return items.length;
}

function addMembers(object: Record<string, unknown> = {}, keys: string[], part: string): number {
  const members = JSON.parse(`{${part}}`) as JsonObject;
  const names = Object.keys(members);
  for (const name of names) setKey(object, name, members[name], keys);
  return names.length;
}

/** `__proto__` is a key like any other, as it is to `JSON.parse`. */
function setKey(object: Record<string, unknown>, key: string, value: unknown, keys: string[]): void {
  if (!Object.hasOwn(object, key)) keys.push(key);
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

/** The place behind the closing quote. */
function* endOfString(text: string, start: number): Slices<number> {
  let searched = start;
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    if (!isEscaped(text, quote, searched)) return quote + 1;
    if (quote - searched < STEP_UNITS) continue;
    yield quote - searched;
    searched = quote;
  }
  throw new SyntaxError('Unterminated string in JSON');
}

/** No backslash before `floor` counts. */
function isEscaped(text: string, at: number, floor: number): boolean {
  let before = at - 1;
  while (before > floor && text.charCodeAt(before) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 0;
}

/** Parsed in pieces that are joined at the end; no piece ends within an escape. */
function* longString(text: string, start: number, end: number): Slices<string> {
  const pieces: string[] = [];
  for (let from = start + 1; from < end - 1; ) {
    const to = beforeEscape(text, Math.min(from + STEP_UNITS, end - 1), from - 1);
    pieces.push(JSON.parse(`"${text.slice(from, to)}"`) as string);
    yield to - from;
    from = to;
  }
  return pieces.join('');
}

const LONGEST_ESCAPE = '\\u0000'.length;

function beforeEscape(text: string, at: number, floor: number): number {
  for (let place = at - 1; place > at - LONGEST_ESCAPE && place > floor; place--) {
    if (text.charCodeAt(place) !== BACKSLASH || isEscaped(text, place, floor)) continue;
    const length = text[place + 1] === 'u' ? LONGEST_ESCAPE : 2;
    // An escape that the string's end cuts off is refused by `JSON.parse`.
    return place + length > at && place > floor + 1 ? place : at;
  }
  return at;
}
