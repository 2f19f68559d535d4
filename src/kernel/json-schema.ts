// Owns checking a value against a JSON Schema (draft 7 and 2020-12), in words a reader can act on.
// Schemas come from strangers: nothing is compiled, the work has a limit, and what cannot be decided safely and for sure –
// a pattern that could stall, a reference to nowhere, a keyword of the wrong kind – leaves the whole check undecided.

import { canonicalJson, isObject, type JsonObject, sameJson, stringifyBounded } from './json.ts';
import { nearest } from './nearest.ts';
import { isMatch, UndecidedPattern } from './safe-pattern.ts';
import {
  type Complaint,
  describe,
  didYouMean,
  inside,
  MOST_CHARS,
  type Place,
  type Problem,
  type Problems,
  pathOf,
  quote,
  refuse,
  say,
  shorten,
} from './schema-words.ts';

export interface CheckLimits {
  /** How many times a part of the schema may look at a part of the value. */
  readonly steps: number;
  readonly problems: number;
}

/** What is wrong, in words; nothing when the value fits, or when that cannot be said. */
export function problemsWith(value: unknown, schema: unknown, limits: CheckLimits): readonly string[] {
  const found = findProblems(value, schema, limits);
  return found === 'undecided' ? [] : found.map(({ text }) => text);
}

export function findProblems(value: unknown, schema: unknown, limits: CheckLimits): readonly Problem[] | 'undecided' {
  const check = new Check(schema, limits.steps);
  const problems: Complaint[] = [];
  try {
    check.visit(schema, value, undefined, problems);
  } catch (error) {
    // A chain of references may be longer than the stack, and a reference no address.
    if (isUndecided(error)) return 'undecided';
    throw error;
  }
  const byText = new Map(problems.map((each) => [each.text, each]));
  return [...byText.values()].slice(0, limits.problems).map(({ place, kind, text }) => ({
    path: pathOf(place),
    kind,
    text: shorten(text, MOST_CHARS),
  }));
}

class Undecided extends Error {
  override readonly name = 'Undecided';
}

const undecided = [Undecided, UndecidedPattern, RangeError, URIError] as const;
const isUndecided = (error: unknown) => undecided.some((kind) => error instanceof kind);

type Rule = (check: Check, keyword: unknown, about: About) => boolean;

interface About {
  readonly schema: JsonObject;
  readonly value: unknown;
  readonly place: Place | undefined;
  readonly problems: Problems;
}

const EXPLAINING_STEPS = 2_000;

class Check {
  readonly #root: unknown;
  /** What a reference within the document is relative to: the part with an address of its own that it stands in. */
  #base: unknown;
  #stepsLeft: number;
  #named: Map<string, unknown> | undefined;

  constructor(root: unknown, steps: number) {
    this.#root = root;
    this.#base = root;
    this.#stepsLeft = steps;
  }

  visit(schema: unknown, value: unknown, place: Place | undefined, problems: Problems): boolean {
    this.spend(1);
    if (typeof schema === 'boolean') return schema || say(problems, place, 'is not allowed');
    if (!isObject(schema)) throw new Undecided();
    const outer = this.#base;
    if (typeof schema['$id'] === 'string') this.#base = schema;
    const about = { schema, value, place, problems };
    let fits = true;
    for (const keyword of Object.keys(schema)) {
      const rule = rules.get(keyword);
      if (rule === undefined || rule(this, schema[keyword], about)) continue;
      fits = false;
      if (problems === undefined) break;
    }
    this.#base = outer;
    return fits;
  }

