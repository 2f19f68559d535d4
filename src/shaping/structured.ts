// Owns structured content as a model reads it: JSON of bounded depth without binary data, and only where the text of the result
// does not hold the same value already.

import { isObject, type JsonObject, parseJson, stringifyBounded } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import { byteLength, isBase64, looksBinary } from './base64.ts';

/** JSON for the model. Never throws, however deep or odd the value; `attached` is base64 that an attachment holds already. */
export function jsonText(value: unknown, attached: ReadonlySet<string> = nothing): string {
  const { isDeep, isPlain, isEndless } = survey(value, attached);
  if (isEndless) return '[structured content with too many parts to be shown]';
  const shallow = isDeep ? pruned(value, limits.structured.depth) : value;
  try {
    return JSON.stringify(shallow, isPlain ? undefined : binaryReplacer(attached)) ?? 'null';
  } catch (error) {
    // Only an in-process server can send a value that is no JSON.
    return `[structured content that is no JSON: ${stringifyBounded(String(error), limits.placeholderChars)}]`;
  }
}

const nothing: ReadonlySet<string> = new Set();

function binaryReplacer(attached: ReadonlySet<string>) {
  return function (this: unknown, key: string, each: unknown): unknown {
    return typeof each === 'string' ? withoutBinary(each, { holder: this, key, attached }) : each;
  };
}

interface Survey {
  isDeep: boolean;
  /** No string in it could be binary data. */
  isPlain: boolean;
  /** It contains itself, or has too many parts. */
  isEndless: boolean;
}

/** Most values need no pruning and no replacing; this check, which never recurses, tells. */
function survey(value: unknown, attached: ReadonlySet<string>): Survey {
  const found: Survey = { isDeep: false, isPlain: true, isEndless: false };
  const open: { readonly part: unknown; readonly level: number }[] = [{ part: value, level: 1 }];
  let seen = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { part, level } = next;
    if (++seen > limits.structured.parts) return { ...found, isEndless: true };
    if (typeof part === 'string') {
      if (part.length >= limits.structured.binaryChars || (attached.size > 0 && attached.has(part)))
        found.isPlain = false;
    } else if (typeof part === 'object' && part !== null) {
      if (level > limits.structured.depth) {
        found.isDeep = true;
        continue;
      }
      if (isObject(part) && typeOfData(part) !== undefined) found.isPlain = false;
      for (const each of Array.isArray(part) ? part : Object.values(part))
        if (typeof each === 'string' || typeof each === 'object') open.push({ part: each, level: level + 1 });
    }
  }
  return found;
}

function pruned(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '[too deep to be shown]';
  if (Array.isArray(value)) return value.map((each) => pruned(each, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, pruned(each, depth - 1)]));
}

/** Where a string stands. */
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
export function isInTexts(value: unknown, texts: readonly string[]): boolean {
  const inner = innerOf(value);
  const budget = { chars: limits.structured.comparedChars };
  if (texts.length > limits.structured.comparedTexts) return false;
  if (texts.some((text) => holdsValue(text, value, budget))) return true;
  if (inner === undefined) return false;
  if (texts.some((text) => holdsValue(text, inner, budget))) return true;
  return (
    Array.isArray(inner) &&
    inner.length === texts.length &&
    texts.every((text, at) => holdsValue(text, inner[at], budget))
  );
}

function innerOf(value: unknown): unknown {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return undefined;
  const [key, ...others] = Object.keys(value);
  return key !== undefined && others.length === 0 ? value[key] : undefined;
}

/** Parsing a text costs as much as reading the answer did, so a budget limits how much is parsed. */
function holdsValue(text: string, value: unknown, budget: { chars: number }): boolean {
  if (typeof value === 'string' && text === value) return true;
  if (!mayBe(text, value)) return false;
  budget.chars -= text.length;
  if (budget.chars < 0) return false;
  const parsed = parseJson(text);
  return parsed.ok && isSame(parsed.value, value);
}

/** The first character of most texts shows that they are not JSON, or not of this type. */
function mayBe(text: string, value: unknown): boolean {
  const [first = ''] = /\S/.exec(text.slice(0, 64)) ?? [];
  if (typeof value === 'string') return first === '"';
  if (typeof value === 'object' && value !== null) return first === (Array.isArray(value) ? '[' : '{');
  return text.length <= 64 && first !== '';
}

/** Never recurses: servers send values of any depth. */
function isSame(one: unknown, other: unknown): boolean {
  const open: [unknown, unknown][] = [[one, other]];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [a, b] = pair;
    if (a === b) continue;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (Array.isArray(a) !== Array.isArray(b)) return false;
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length) return false;
    for (const key of keys) {
      if (!Object.hasOwn(b, key)) return false;
      open.push([(a as JsonObject)[key], (b as JsonObject)[key]]);
    }
  }
  return true;
}
