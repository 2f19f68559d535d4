// Owns taking secrets out of plain data and out of failures, with whatever redacts a text.

import { isObject, type JsonObject } from '../../kernel/json.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { namingOf } from './names.ts';
import { isPlaceholder, looksRandom } from './values.ts';

type RedactText = (text: string) => string;

interface Looking {
  readonly text: RedactText;
  /** What the present place lies in. */
  readonly around: Set<object>;
}

/** Data or a failure; the same object comes back when nothing had to change. */
export function redactData(value: unknown, text: RedactText): unknown {
  return redact(value, { text, around: new Set() });
}

function redact(value: unknown, looking: Looking): unknown {
  if (typeof value === 'string') return looking.text(value);
  if (!(value instanceof Error) && !isPlain(value)) return value;
  if (looking.around.has(value)) return '[circular]';
  if (looking.around.size >= limits.redactionDepth) return '[too deep]';
  looking.around.add(value);
  const redacted = redactParts(value, looking);
  looking.around.delete(value);
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
  const redacted = list.map((each) => redact(each, looking));
  return redacted.every((each, index) => each === list[index]) ? list : redacted;
}

function redactMap(map: JsonObject, looking: Looking): JsonObject {
  let isChanged = false;
  const redacted = Object.entries(map).map(([key, value]) => {
    const name = looking.text(key);
    const rest = markFor(key, value) ?? redact(value, looking);
    isChanged ||= name !== key || rest !== value;
    return [name, rest] as const;
  });
  // Made of entries, a key like `__proto__` is a key like any other.
  return isChanged ? Object.fromEntries(redacted) : map;
}

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
  const cause = redact(error.cause, looking);
  const options = cause === undefined ? {} : { cause };
  if (error instanceof RuntimeError) {
    const data = redact(error.data, looking) as typeof error.data;
    if (data === error.data && cause === error.cause) return error;
    return withStack(new RuntimeError(error.code, data, options), error, text);
  }
  const { message: words, name } = error;
  const rest = text(words);
  if (rest === words && cause === error.cause) return error;
  return withStack(Object.assign(new Error(rest, options), { name }), error, text);
}

function withStack(copy: Error, { stack }: Error, text: RedactText): Error {
  if (stack !== undefined) copy.stack = text(stack);
  return copy;
}