  /** What a rule is about to do costs so much; a schema that asks for too much is left undecided. */
  spend(steps: number): void {
    this.#stepsLeft -= steps;
    if (this.#stepsLeft < 0) throw new Undecided();
  }

  /** Looking for better words may cost a little, and never the verdict. */
  explain<Words>(look: () => Words): Words | undefined {
    const [stepsLeft, base] = [this.#stepsLeft, this.#base];
    this.#stepsLeft = Math.min(stepsLeft, EXPLAINING_STEPS);
    try {
      return look();
    } catch (error) {
      if (isUndecided(error)) return undefined;
      throw error;
    } finally {
      this.#stepsLeft = stepsLeft;
      this.#base = base;
    }
  }

  /** Only within the schema itself: nothing is ever fetched. */
  visitReference(reference: string, { value, place, problems }: About): boolean {
    const outer = this.#base;
    const isPointer = reference === '#' || reference.startsWith('#/');
    const target = isPointer ? follow(this.#base, reference) : this.#find(reference);
    if (!isPointer) this.#base = target;
    const fits = this.visit(target, value, place, problems);
    this.#base = outer;
    return fits;
  }

  #find(name: string): unknown {
    this.#named ??= collectNames(this.#root);
    if (!this.#named.has(name)) throw new Undecided();
    return this.#named.get(name);
  }
}

function follow(base: unknown, reference: string): unknown {
  return reference
    .split('/')
    .slice(1)
    .reduce<unknown>((within, token) => {
      const key = decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
      if (typeof within !== 'object' || within === null || !Object.hasOwn(within, key)) throw new Undecided();
      return (within as Record<string, unknown>)[key];
    }, base);
}

function collectNames(root: unknown): Map<string, unknown> {
  const named = new Map<string, unknown>();
  const open: unknown[] = [root];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (isObject(each)) {
      if (typeof each['$id'] === 'string') named.set(each['$id'], each);
      if (typeof each['$anchor'] === 'string') named.set(`#${each['$anchor']}`, each);
      open.push(...Object.values(each));
    } else if (Array.isArray(each)) open.push(...each);
  }
  return named;
}

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
};

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['$ref', (check, reference, about) => check.visitReference(textOf(reference), about)],
  ['type', checkType],
  ['enum', checkEnum],
  [
    'const',
    (_, wanted, { value, place, problems }) =>
      sameJson(wanted, value) || refuse(problems, place, stringifyBounded(wanted, 300), value),
  ],
  ['properties', checkProperties],
  ['required', checkRequired],
  ['additionalProperties', checkAdditional],
  ['patternProperties', checkPatternProperties],
  [
    'propertyNames',
    (check, schema, { value, place, problems }) =>
      keysOf(value).every(
        (key) =>
          check.visit(schema, key, undefined, undefined) ||
          say(problems, { key, within: place }, 'is a name that is not allowed'),
      ),
  ],
  ['dependentRequired', (check, map, about) => checkDependencies(check, map, about)],
  ['dependentSchemas', (check, map, about) => checkDependencies(check, map, about)],
  ['dependencies', (check, map, about) => checkDependencies(check, map, about)],
  ['items', checkItems],
  ['prefixItems', (check, schemas, about) => checkTuple(check, listOf(schemas), about)],
  ['contains', checkContains],
  [
    'uniqueItems',
    (check, wanted, { value, place, problems }) =>
      wanted !== true ||
      !Array.isArray(value) ||
      areUnique(check, value) ||
      say(problems, place, 'must not hold the same item twice'),
  ],
  ['minimum', compare((value, limit) => value >= limit, '>=')],
  ['maximum', compare((value, limit) => value <= limit, '<=')],
  ['exclusiveMinimum', compare((value, limit) => value > limit, '>')],
  ['exclusiveMaximum', compare((value, limit) => value < limit, '<')],
  ['multipleOf', compare((value, step) => Math.abs(value / step - Math.round(value / step)) < 1e-9, 'a multiple of')],
  ['minLength', lengthFits(true)],
  ['maxLength', lengthFits(false)],
  ['minItems', measure(itemsIn, (count, limit) => count >= limit, 'must have at least', ['item', 'items'])],
  ['maxItems', measure(itemsIn, (count, limit) => count <= limit, 'must have at most', ['item', 'items'])],
  [
    'minProperties',
    measure(propertiesIn, (count, limit) => count >= limit, 'must have at least', ['property', 'properties']),
  ],
  [
    'maxProperties',
    measure(propertiesIn, (count, limit) => count <= limit, 'must have at most', ['property', 'properties']),
  ],
  [
    'pattern',
    (_, source, { value, place, problems }) =>
      typeof value !== 'string' ||
      isMatch(textOf(source), value) ||
      say(problems, place, `must match pattern "${shorten(textOf(source), 200)}", but is ${describe(value)}`),
  ],
  [
    'allOf',
    (check, schemas, { value, place, problems }) =>
      listOf(schemas).reduce<boolean>((fits, schema) => check.visit(schema, value, place, problems) && fits, true),
  ],
  [
    'anyOf',
    (check, schemas, about) =>
      listOf(schemas).some((schema) => check.visit(schema, about.value, about.place, undefined)) ||
      sayNoForm(check, listOf(schemas), about),
  ],
  [
    'oneOf',
    (check, schemas, about) => {
      const { value, place, problems } = about;
      const fitting = listOf(schemas).filter((schema) => check.visit(schema, value, place, undefined)).length;
      if (fitting === 1) return true;
      return fitting === 0
        ? sayNoForm(check, listOf(schemas), about)
        : say(problems, place, `fits ${fitting} of the forms it may have, and must fit exactly one`);
    },
  ],
  [
    'not',
    (check, schema, { value, place, problems }) =>
      !check.visit(schema, value, place, undefined) || say(problems, place, 'has a form that is not allowed'),
  ],
  [
    'if',
    (check, condition, { schema, value, place, problems }) => {
      const branch = schema[check.visit(condition, value, place, undefined) ? 'then' : 'else'];
      return branch === undefined || check.visit(branch, value, place, problems);
    },
  ],
]);

