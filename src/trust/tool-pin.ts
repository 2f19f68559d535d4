// Owns the pin of a tool: the hash of the definition that a person approves, and a few lines of it to read and compare.

import { hash } from 'node:crypto';
import { canonicalJson, isObject, stringifyBounded } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { ToolDefinition } from '../model/tool.ts';
import { schemaLines } from './schema-lines.ts';

/** The hash covers the whole definition; the other fields are for reading, and cut where they are too long. */
export interface ToolPin {
  readonly hash: string;
  readonly title?: string;
  readonly description?: string;
  /** Each annotation as JSON. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** One line for each parameter, by its path. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The same for the tool's output. */
  readonly results?: Readonly<Record<string, string>>;
}

/** The fields that decide what a model reads about a tool and sends to it; `_meta` and other additions do not. */
function hashedFields({ name, title, description, inputSchema, outputSchema, annotations }: ToolDefinition) {
  return { name, title, description, inputSchema, outputSchema, annotations };
}

const hashes = new WeakMap<ToolDefinition, string>();

/** `sha256:` and 64 digits; the same for equal content in any key order. Cached for frozen definitions. */
export function toolHash(definition: ToolDefinition): string {
  const cached = hashes.get(definition);
  if (cached !== undefined) return cached;
  const computed = `sha256:${hash('sha256', canonicalJson(hashedFields(definition)), 'hex')}`;
  if (Object.isFrozen(definition)) hashes.set(definition, computed);
  return computed;
}

/** Short, whatever the size and shape of the definition. */
export function pinOf(definition: ToolDefinition): ToolPin {
  const { title, description, annotations, inputSchema, outputSchema } = definition;
  const { descriptionChars, lineChars, lines } = limits.pin;
  return {
    hash: toolHash(definition),
    ...(typeof title === 'string' && { title: cut(title, lineChars) }),
    ...(typeof description === 'string' && { description: cut(description, descriptionChars) }),
    ...(isObject(annotations) && { annotations: hintsOf(annotations, lines) }),
    parameters: schemaLines(inputSchema),
    ...(isObject(outputSchema) && { results: schemaLines(outputSchema) }),
  };
}

function hintsOf(annotations: object, most: number): Readonly<Record<string, string>> {
  const hints = Object.entries(annotations).slice(0, most);
  return Object.fromEntries(
    hints.map(([name, value]) => [cut(name, limits.pin.lineChars), stringifyBounded(value, limits.pin.lineChars)]),
  );
}

export interface PinFault {
  readonly path: readonly (string | number)[];
  readonly problem: string;
}

/** The first fault of a value that should be a pin, with its place; `undefined` where it is one. */
export function faultOfPin(value: unknown): PinFault | undefined {
  if (!isObject(value)) return { path: [], problem: 'it is not a map' };
  if (typeof value['hash'] !== 'string' || !HASH.test(value['hash']))
    return { path: ['hash'], problem: 'its hash is not sha256: and 64 digits' };
  const text = ['title', 'description'].find((field) => !['string', 'undefined'].includes(typeof value[field]));
  if (text !== undefined) return { path: [text], problem: `its ${text} is not a text` };
  const { parameters, annotations = {}, results = {} } = value;
  const lists = Object.entries({ parameters, annotations, results });
  const list = lists.find(([, lines]) => !isObject(lines) || !Object.values(lines).every(isText));
  return list && { path: [list[0]], problem: `its ${list[0]} are not a map of texts` };
}

const HASH = /^sha256:[0-9a-f]{64}$/;
const isText = (value: unknown) => typeof value === 'string';

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;
}
