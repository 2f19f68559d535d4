// Owns redacting plain data and errors, given a function that redacts a text.

import { isObject, type JsonObject } from '../../kernel/json.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { secretNameKind } from '../../model/secret-shapes.ts';
import { isPlaceholder, looksRandom } from '../../model/secret-values.ts';
import { isAssignedToken } from './generated.ts';

type RedactText = (text: string) => string;

interface RedactionContext {
  readonly text: RedactText;
  /** Whether the value of a key like `password` is redacted because of the key. */
  readonly byName: boolean;
  /** Whether keys, and the values that identify a tool or its arguments, stay unredacted. */
  readonly keepsNames: boolean;
  /** The objects and lists that hold the present value, to notice cycles and excessive depth. */
  readonly ancestors: Set<object>;
}

/** Redacts data or an error; returns the same object when nothing had to change. */
export function redactData(value: unknown, text: RedactText): unknown {
  return redact(value, { text, byName: true, keepsNames: false, ancestors: new Set() });
}

/** Redacts every text, but no value because of its key. */
export function redactTexts<Value>(value: Value, text: RedactText): Value {
  return redact(value, { text, byName: false, keepsNames: false, ancestors: new Set() }) as Value;
}

/** Redacts the descriptions of tools; names and schema values that calls depend on stay. */
export function redactDescriptions<Value>(value: Value, text: RedactText): Value {
  return redact(value, { text, byName: false, keepsNames: true, ancestors: new Set() }) as Value;
}

function redact(value: unknown, context: RedactionContext): unknown {
  if (typeof value === 'string') return context.text(value);
  if (!(value instanceof Error) && !isPlain(value)) return value;
  if (context.ancestors.has(value)) return '[circular]';
  if (context.ancestors.size >= limits.redactionDepth) return '[too deep]';
  context.ancestors.add(value);
  const redacted = redactParts(value, context);
  context.ancestors.delete(value);
  return redacted;
}

function redactParts(value: Error | readonly unknown[] | JsonObject, context: RedactionContext): unknown {
  if (value instanceof Error) return redactError(value, context);
  return isList(value) ? redactList(value, context) : redactMap(value, context);
}

/** Instances of classes are not copied. */
function isPlain(value: unknown): value is readonly unknown[] | JsonObject {
  if (Array.isArray(value)) return true;
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const isList = (value: readonly unknown[] | JsonObject): value is readonly unknown[] => Array.isArray(value);

function redactList(list: readonly unknown[], context: RedactionContext): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (const [at, each] of list.entries()) {
    const rest = redact(each, context);
    if (rest !== each) copy ??= [...list];
    if (copy !== undefined) copy[at] = rest;
  }
  return copy ?? list;
}

function redactMap(map: JsonObject, context: RedactionContext): JsonObject {
  const redacted: (readonly [name: string, rest: unknown])[] = [];
  let isChanged = false;
  for (const key of Object.keys(map)) {
    const value = map[key];
    const name = context.keepsNames ? key : context.text(key);
    const mark = context.byName ? markFor(key, value) : undefined;
    const rest = mark ?? (context.keepsNames && isIdentifying(key, value) ? value : redact(value, context));
    isChanged ||= name !== key || rest !== value;
    redacted.push([name, rest]);
  }
  // `Object.fromEntries` treats a key like `__proto__` as any other key.
  return isChanged ? Object.fromEntries(redacted) : map;
}

/** A tool is called by its name, and arguments are checked against these schema values: redacting them would break calls. */
const isIdentifying = (key: string, value: unknown) =>
  IDENTIFYING_KEYS.has(key) && (typeof value === 'string' || isTexts(value));

const IDENTIFYING_KEYS = new Set(['name', 'type', 'enum', 'const', 'required', 'pattern', '$ref', '$id', '$anchor']);

/** What replaces the value of a key that announces a secret; `undefined` where the value is not one. */
function markFor(key: string, value: unknown): unknown {
  const kind =
    typeof value === 'string' || typeof value === 'number' || isTexts(value) ? secretNameKind(key) : undefined;
  if (kind === undefined)
    return typeof value === 'string' && isAssignedToken(key, value) ? '[redacted:assigned-token]' : undefined;
  const mark = `[redacted:${kind.rule}]`;
  const isSecret = (each: unknown) => {
    const text = String(each);
    return kind.isCertainKey ? text !== '' && !isPlaceholder(text) : looksRandom(text);
  };
  if (!isTexts(value)) return isSecret(value) ? mark : undefined;
  return value.some(isSecret) ? value.map((each) => (isSecret(each) ? mark : each)) : undefined;
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string');

/** A redacted copy of the error; the same object when it holds no secret. */
function redactError(error: Error, context: RedactionContext): Error {
  const { text } = context;
  const cause = isData(error.cause) ? redact(error.cause, context) : undefined;
  const options = cause === undefined ? {} : { cause };
  if (error instanceof RuntimeError) {
    const data = redact(error.data, context) as typeof error.data;
    if (data === error.data && cause === error.cause) return error;
    return withStack(new RuntimeError(error.code, data, options), error, text);
  }
  const { name, message, stack = '' } = error;
  const redactedMessage = text(message);
  const fields = fieldsOf(error);
  const rest = redactMap(fields, context);
  const isSame = redactedMessage === message && text(stack) === stack && cause === error.cause && rest === fields;
  if (isSame && Object.values(fields).every(isData)) return error;
  const data = Object.entries(rest).filter(([, value]) => isData(value));
  return withStack(Object.assign(new Error(redactedMessage, options), Object.fromEntries(data), { name }), error, text);
}

/** The further fields of an error and the errors of an aggregate: Node prints them with the error. */
function fieldsOf(error: Error): JsonObject {
  const own: JsonObject = { ...error, ...(error instanceof AggregateError && { errors: error.errors }) };
  const standard = ['name', 'message', 'stack', 'cause'];
  return Object.fromEntries(Object.entries(own).filter(([key]) => !standard.includes(key)));
}

/** Requests, sockets and buffers cannot be searched for secrets, so a redacted error drops them. */
const isData = (value: unknown) =>
  typeof value !== 'function' && (!isObject(value) || value instanceof Error || isPlain(value));

function withStack(copy: Error, { stack }: Error, text: RedactText): Error {
  if (stack !== undefined) copy.stack = text(stack);
  return copy;
}