function checkType(_: Check, wanted: unknown, { value, place, problems }: About): boolean {
  const names = (Array.isArray(wanted) ? wanted : [wanted]).map(textOf);
  for (const name of names) {
    const isType = Object.hasOwn(types, name) ? types[name] : undefined;
    if (isType === undefined) throw new Undecided();
    if (isType(value)) return true;
  }
  return refuse(problems, place, `of type ${[...new Set(names)].join(' or ')}`, value);
}

function checkEnum(check: Check, keyword: unknown, { value, place, problems }: About): boolean {
  const values = listOf(keyword);
  check.spend(values.length);
  if (values.some((each) => sameJson(each, value))) return true;
  if (problems === undefined) return false;
  const words = values.filter((each) => typeof each === 'string').slice(0, MOST_COMPARED);
  const [meant] = typeof value === 'string' ? nearest(value, words, 1) : [];
  return refuse(problems, place, `one of ${stringifyBounded(values, 300)}`, value, meant);
}

/** Of several forms: what all of them want in its place, or what is wrong with the one that comes closest. */
function sayNoForm(check: Check, schemas: readonly unknown[], { value, place, problems }: About): false {
  if (problems === undefined) return false;
  const reasons = check.explain(() =>
    schemas.slice(0, MOST_COMPARED).map((schema) => {
      const found: Complaint[] = [];
      check.visit(schema, value, place, found);
      return found;
    }),
  );
  const wanted = reasons?.map(([first]) => (first?.place === place ? first?.wanted : undefined)) ?? [];
  if (wanted.length === schemas.length && wanted.length > 0 && wanted.every((each) => each !== undefined))
    return refuse(problems, place, [...new Set(wanted)].join(' or '), value);
  const inside = reasons?.filter((_, at) => wanted[at] === undefined).sort((a, b) => a.length - b.length) ?? [];
  const closest = inside[0]?.[0];
  const why = closest === undefined || closest.place === place ? '' : `; of the closest one ${closest.text}`;
  return say(problems, place, `fits none of the ${schemas.length} forms it may have${why}`);
}

function checkProperties(check: Check, properties: unknown, { value, place, problems }: About): boolean {
  const known = mapOf(properties);
  return keysOf(value).reduce<boolean>((fits, key) => {
    if (!Object.hasOwn(known, key) || (!fits && problems === undefined)) return fits;
    return check.visit(known[key], (value as JsonObject)[key], { key, within: place }, problems) && fits;
  }, true);
}

