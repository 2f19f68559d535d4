// Owns the table of rules for JSON Schema keywords, and the rules about the value itself and the items of a list. Rules about
// keys are in `schema-objects.ts`, rules that combine schemas in `schema-alternatives.ts`.

import { canonicalJson, isObject, sameJson, stringifyBounded } from './json.ts';
import { isMatch } from './safe-pattern.ts';
import { alternativeRules } from './schema-alternatives.ts';
import {
  guess,
  type KeywordContext,
  type KeywordRule,
  keysIn,
  listOf,
  numberOf,
  type SchemaChecker,
  textOf,
  Undecided,
} from './schema-check.ts';
import { objectRules } from './schema-objects.ts';
import { typeTest } from './schema-types.ts';
import { type Complaints, complain, describe, refuse, shorten } from './schema-words.ts';

export const rules: ReadonlyMap<string, KeywordRule> = new Map<string, KeywordRule>([
  ['$ref', (check, reference, about) => check.visitReference(textOf(reference), about)],
  ['type', checkType],
  ['enum', checkEnum],
  ['const', checkConst],
  ['items', checkItems],
  ['prefixItems', (check, schemas, about) => checkTuple(check, listOf(schemas), about)],
  ['uniqueItems', checkUnique],
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
  ['pattern', checkPattern],
  ...objectRules,
  ...alternativeRules,
  ['format', notChecked((value) => typeof value === 'string' || typeof value === 'number')],
  ['unevaluatedProperties', notChecked(isObject)],
  ['unevaluatedItems', notChecked(Array.isArray)],
  ['$dynamicRef', notChecked(() => true)],
  ['$recursiveRef', notChecked(() => true)],
]);

/** A keyword that is left to the server, which may refuse a value because of it. */
function notChecked(isAbout: (value: unknown) => boolean): KeywordRule {
  return (check, _, { value }) => {
    if (isAbout(value)) check.doubt();
    return true;
  };
}

function checkType(check: SchemaChecker, wanted: unknown, { value, location, problems }: KeywordContext): boolean {
  const list = Array.isArray(wanted) ? wanted : [wanted];
  check.spend(list.length / 5);
  const names = list.map(textOf);
  for (const name of names) {
    const isType = typeTest(name);
    if (isType === undefined) throw new Undecided();
    if (isType(value)) return true;
  }
  return refuse(problems, location, `of type ${[...new Set(names)].join(' or ')}`, value);
}

function checkEnum(check: SchemaChecker, keyword: unknown, { value, location, problems }: KeywordContext): boolean {
  const values = listOf(keyword);
  check.spend(values.length);
  if (values.some((each) => isSame(check, each, value))) return true;
  if (problems === undefined) return false;
  const words = typeof value === 'string' ? values.filter((each) => typeof each === 'string') : [];
  const suggestion = typeof value === 'string' ? guess(check, value, words) : undefined;
  return refuse(problems, location, `one of ${spelled(check, values, problems)}`, value, suggestion);
}

function checkConst(check: SchemaChecker, wanted: unknown, { value, location, problems }: KeywordContext): boolean {
  return isSame(check, wanted, value) || refuse(problems, location, spelled(check, wanted, problems), value);
}

const isSame = (check: SchemaChecker, wanted: unknown, value: unknown) =>
  sameJson(wanted, value, (parts) => check.spend(parts / 5));

/** The wanted value as text; bounded and counted, because a schema may hold a very long one. */
function spelled(check: SchemaChecker, wanted: unknown, problems: Complaints): string {
  if (problems === undefined) return '';
  check.spend((JSON.stringify(wanted) ?? '').length / 50);
  return stringifyBounded(wanted, 300);
}

function checkPattern(check: SchemaChecker, keyword: unknown, { value, location, problems }: KeywordContext): boolean {
  if (typeof value !== 'string') return true;
  const source = textOf(keyword);
  if (isMatch(source, value, check.spend)) return true;
  return complain(problems, location, `must match pattern "${shorten(source, 200)}", but is ${describe(value)}`);
}

