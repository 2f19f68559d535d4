// Owns structured content as a model reads it: JSON of bounded depth without binary data, and only where the text of the result
// does not hold the same value already.

import { isObject, type JsonObject, parseJson, stringifyBounded } from '../kernel/json.ts';
import { keysOf } from '../kernel/many-keys.ts';
import { parseInSlices } from '../kernel/sliced-json.ts';
import { stringifyInSlices } from '../kernel/sliced-json-text.ts';
import { atOnce, PART_UNITS, type Slices } from '../kernel/slices.ts';
import { walk } from '../kernel/walk.ts';
import { limits } from '../model/limits.ts';
import { byteLength, isBase64, looksBinary } from './base64.ts';

/** JSON for the model. Never throws, however deep or odd the value; `attached` is base64 that an attachment holds already. */
export const jsonText = (value: unknown, attached?: ReadonlySet<string>): string =>
  atOnce(jsonTextInSlices(value, attached));

export function* jsonTextInSlices(value: unknown, attached: ReadonlySet<string> = nothing): Slices<string> {
  const { isDeep, isPlain, isEndless } = yield* survey(value, attached);
  if (isEndless) return '[structured content with too many parts to be shown]';
  try {
    return yield* stringifyInSlices(value, {
      ...(isDeep && { depth: limits.structured.depth, tooDeep: '[too deep to be shown]' }),
      ...(!isPlain && { replaceText: (text, holder, key) => withoutBinary(text, { holder, key, attached }) }),
    });
  } catch (error) {
    // Only an in-process server can send a value that is no JSON.
    return `[structured content that is no JSON: ${stringifyBounded(String(error), limits.placeholderChars)}]`;
  }
}

const nothing: ReadonlySet<string> = new Set();

interface Survey {
  isDeep: boolean;
  /** No string in it could be binary data. */
  isPlain: boolean;
  /** It contains itself, or has too many parts. */
  isEndless: boolean;
}

/** Most values need no pruning and no replacing; this check, which never recurses, tells. */
function* survey(value: unknown, attached: ReadonlySet<string>): Slices<Survey> {
  const found: Survey = { isDeep: false, isPlain: true, isEndless: false };
  const { depth, parts, binaryChars } = limits.structured;
  let seen = 0;
  yield* walk(value, (part, level) => {
    if (++seen > parts) found.isEndless = true;
    if (typeof part === 'string') {
      if (part.length >= binaryChars || (attached.size > 0 && attached.has(part))) found.isPlain = false;
      return false;
    }
    if (isObject(part) && typeOfData(part) !== undefined) found.isPlain = false;
    if (level > depth) found.isDeep = true;
    return level <= depth && !found.isEndless;
  });
  return found;
}

/** The place of a string. */
interface StringContext {
  readonly holder: unknown;
  readonly key: string;
  readonly attached: ReadonlySet<string>;
}

const dataUri = /(data:[\w.+/-]{0,127}(?:;[\w.+=-]{1,64}){0,4};)base64,([\w+/=-]+)/g;

/** Replaces a string that is binary data, and the data of `data:` URLs within a string. */
function withoutBinary(text: string, { holder, key, attached }: StringContext): string {
  if (attached.has(text) || looksBinary(text) || (isDataKey(key) && isDeclaredBinary(holder) && isBase64(text)))
    return mark(text);
  if (!text.includes(';base64,')) return text;
  return text.replace(dataUri, (_, head: string, data: string) => `${head}${mark(data)}`);
}

const mark = (data: string) => `[base64, ${byteLength(data)} bytes]`;

const isDataKey = (key: string) => key === 'data' || key === 'blob' || key === 'base64' || key === 'bytes';

const isDeclaredBinary = (holder: unknown) =>
  isObject(holder) && !/^text\/|[/+](?:json|xml)\b/.test(typeOfData(holder) ?? 'text/');

/** The MIME type that an object declares for its data, as content blocks do. */
function typeOfData(holder: JsonObject): string | undefined {
  const type = holder['mimeType'] ?? holder['mime_type'] ?? holder['mediaType'] ?? holder['media_type'];
  return typeof type === 'string' ? type : undefined;
}

/**
 * Whether the texts hold the value already: one text as JSON in any formatting, or one text per item of a list; also where a
 * list or plain value was put into an object only to be sent (`{ result: … }`, `{ content: … }`).
 */
export const isInTexts = (value: unknown, texts: readonly string[]): boolean => atOnce(isInTextsInSlices(value, texts));

export function* isInTextsInSlices(value: unknown, texts: readonly string[]): Slices<boolean> {
  const budget = { chars: limits.structured.comparedChars };
  if (texts.length > limits.structured.comparedTexts) return false;
  for (const text of texts) if (yield* holdsValue(text, value, budget)) return true;
  const inner = innerOf(value);
  if (inner === undefined) return false;
  for (const text of texts) if (yield* holdsValue(text, inner, budget)) return true;
  if (!Array.isArray(inner) || inner.length !== texts.length) return false;
  for (const [at, text] of texts.entries()) if (!(yield* holdsValue(text, inner[at], budget))) return false;
  return true;
}

function innerOf(value: unknown): unknown {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return undefined;
  const keys = keysOf(value);
  return keys.length === 1 ? value[keys[0] as string] : undefined;
}

/** Parsing a text costs as much as reading the answer did, so a budget limits how much is parsed. */
function* holdsValue(text: string, value: unknown, budget: { chars: number }): Slices<boolean> {
  if (typeof value === 'string' && text === value) return true;
  if (!mayBe(text, value)) return false;
  budget.chars -= text.length;
  if (budget.chars < 0) return false;
  const isShort = text.length <= limits.slicedMessageBytes;
  const parsed = isShort ? parseJson(text) : yield* parseInSlices(text);
  yield isShort ? text.length : 0;
  return parsed.ok && (yield* isSame(parsed.value, value));
}

/** The first character of most texts shows that they are not JSON, or not of this type. */
function mayBe(text: string, value: unknown): boolean {
  const [first = ''] = /\S/.exec(text.slice(0, 64)) ?? [];
  if (typeof value === 'string') return first === '"';
  if (typeof value === 'object' && value !== null) return first === (Array.isArray(value) ? '[' : '{');
  return text.length <= 64 && first !== '';
}

/** Never recurses: servers send values of any depth. */
function* isSame(one: unknown, other: unknown): Slices<boolean> {
  const open: [unknown, unknown][] = [[one, other]];
  let parts = 0;
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    if (++parts % PARTS_PER_STEP === 0) yield PARTS_PER_STEP * PART_UNITS;
    const [a, b] = pair;
    if (a === b) continue;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (Array.isArray(a) !== Array.isArray(b)) return false;
    const keys = keysOf(a);
    if (keys.length !== keysOf(b).length) return false;
    for (const key of keys) {
      if (!Object.hasOwn(b, key)) return false;
      open.push([(a as JsonObject)[key], (b as JsonObject)[key]]);
    }
  }
  return true;
}

const PARTS_PER_STEP = 4_096;