/** Guessing what was meant is for a reader; a few guesses are all that will be read. */
const GUESSES = 5;
const MOST_COMPARED = 200;

function checkRequired(check: Check, required: unknown, { schema, value, place, problems }: About): boolean {
  const names = listOf(required).map(textOf);
  if (!isObject(value)) return true;
  check.spend(names.length);
  const missing = names.filter((name) => value[name] === undefined || !Object.hasOwn(value, name));
  for (const name of problems ? missing.slice(0, GUESSES) : []) {
    const [meant] = nearest(name, unknownKeys(check, schema, value).slice(0, GUESSES), 1);
    const hint = meant === undefined ? '' : ` (there is ${quote(meant)})`;
    const text = `${quote(name)} is missing${inside(place)}${hint}`;
    problems?.push({ place: { key: name, within: place }, kind: 'missing', text });
  }
  return missing.length === 0;
}

function checkAdditional(check: Check, rest: unknown, { schema, value, place, problems }: About): boolean {
  if (!isObject(value)) return true;
  const unknown = unknownKeys(check, schema, value);
  if (rest !== false) {
    return unknown.reduce<boolean>(
      (fits, key) => check.visit(rest, value[key], { key, within: place }, problems) && fits,
      true,
    );
  }
  for (const key of problems ? unknown.slice(0, GUESSES) : []) {
    const [meant] = nearest(key, Object.keys(mapOf(schema['properties'] ?? {})), 1);
    const text = `${quote(key)} is not known${inside(place)}${didYouMean(meant)}`;
    problems?.push({ place: { key, within: place }, kind: 'refused', text });
  }
  return unknown.length === 0;
}

function checkPatternProperties(check: Check, patterns: unknown, { value, place, problems }: About): boolean {
  return Object.entries(mapOf(patterns)).reduce<boolean>(
    (fits, [pattern, schema]) =>
      keysIn(check, value)
        .filter((key) => isMatch(pattern, key))
        .reduce(
          (all, key) => check.visit(schema, (value as JsonObject)[key], { key, within: place }, problems) && all,
          fits,
        ),
    true,
  );
}

/** A list of keys, or a schema for the whole: both hold only when the key is there. */
function checkDependencies(check: Check, map: unknown, about: About): boolean {
  return Object.entries(mapOf(map)).reduce<boolean>((fits, [key, wanted]) => {
    if (!keysOf(about.value).includes(key)) return fits;
    const holds = Array.isArray(wanted)
      ? checkRequired(check, wanted, about)
      : check.visit(wanted, about.value, about.place, about.problems);
    return holds && fits;
  }, true);
}

function checkItems(check: Check, items: unknown, about: About): boolean {
  if (Array.isArray(items)) {
    const rest = about.schema['additionalItems'];
    return checkTuple(check, items, about) && (rest === undefined || checkEach(check, rest, items.length, about));
  }
  return checkEach(check, items, listOf(about.schema['prefixItems'] ?? []).length, about);
}

function checkTuple(check: Check, schemas: readonly unknown[], { value, place, problems }: About): boolean {
  if (!Array.isArray(value)) return true;
  return schemas
    .slice(0, value.length)
    .reduce<boolean>(
      (fits, schema, at) => check.visit(schema, value[at], { key: at, within: place }, problems) && fits,
      true,
    );
}

function checkEach(check: Check, schema: unknown, from: number, { value, place, problems }: About): boolean {
  if (!Array.isArray(value)) return true;
  let fits = true;
  for (let at = from; at < value.length; at++) {
    fits = check.visit(schema, value[at], { key: at, within: place }, problems) && fits;
    if (!fits && problems === undefined) return false;
  }
  return fits;
}

