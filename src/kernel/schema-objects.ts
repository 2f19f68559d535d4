// Owns the rules of a JSON Schema about the keys of an object, and guessing which key was meant.

import { isObject, type JsonObject } from './json.ts';
import { isMatch } from './safe-pattern.ts';
import {
  type About,
  type Checking,
  GUESSES,
  guess,
  hasKey,
  keysIn,
  listOf,
  mapOf,
  type Rule,
  textOf,
} from './schema-check.ts';
import { didYouMean, inside, quote, say, tell } from './schema-words.ts';

export const objectRules: readonly (readonly [string, Rule])[] = [
  ['properties', checkProperties],
  ['required', checkRequired],
  ['additionalProperties', checkAdditional],
  ['patternProperties', checkPatternProperties],
  ['propertyNames', checkNames],
  ['dependentRequired', checkDependencies],
  ['dependentSchemas', checkDependencies],
  ['dependencies', checkDependencies],
];

function checkProperties(check: Checking, properties: unknown, { value, place, problems }: About): boolean {
  const known = mapOf(properties);
  return keysIn(check, value).reduce<boolean>((fits, key) => {
    if (!Object.hasOwn(known, key) || (!fits && problems === undefined)) return fits;
    return check.visit(known[key], (value as JsonObject)[key], { key, within: place }, problems) && fits;
  }, true);
}

function checkRequired(check: Checking, required: unknown, { schema, value, place, problems }: About): boolean {
  const wanted = listOf(required);
  check.spend(wanted.length);
  const names = wanted.map(textOf);
  if (!isObject(value)) return true;
  const missing = names.filter((name) => !hasKey(value, name));
  if (problems === undefined || missing.length === 0) return missing.length === 0;
  const present = check.explain(() => unknownKeys(check, schema, value).slice(0, GUESSES)) ?? [];
  for (const name of missing.slice(0, GUESSES)) {
    const meant = guess(check, name, present);
    const hint = meant === undefined ? '' : ` (there is ${quote(meant)})`;
    const text = `${quote(name)} is missing${inside(place)}${hint}`;
    tell(problems, { place: { key: name, within: place }, kind: 'missing', text });
  }
  return false;
}

function checkAdditional(check: Checking, rest: unknown, { schema, value, place, problems }: About): boolean {
  if (!isObject(value)) return true;
  const unknown = unknownKeys(check, schema, value);
  if (rest !== false) {
    return unknown.reduce<boolean>(
      (fits, key) => check.visit(rest, value[key], { key, within: place }, problems) && fits,
      true,
    );
  }
  if (problems === undefined || unknown.length === 0) return unknown.length === 0;
  const known = check.explain(() => keysIn(check, schema['properties'])) ?? [];
  for (const key of unknown.slice(0, GUESSES)) {
    const text = `${quote(key)} is not known${inside(place)}${didYouMean(guess(check, key, known))}`;
    tell(problems, { place: { key, within: place }, kind: 'refused', text });
  }
  return false;
}

function unknownKeys(check: Checking, schema: JsonObject, value: JsonObject): string[] {
  const known = mapOf(schema['properties'] ?? {});
  const patterns = Object.keys(mapOf(schema['patternProperties'] ?? {}));
  check.spend(patterns.length);
  return keysIn(check, value).filter(
    (key) => !Object.hasOwn(known, key) && !patterns.some((each) => isMatch(each, key, check.spend)),
  );
}

function checkPatternProperties(check: Checking, patterns: unknown, { value, place, problems }: About): boolean {
  const entries = Object.entries(mapOf(patterns));
  check.spend(entries.length);
  const keys = keysIn(check, value);
  let fits = true;
  for (const [pattern, schema] of keys.length === 0 ? [] : entries) {
    for (const key of keys) {
      if (!isMatch(pattern, key, check.spend)) continue;
      fits = check.visit(schema, (value as JsonObject)[key], { key, within: place }, problems) && fits;
    }
  }
  return fits;
}

function checkNames(check: Checking, schema: unknown, { value, place, problems }: About): boolean {
  return keysIn(check, value).every(
    (key) =>
      check.visit(schema, key, undefined, undefined) ||
      say(problems, { key, within: place }, 'is a name that is not allowed'),
  );
}

/** A list of keys, or a schema for the whole: both hold only when the key is there. */
function checkDependencies(check: Checking, map: unknown, about: About): boolean {
  const { value, place, problems } = about;
  const entries = Object.entries(mapOf(map));
  check.spend(entries.length);
  return entries.reduce<boolean>((fits, [key, wanted]) => {
    if (!isObject(value) || !hasKey(value, key)) return fits;
    const holds = Array.isArray(wanted)
      ? checkRequired(check, wanted, about)
      : check.visit(wanted, value, place, problems);
    return holds && fits;
  }, true);
}
