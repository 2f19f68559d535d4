// Owns the rules for JSON Schema keywords about the keys of an object, and guessing which key was meant.

import { isObject, type JsonObject } from './json.ts';
import { isMatch } from './safe-pattern.ts';
import {
  GUESSES,
  guess,
  hasKey,
  type KeywordContext,
  type KeywordRule,
  keysIn,
  listOf,
  mapOf,
  type SchemaChecker,
  textOf,
} from './schema-check.ts';
import { addComplaint, complain, didYouMean, inside, quote } from './schema-words.ts';

export const objectRules: readonly (readonly [string, KeywordRule])[] = [
  ['properties', checkProperties],
  ['required', checkRequired],
  ['additionalProperties', checkAdditional],
  ['patternProperties', checkPatternProperties],
  ['propertyNames', checkNames],
  ['dependentRequired', checkDependencies],
  ['dependentSchemas', checkDependencies],
  ['dependencies', checkDependencies],
];

function checkProperties(
  check: SchemaChecker,
  properties: unknown,
  { value, location, problems }: KeywordContext,
): boolean {
  const schemas = mapOf(properties);
  return keysIn(check, value).reduce<boolean>((fits, key) => {
    if (!Object.hasOwn(schemas, key) || (!fits && problems === undefined)) return fits;
    return check.visit(schemas[key], (value as JsonObject)[key], { key, within: location }, problems) && fits;
  }, true);
}

function checkRequired(
  check: SchemaChecker,
  required: unknown,
  { schema, value, location, problems }: KeywordContext,
): boolean {
  const list = listOf(required);
  check.spend(list.length);
  const names = list.map(textOf);
  if (!isObject(value)) return true;
  const missing = names.filter((name) => !hasKey(value, name));
  if (problems === undefined || missing.length === 0) return missing.length === 0;
  const present = check.explain(() => unknownKeys(check, schema, value).slice(0, GUESSES)) ?? [];
  for (const name of missing.slice(0, GUESSES)) {
    const suggestion = guess(check, name, present);
    const hint = suggestion === undefined ? '' : ` (there is ${quote(suggestion)})`;
    const text = `${quote(name)} is missing${inside(location)}${hint}`;
    addComplaint(problems, { location: { key: name, within: location }, kind: 'missing', text });
  }
  return false;
}

function checkAdditional(
  check: SchemaChecker,
  rest: unknown,
  { schema, value, location, problems }: KeywordContext,
): boolean {
  if (!isObject(value)) return true;
  const unknown = unknownKeys(check, schema, value);
  if (rest !== false) {
    return unknown.reduce<boolean>(
      (fits, key) => check.visit(rest, value[key], { key, within: location }, problems) && fits,
      true,
    );
  }
  if (problems === undefined || unknown.length === 0) return unknown.length === 0;
  const known = check.explain(() => keysIn(check, schema['properties'])) ?? [];
  for (const key of unknown.slice(0, GUESSES)) {
    const text = `${quote(key)} is not known${inside(location)}${didYouMean(guess(check, key, known))}`;
    addComplaint(problems, { location: { key, within: location }, kind: 'refused', text });
  }
  return false;
}

function unknownKeys(check: SchemaChecker, schema: JsonObject, value: JsonObject): string[] {
  const declared = mapOf(schema['properties'] ?? {});
  const patterns = Object.keys(mapOf(schema['patternProperties'] ?? {}));
  check.spend(patterns.length);
  return keysIn(check, value).filter(
    (key) => !Object.hasOwn(declared, key) && !patterns.some((each) => isMatch(each, key, check.spend)),
  );
}

function checkPatternProperties(
  check: SchemaChecker,
  patterns: unknown,
  { value, location, problems }: KeywordContext,
): boolean {
  const entries = Object.entries(mapOf(patterns));
  check.spend(entries.length);
  const keys = keysIn(check, value);
  let fits = true;
  for (const [pattern, schema] of keys.length === 0 ? [] : entries) {
    for (const key of keys) {
      if (!isMatch(pattern, key, check.spend)) continue;
      fits = check.visit(schema, (value as JsonObject)[key], { key, within: location }, problems) && fits;
    }
  }
  return fits;
}

function checkNames(check: SchemaChecker, schema: unknown, { value, location, problems }: KeywordContext): boolean {
  return keysIn(check, value).every(
    (key) =>
      check.visit(schema, key, undefined, undefined) ||
      complain(problems, { key, within: location }, 'is a name that is not allowed'),
  );
}

/** Either a list of required keys or a schema for the whole object; both apply only when the key is present. */
function checkDependencies(check: SchemaChecker, map: unknown, about: KeywordContext): boolean {
  const { value, location, problems } = about;
  const entries = Object.entries(mapOf(map));
  check.spend(entries.length);
  return entries.reduce<boolean>((fits, [key, wanted]) => {
    if (!isObject(value) || !hasKey(value, key)) return fits;
    const holds = Array.isArray(wanted)
      ? checkRequired(check, wanted, about)
      : check.visit(wanted, value, location, problems);
    return holds && fits;
  }, true);
}
