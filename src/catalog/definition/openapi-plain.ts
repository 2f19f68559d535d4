// Owns recognizing schemas that are in the subset of OpenAPI already, and values that fit a type there.

import { isObject, type JsonObject } from '../../kernel/json.ts';
import { openApiFormats } from './providers.ts';

/** By type: the keywords that apply to it. */
export const keywordsOfType: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format', 'enum'],
  number: ['minimum', 'maximum', 'format'],
  integer: ['minimum', 'maximum', 'format'],
  array: ['items', 'minItems', 'maxItems'],
  object: ['properties', 'required', 'minProperties', 'maxProperties', 'propertyOrdering'],
};
export const typedKeywords = new Set(Object.values(keywordsOfType).flat());

const always = ['type', 'description', 'title', 'nullable', 'example', 'default'];
const ownKeywords: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [...Object.entries(keywordsOfType), ['boolean', []] as const].map(([type, own]) => [
    type,
    new Set([...always, ...own]),
  ]),
);

/** Most schemas are in the subset already; checking costs less than running all translation steps. */
export function isPlain(schema: JsonObject): boolean {
  const { type } = schema;
  const own = typeof type === 'string' ? ownKeywords.get(type) : undefined;
  if (own === undefined) return false;
  for (const keyword of Object.keys(schema)) if (!own.has(keyword) || !isPlainly(keyword, schema)) return false;
  return type !== 'array' || schema['items'] !== undefined;
}

function isPlainly(keyword: string, schema: JsonObject): boolean {
  switch (keyword) {
    case 'enum':
      return Array.isArray(schema['enum']) && schema['enum'].every((each) => typeof each === 'string' && each !== '');
    case 'required': {
      const { required, properties } = schema;
      if (!Array.isArray(required) || required.length === 0 || !isObject(properties)) return false;
      return required.every((name: string) => Object.hasOwn(properties, name));
    }
    case 'format':
      return isKnownFormat(schema['format'], schema['type']);
    case 'default':
    case 'example':
      return fitsType(schema[keyword], schema);
    default:
      return true;
  }
}

export function isKnownFormat(format: unknown, type: unknown): boolean {
  const formats = typeof type === 'string' && Object.hasOwn(openApiFormats, type) ? openApiFormats[type] : undefined;
  return formats?.includes(format as string) ?? false;
}

export function fitsType(value: unknown, { type, nullable }: JsonObject): boolean {
  if (value === null) return nullable === true;
  if (type === 'integer') return Number.isInteger(value);
  return type === (Array.isArray(value) ? 'array' : typeof value);
}
