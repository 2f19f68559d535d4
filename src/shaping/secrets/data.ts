// Owns taking secrets out of plain data and out of failures, with whatever redacts a text.

import { isObject, type JsonObject } from '../../kernel/json.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { namingOf } from './names.ts';
import { isPlaceholder, looksRandom } from './values.ts';

type RedactText = (text: string) => string;

interface Looking {
  readonly text: RedactText;
  /** Telling keys give their values away. */
  readonly byName: boolean;
  /** Keys, and what a call goes by, stay as they are. */
  readonly keepsNames: boolean;
  /** What the present place lies in. */
  readonly environment: Set<object>;
}

/** Data or a failure; the same object comes back when nothing had to change. */
export function redactData(value: unknown, text: RedactText): unknown {
  return redact(value, { text, byName: true, keepsNames: false, environment: new Set() });
}

/** The same without a look at the names: what they hold is no secret because of them. */
export function redactTexts<Value>(value: Value, text: RedactText): Value {
  return redact(value, { text, byName: false, keepsNames: false, environment: new Set() }) as Value;
}

/** What is said of tools, and the tools still the same ones to call. */
export function redactDescriptions<Value>(value: Value, text: RedactText): Value {
  return redact(value, { text, byName: false, keepsNames: true, environment: new Set() }) as Value;
}

function redact(value: unknown, looking: Looking): unknown {
  if (typeof value === 'string') return looking.text(value);
  if (!(value instanceof Error) && !isPlain(value)) return value;
  if (looking.environment.has(value)) return '[circular]';
  if (looking.environment.size >= limits.redactionDepth) return '[too deep]';
  looking.environment.add(value);
  const redacted = redactParts(value, looking);
  looking.environment.delete(value);
  return redacted;
}

function redactParts(value: Error | readonly unknown[] | JsonObject, looking: Looking): unknown {
  if (value instanceof Error) return redactError(value, looking);
  return isList(value) ? redactList(value, looking) : redactMap(value, looking);
}

/** Whatever has a class of its own is no data of ours to copy. */
function isPlain(value: unknown): value is readonly unknown[] | JsonObject {
  if (Array.isArray(value)) return true;
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const isList = (value: readonly unknown[] | JsonObject): value is readonly unknown[] => Array.isArray(value);

function redactList(list: readonly unknown[], looking: Looking): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (const [at, each] of list.entries()) {
    const rest = redact(each, looking);
    if (rest !== each) copy ??= [...list];
    if (copy !== undefined) copy[at] = rest;
  }
  return copy ?? list;
}

function redactMap(map: JsonObject, looking: Looking): JsonObject {
  const redacted: (readonly [name: string, rest: unknown])[] = [];
  let isChanged = false;
  for (const key of Object.keys(map)) {
    const value = map[key];
    const name = looking.keepsNames ? key : looking.text(key);
    const mark = looking.byName ? markFor(key, value) : undefined;
    const rest = mark ?? (looking.keepsNames && isGoneBy(key, value) ? value : redact(value, looking));
    isChanged ||= name !== key || rest !== value;
    redacted.push([name, rest]);
  }
  // Made of entries, a key like `__proto__` is a key like any other.
  return isChanged ? Object.fromEntries(redacted) : map;
}

/** A tool is called by its name, and its arguments are held against these. */
const isGoneBy = (key: string, value: unknown) => GONE_BY.has(key) && (typeof value === 'string' || isTexts(value));

const GONE_BY = new Set(['name', 'type', 'enum', 'const', 'required', 'pattern', '$ref', '$id', '$anchor']);

/** What stands for the whole value of a telling key; `undefined` where that says nothing of it. */
function markFor(key: string, value: unknown): unknown {
  const naming = typeof value === 'string' || typeof value === 'number' || isTexts(value) ? namingOf(key) : undefined;
  if (naming === undefined) return undefined;
  const mark = `[redacted:${naming.rule}]`;
  const isSecret = (each: unknown) => {
    const text = String(each);
    return naming.isCertainKey ? text !== '' && !isPlaceholder(text) : looksRandom(text);
  };
  if (!isTexts(value)) return isSecret(value) ? mark : undefined;
  return value.some(isSecret) ? value.map((each) => (isSecret(each) ? mark : each)) : undefined;
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string');

/** The same failure in redacted words; the very same when it holds no secret. */
function redactError(error: Error, looking: Looking): Error {
  const { text } = looking;
  const cause = isData(error.cause) ? redact(error.cause, looking) : undefined;
  const options = cause === undefined ? {} : { cause };
  if (error instanceof RuntimeError) {
    const data = redact(error.data, looking) as typeof error.data;
    if (data === error.data && cause === error.cause) return error;
    return withStack(new RuntimeError(error.code, data, options), error, text);
  }
  const { name, message, stack = '' } = error;
  const words = text(message);
  const fields = fieldsOf(error);
  const rest = redactMap(fields, looking);
  const isSame = words === message && text(stack) === stack && cause === error.cause && rest === fields;
  if (isSame && Object.values(fields).every(isData)) return error;
  const data = Object.entries(rest).filter(([, value]) => isData(value));
  return withStack(Object.assign(new Error(words, options), Object.fromEntries(data), { name }), error, text);
}

/** What was put on it beside its words: whoever prints a failure prints these too, and what an aggregate holds. */
function fieldsOf(error: Error): JsonObject {
  const own: JsonObject = { ...error, ...(error instanceof AggregateError && { errors: error.errors }) };
  const said = ['name', 'message', 'stack', 'cause'];
  return Object.fromEntries(Object.entries(own).filter(([key]) => !said.includes(key)));
}

/** A request, a socket, bytes: nobody knows what is in them, so a failure does not keep them. */
const isData = (value: unknown) =>
  typeof value !== 'function' && (!isObject(value) || value instanceof Error || isPlain(value));

function withStack(copy: Error, { stack }: Error, text: RedactText): Error {
  if (stack !== undefined) copy.stack = text(stack);
  return copy;
}