function checkUnique(check: SchemaChecker, wanted: unknown, { value, location, problems }: KeywordContext): boolean {
  if (wanted !== true || !Array.isArray(value) || areUnique(check, value)) return true;
  return complain(problems, location, 'must not hold the same item twice');
}

function checkItems(check: SchemaChecker, items: unknown, about: KeywordContext): boolean {
  if (Array.isArray(items)) {
    const rest = about.schema['additionalItems'];
    return checkTuple(check, items, about) && (rest === undefined || checkEach(check, rest, items.length, about));
  }
  return checkEach(check, items, listOf(about.schema['prefixItems'] ?? []).length, about);
}

function checkTuple(
  check: SchemaChecker,
  schemas: readonly unknown[],
  { value, location, problems }: KeywordContext,
): boolean {
  if (!Array.isArray(value)) return true;
  return schemas
    .slice(0, value.length)
    .reduce<boolean>(
      (fits, schema, at) => check.visit(schema, value[at], { key: at, within: location }, problems) && fits,
      true,
    );
}

function checkEach(
  check: SchemaChecker,
  schema: unknown,
  from: number,
  { value, location, problems }: KeywordContext,
): boolean {
  if (!Array.isArray(value)) return true;
  let fits = true;
  for (let at = from; at < value.length; at++) {
    fits = check.visit(schema, value[at], { key: at, within: location }, problems) && fits;
    if (!fits && problems === undefined) return false;
  }
  return fits;
}

function compare(fits: (value: number, limit: number) => boolean, words: string): KeywordRule {
  return (_, limit, { value, location, problems }) =>
    typeof value !== 'number' ||
    fits(value, numberOf(limit)) ||
    complain(problems, location, `must be ${words} ${limit}, not ${value}`);
}

function measure(
  size: (check: SchemaChecker, value: unknown) => number | undefined,
  fits: (size: number, limit: number) => boolean,
  must: string,
  [one, many]: readonly [string, string],
): KeywordRule {
  return (check, limit, { value, location, problems }) => {
    const measured = size(check, value);
    return (
      measured === undefined ||
      fits(measured, numberOf(limit)) ||
      complain(problems, location, `${must} ${limit} ${limit === 1 ? one : many}, not ${measured}`)
    );
  };
}

/** Counts characters, not code units, as the standard does; skips the counting where code units decide already. */
function lengthFits(isMinimum: boolean): KeywordRule {
  return (check, limit, { value, location, problems }) => {
    const most = numberOf(limit);
    if (typeof value !== 'string') return true;
    const sure = isMinimum ? value.length / 2 >= most : value.length <= most;
    if (sure) return true;
    check.spend(value.length / 100);
    const length = charactersIn(value);
    if (isMinimum ? length >= most : length <= most) return true;
    const characters = most === 1 ? 'character' : 'characters';
    return complain(
      problems,
      location,
      `must have at ${isMinimum ? 'least' : 'most'} ${most} ${characters}, not ${length}`,
    );
  };
}

/** A surrogate pair is one character. */
function charactersIn(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) !== 0xd800 || (text.charCodeAt(at + 1) & 0xfc00) !== 0xdc00) continue;
    pairs++;
    at++;
  }
  return text.length - pairs;
}

function itemsIn(_: SchemaChecker, value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}
function propertiesIn(check: SchemaChecker, value: unknown): number | undefined {
  return isObject(value) ? keysIn(check, value).length : undefined;
}

function areUnique(check: SchemaChecker, items: readonly unknown[]): boolean {
  check.spend(items.length);
  const seen = new Set<unknown>();
  for (const item of items) {
    const isWhole = typeof item === 'object' && item !== null;
    const text = isWhole ? canonicalJson(item) : '';
    check.spend(typeof item === 'string' ? item.length / 100 : text.length / 10);
    // The prefixes keep strings apart from objects and lists that are spelled the same.
    const key = isWhole ? `json:${text}` : typeof item === 'string' ? `text:${item}` : item;
    if (seen.has(key)) return false;
    seen.add(key);
  }
  return true;
}
