// Owns the types that a JSON Schema may name, and which values have them.

import { isObject } from './json.ts';

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
};

/** The test of a type; none for a name that is no type. */
export const typeTest = (name: string): ((value: unknown) => boolean) | undefined =>
  Object.hasOwn(types, name) ? types[name] : undefined;