function checkContains(check: Check, wanted: unknown, { schema, value, place, problems }: About): boolean {
  if (!Array.isArray(value)) return true;
  const count = value.filter((item) => check.visit(wanted, item, undefined, undefined)).length;
  const { minContains = 1, maxContains = Number.POSITIVE_INFINITY } = schema;
  return (
    (count >= numberOf(minContains) && count <= numberOf(maxContains)) ||
    say(problems, place, 'does not hold the items it must hold')
  );
}

function compare(fits: (value: number, limit: number) => boolean, words: string): Rule {
  return (_, limit, { value, place, problems }) =>
    typeof value !== 'number' ||
    fits(value, numberOf(limit)) ||
    say(problems, place, `must be ${words} ${limit}, not ${value}`);
}

function measure(
  size: (value: unknown) => number | undefined,
  fits: (size: number, limit: number) => boolean,
  must: string,
  [one, many]: readonly [string, string],
): Rule {
  return (_, limit, { value, place, problems }) => {
    const measured = size(value);
    return (
      measured === undefined ||
      fits(measured, numberOf(limit)) ||
      say(problems, place, `${must} ${limit} ${limit === 1 ? one : many}, not ${measured}`)
    );
  };
}

/** Characters, not code units, as the standard counts; a limit that no way of counting could change is not counted out. */
function lengthFits(isMinimum: boolean): Rule {
  return (check, limit, { value, place, problems }) => {
    const most = numberOf(limit);
    if (typeof value !== 'string') return true;
    const sure = isMinimum ? value.length / 2 >= most : value.length <= most;
    if (sure) return true;
    check.spend(value.length / 100);
    const length = charactersIn(value);
    if (isMinimum ? length >= most : length <= most) return true;
    const characters = most === 1 ? 'character' : 'characters';
    return say(problems, place, `must have at ${isMinimum ? 'least' : 'most'} ${most} ${characters}, not ${length}`);
  };
}

/** A pair of surrogates is one. */
function charactersIn(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) !== 0xd800 || (text.charCodeAt(at + 1) & 0xfc00) !== 0xdc00) continue;
    pairs++;
    at++;
  }
  return text.length - pairs;
}

function itemsIn(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}
function propertiesIn(value: unknown): number | undefined {
  return isObject(value) ? keysOf(value).length : undefined;
}

function areUnique(check: Check, items: readonly unknown[]): boolean {
  check.spend(items.length);
  const seen = new Set<unknown>();
  for (const item of items) {
    const isWhole = typeof item === 'object' && item !== null;
    const text = isWhole ? canonicalJson(item) : '';
    check.spend(text.length / 10);
    // No text of an object or a list begins like this, so that none is taken for a text.
    const key = isWhole ? `json:${text}` : typeof item === 'string' ? `text:${item}` : item;
    if (seen.has(key)) return false;
    seen.add(key);
  }
  return true;
}

function unknownKeys(check: Check, schema: JsonObject, value: JsonObject): string[] {
  const known = mapOf(schema['properties'] ?? {});
  const patterns = Object.keys(mapOf(schema['patternProperties'] ?? {}));
  check.spend(patterns.length);
  return keysIn(check, value).filter(
    (key) => !Object.hasOwn(known, key) && !patterns.some((each) => isMatch(each, key)),
  );
}

/** A key without a value is not there: it does not go over the wire either. */
const keysOf = (value: unknown): readonly string[] =>
  isObject(value) ? Object.keys(value).filter((key) => value[key] !== undefined) : [];

function keysIn(check: Check, value: unknown): readonly string[] {
  const keys = keysOf(value);
  check.spend(keys.length);
  return keys;
}

function listOf(keyword: unknown): readonly unknown[] {
  if (!Array.isArray(keyword)) throw new Undecided();
  return keyword;
}
function mapOf(keyword: unknown): JsonObject {
  if (!isObject(keyword)) throw new Undecided();
  return keyword;
}
function textOf(keyword: unknown): string {
  if (typeof keyword !== 'string') throw new Undecided();
  return keyword;
}
function numberOf(keyword: unknown): number {
  if (typeof keyword !== 'number') throw new Undecided();
  return keyword;
}
