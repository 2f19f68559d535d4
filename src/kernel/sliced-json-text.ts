// Owns writing a large value as JSON in slices. Runs of small parts are written by `JSON.stringify`; only the large objects and lists
// around them are put together here.

import { keysOf } from './many-keys.ts';
import { PART_UNITS, type Slices } from './slices.ts';

export interface JsonTextOptions {
  /** Gives every text in place of the one that stands in `holder` under `key`. */
  readonly replaceText?: ((text: string, holder: unknown, key: string) => string) | undefined;
  /** Objects and lists below so many levels are replaced by the text `tooDeep`. */
  readonly depth?: number | undefined;
  readonly tooDeep?: string | undefined;
}

/** A value with more parts than this is put together here. */
const SMALL_PARTS = 2_000;
/** A text counts as a part more for each of these characters. */
const CHARS_PER_PART = 64;

export function* stringifyInSlices(value: unknown, options: JsonTextOptions = {}): Slices<string> {
  const writer = new Writer(options);
  yield* writer.write(value, 0);
  return writer.text();
}

class Writer {
  readonly #options: JsonTextOptions;
  readonly #pieces: string[] = [];
  readonly #replacer: ((this: unknown, key: string, value: unknown) => unknown) | undefined;

  constructor(options: JsonTextOptions) {
    this.#options = options;
    const { replaceText } = options;
    this.#replacer =
      replaceText &&
      function (this: unknown, key, value) {
        return typeof value === 'string' ? replaceText(value, this, key) : value;
      };
  }

  text(): string {
    return this.#pieces.join('');
  }

  *write(value: unknown, level: number): Slices<void> {
    const { depth } = this.#options;
    const isSmall = level === depth || partsOf(value, SMALL_PARTS) <= SMALL_PARTS;
    if (isSmall || !isPlainHolder(value)) {
      this.#pieces.push(JSON.stringify(this.#pruned(value, level), this.#replacer) ?? 'null');
      yield SMALL_PARTS * PART_UNITS;
    } else if (Array.isArray(value)) yield* this.#writeList(value, level);
    else yield* this.#writeObject(value, level);
  }

  *#writeList(list: readonly unknown[], level: number): Slices<void> {
    let batch: unknown[] = [];
    let parts = 0;
    let comma = '[';
    const flush = () => {
      if (batch.length > 0) this.#pieces.push(comma, JSON.stringify(batch, this.#replacer).slice(1, -1));
      if (batch.length > 0) comma = ',';
      batch = [];
      parts = 0;
    };
    for (const [at, item] of list.entries()) {
      const size = partsOf(item, SMALL_PARTS);
      if (size > SMALL_PARTS) {
        flush();
        this.#pieces.push(comma);
        comma = ',';
        yield* this.write(this.#replaced(item, list, String(at)), level + 1);
        continue;
      }
      batch.push(this.#replaced(this.#pruned(item, level + 1), list, String(at)));
      parts += size;
      if (parts < SMALL_PARTS) continue;
      const done = parts;
      flush();
      yield done * PART_UNITS;
    }
    flush();
    this.#pieces.push(comma === '[' ? '[]' : ']');
  }

  /** Member by member: an object of a few of them would be as slow to make as to write. */
  *#writeObject(object: Readonly<Record<string, unknown>>, level: number): Slices<void> {
    let comma = '{';
    let parts = 0;
    for (const key of keysOf(object)) {
      const value = this.#replaced(object[key], object, key);
      const size = partsOf(value, SMALL_PARTS);
      const isLarge = size > SMALL_PARTS;
      const text = isLarge ? '' : JSON.stringify(this.#pruned(value, level + 1), this.#replacer);
      // A value that JSON has no word for is left out, as by `JSON.stringify`.
      if (text === undefined) continue;
      this.#pieces.push(`${comma}${JSON.stringify(key)}:${text}`);
      comma = ',';
      if (isLarge) yield* this.write(value, level + 1);
      parts += size + 1;
      if (parts < SMALL_PARTS) continue;
      yield Math.min(parts, 2 * SMALL_PARTS) * PART_UNITS;
      parts = 0;
    }
    this.#pieces.push(comma === '{' ? '{}' : '}');
  }

  #pruned(value: unknown, level: number): unknown {
    const { depth, tooDeep = '' } = this.#options;
    return depth === undefined ? value : pruned(value, depth - level, tooDeep);
  }

  /** In a batch a text would stand in another holder. */
  #replaced(value: unknown, holder: unknown, key: string): unknown {
    const { replaceText } = this.#options;
    return typeof value === 'string' && replaceText ? replaceText(value, holder, key) : value;
  }
}

/** An object with a spelling of its own is written by `JSON.stringify`; only an in-process server can send one. */
function isPlainHolder(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && typeof (value as { toJSON?: unknown }).toJSON !== 'function';
}

function pruned(value: unknown, depth: number, tooDeep: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return tooDeep;
  if (Array.isArray(value)) return value.map((each) => pruned(each, depth - 1, tooDeep));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, pruned(each, depth - 1, tooDeep)]));
}

/** How many parts a value has; counts no further than `most`. */
function partsOf(value: unknown, most: number): number {
  if (typeof value === 'string') return 1 + value.length / CHARS_PER_PART;
  if (typeof value !== 'object' || value === null) return 1;
  const parts: readonly unknown[] = Array.isArray(value) ? value : valuesWithin(value, most);
  if (parts.length > most) return parts.length + 1;
  let count = 1;
  for (const part of parts) {
    count += partsOf(part, most - count);
    if (count > most) return count;
  }
  return count;
}

function valuesWithin(object: object, most: number): readonly unknown[] {
  const keys = keysOf(object);
  // Their values are not needed to know that there are too many.
  return keys.length > most ? keys : keys.map((key) => (object as Record<string, unknown>)[key]);
}
