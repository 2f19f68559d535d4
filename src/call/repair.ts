// Owns making arguments fit the tool's schema where a model wrote them in another form and only one reading is possible: a list
// or an object, a number or a boolean as text, a single value for a list, a value that means "not given". Nothing that fits is touched.

import { changedNumberIn } from '../kernel/exact-numbers.ts';
import { isObject, type JsonObject, parseJson, sameJson } from '../kernel/json.ts';
import { createSchemaChecker, findProblems } from '../kernel/json-schema.ts';
import { copyJson } from '../kernel/plain-json.ts';
import { isUndecided, type SchemaChecker, Undecided } from '../kernel/schema-check.ts';
import { pathOf, type ValueLocation } from '../kernel/schema-words.ts';
import { limits } from '../model/limits.ts';
import type { ArgumentRepair } from '../model/tool.ts';
import { isPlaceholder, withoutPlaceholders } from './placeholders.ts';

export interface RepairedArguments {
  readonly arguments: JsonObject;
  /** Empty where the arguments are the given ones. */
  readonly repairs: readonly ArgumentRepair[];
}

/** The given arguments themselves where they fit; `undefined` where they do not, and no repair, or more than one, makes them fit. */
export function repairArguments(args: JsonObject, schema: unknown): RepairedArguments | undefined {
  if (fits(args, schema)) return { arguments: args, repairs: [] };
  const left = withoutPlaceholders(args, schema);
  if (left !== undefined) return { arguments: left.arguments, repairs: left.leftOut.map(leftOut) };
  const mended = mendWithin(args, schema);
  if (mended === undefined || mended.value === args || !isObject(mended.value)) return undefined;
  const { value, repairs } = mended;
  const rest = fits(value, schema) ? { arguments: value, leftOut: [] } : withoutPlaceholders(value, schema);
  if (rest === undefined || !copyJson(rest.arguments, limits.arguments).ok) return undefined;
  return { arguments: rest.arguments, repairs: [...repairs, ...rest.leftOut.map(leftOut)] };
}

const leftOut = (path: ArgumentRepair['path']): ArgumentRepair => ({ path, kind: 'left-out' });

/** A check that is undecided shows nothing, so what it concerns is not sent in another form. */
function fits(value: unknown, schema: unknown): boolean {
  const problems = findProblems(value, schema, limits.schemaCheck);
  return problems !== 'undecided' && problems.length === 0;
}

/** Repairs nothing where the work is too much. */
function mendWithin(args: JsonObject, schema: unknown): Mended | undefined {
  const mender = new Mender(schema);
  try {
    const mended = mender.mend(schema, args, undefined, limits.repair.depth) ?? mender.mendParts(schema, args);
    return mended.repairs.length > limits.repair.most ? undefined : mended;
  } catch (error) {
    if (isUndecided(error)) return undefined;
    throw error;
  }
}

interface Mended {
  /** The given value itself where nothing was repaired. */
  readonly value: unknown;
  readonly repairs: readonly ArgumentRepair[];
}

const asGiven = (value: unknown): Mended => ({ value, repairs: [] });

/** Walks through value and schema together. */
class Mender {
  readonly #root: unknown;
  readonly #check: SchemaChecker;
  #textCharsLeft: number = limits.repair.textChars;

  constructor(root: unknown) {
    this.#root = root;
    this.#check = createSchemaChecker(root, limits.repair.steps);
  }

  /** The value in the one form that fits the schema; `undefined` if there is none, or if there are several. */
  mend(schema: unknown, value: unknown, location: ValueLocation | undefined, levels: number): Mended | undefined {
    if (this.#fits(schema, value)) return asGiven(value);
    const converted = levels > 0 ? this.#conversions(schema, value, location, levels) : [];
    return this.#only(schema, [...containers(value), ...converted], location, levels);
  }

  /** The same for another schema of the same place, where only the parts of the value may change. */
  #mendInside(
    schema: unknown,
    value: unknown,
    location: ValueLocation | undefined,
    levels: number,
  ): Mended | undefined {
    if (this.#fits(schema, value)) return asGiven(value);
    return this.#only(schema, containers(value), location, levels);
  }

  #only(
    schema: unknown,
    readings: readonly Mended[],
    location: ValueLocation | undefined,
    levels: number,
  ): Mended | undefined {
    if (levels === 0 || !this.#isReadable(schema)) return undefined;
    const [first, ...others] = readings
      .flatMap((reading) => this.#forms(schema, reading, location, levels - 1))
      .filter((form) => this.#fits(schema, form.value));
    const isOnly = others.every((other) => sameJson(first?.value, other.value, this.#check.spend));
    return isOnly ? first : undefined;
  }

  /** Mends those parts of the arguments that can be mended, and leaves the others as they are. */
  mendParts(schema: unknown, args: JsonObject): Mended {
    const [first] = this.#isReadable(schema) ? this.#forms(schema, asGiven(args), undefined, limits.repair.depth) : [];
    return first ?? asGiven(args);
  }

  /** A keyword that is not checked refuses nothing. */
  #fits(schema: unknown, value: unknown): boolean {
    return this.#check.judge(schema, value) !== 'no';
  }

  /** References inside a schema with an id of its own are relative to that: such a schema is left to the check. */
  #isReadable(schema: unknown): schema is JsonObject {
    return isObject(schema) && (schema === this.#root || schema['$id'] === undefined);
  }

  /** The values of another type that the schema wants, where it takes none of the value's own type. */
  #conversions(
    schema: unknown,
    value: unknown,
    location: ValueLocation | undefined,
    levels: number,
  ): readonly Mended[] {
    if (typeof value === 'string') this.#check.spend(value.length / 1_000);
    const wanted = this.#typesOf(schema, levels);
    if (wanted === undefined || wanted.has(typeOf(value))) return [];
    const spelled = typeof value === 'string' ? this.#spelled(value, location) : undefined;
    const isItem = wanted.has('array') && mayBeItem(value);
    return [
      ...(spelled && wanted.has(typeOf(spelled.value)) ? [spelled] : []),
      ...(isItem ? [{ value: [value], repairs: [repairAt(location, 'single-item')] }] : []),
    ];
  }

  /** The types that the schema names for a value; `undefined` where it may have any. */
  #typesOf(schema: unknown, levels: number): ReadonlySet<JsonType> | undefined {
    this.#check.spend(1);
    if (levels === 0 || !this.#isReadable(schema)) return undefined;
    const { type, $ref, allOf, anyOf, oneOf } = schema;
    this.#check.spend(listIn(schema['enum']).length / 5);
    const of = (part: unknown) => this.#typesOf(part, levels - 1);
    const anyOfThem = (parts: readonly unknown[]) => {
      const sets = parts.map(of);
      return sets.includes(undefined) ? undefined : new Set(sets.flatMap((each) => [...(each ?? [])]));
    };
    return intersection([
      ...(type === undefined ? [] : [namedTypes(type)]),
      ...[schema['enum'], 'const' in schema ? [schema['const']] : undefined]
        .filter((values) => Array.isArray(values))
        .map((values) => new Set(values.map(typeOf))),
      ...(typeof $ref === 'string' ? [of(this.#check.resolve($ref))] : []),
      ...listIn(allOf).map(of),
      ...[anyOf, oneOf].filter((parts) => Array.isArray(parts)).map(anyOfThem),
    ]);
  }

  /** The value that a text spells. A number that would arrive as another one is none. */
  #spelled(text: string, location: ValueLocation | undefined): Mended | undefined {
    const word = text.trim();
    const read = (kind: ArgumentRepair['kind'], value: unknown) => ({ value, repairs: [repairAt(location, kind)] });
    if (BOOLEAN.test(word)) return read('boolean-text', word.toLowerCase() === 'true');
    const isNumber = NUMBER.test(word);
    if (!isNumber && !OPENING.test(word)) return undefined;
    this.#textCharsLeft -= text.length;
    if (this.#textCharsLeft < 0) throw new Undecided();
    if (changedNumberIn(word) !== undefined) return undefined;
    if (isNumber) return read('number-text', Number(word));
    const parsed = parseJson(word);
    const copied = parsed.ok ? copyJson(parsed.value, limits.arguments) : undefined;
    return copied?.ok ? read('json-text', copied.value) : undefined;
  }

  /** The reading with its parts mended, and one form more for each alternative of the schema that its value can be mended for. */
  #forms(schema: JsonObject, reading: Mended, location: ValueLocation | undefined, levels: number): readonly Mended[] {
    const { $ref, allOf, anyOf, oneOf } = schema;
    const whole = this.#withParts(schema, reading.value, location, levels);
    let form: Mended = { value: whole.value, repairs: [...reading.repairs, ...whole.repairs] };
    const further = (part: unknown) => then(form, (value) => this.#mendInside(part, value, location, levels));
    const target = typeof $ref === 'string' ? [this.#check.resolve($ref)] : [];
    for (const part of [...target, ...listIn(allOf)]) form = further(part) ?? form;
    const alternatives = [...listIn(anyOf), ...listIn(oneOf)];
    return [form, ...alternatives.flatMap((each) => further(each) ?? [])];
  }

  #withParts(schema: JsonObject, value: unknown, location: ValueLocation | undefined, levels: number): Mended {
    if (Array.isArray(value)) return this.#withItems(schema, value, location, levels);
    return isObject(value) ? this.#withProperties(schema, value, location, levels) : asGiven(value);
  }

  #withItems(
    schema: JsonObject,
    items: readonly unknown[],
    location: ValueLocation | undefined,
    levels: number,
  ): Mended {
    const repairs: ArgumentRepair[] = [];
    const mended = items.map((item, at) => {
      const part = itemSchema(schema, at);
      const form = part === undefined ? undefined : this.mend(part, item, { key: at, within: location }, levels);
      if (form === undefined) return item;
      repairs.push(...form.repairs);
      return form.value;
    });
    return repairs.length === 0 ? asGiven(items) : { value: mended, repairs };
  }

  /** Leaves out a null that a property refuses and the object does not require. */
  #withProperties(schema: JsonObject, value: JsonObject, location: ValueLocation | undefined, levels: number): Mended {
    const required = listIn(schema['required']);
    const repairs: ArgumentRepair[] = [];
    const mended: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      const part = propertySchema(schema, key);
      const given = value[key];
      const within = { key, within: location };
      const form = part === undefined ? asGiven(given) : this.mend(part, given, within, levels);
      if (form === undefined && given === null && !required.includes(key)) {
        repairs.push(repairAt(within, 'left-out'));
        continue;
      }
      repairs.push(...(form?.repairs ?? []));
      mended[key] = form === undefined ? given : form.value;
    }
    return repairs.length === 0 ? asGiven(value) : { value: mended, repairs };
  }
}

const BOOLEAN = /^(?:true|false)$/i;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** How a text begins that spells a list or an object. */
const OPENING = /^[[{]/;

/** Not what means "not given", nor a text that may be several items: it begins like a list or has signs that separate. */
const mayBeItem = (value: unknown) => !isPlaceholder(value) && !(typeof value === 'string' && SEVERAL.test(value));
const SEVERAL = /^\s*\[|[,;\n]/;

const repairAt = (location: ValueLocation | undefined, kind: ArgumentRepair['kind']): ArgumentRepair => ({
  path: pathOf(location),
  kind,
});

/** One repair after the other. */
function then({ value, repairs }: Mended, next: (value: unknown) => Mended | undefined): Mended | undefined {
  const second = next(value);
  return second && { value: second.value, repairs: [...repairs, ...second.repairs] };
}

/** A list or an object may be mended in its parts. */
const containers = (value: unknown) => (typeof value === 'object' && value !== null ? [asGiven(value)] : []);

type JsonType = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object';

function typeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as JsonType;
}

const namedTypes = (type: unknown) =>
  new Set((Array.isArray(type) ? type : [type]).map((name) => (name === 'integer' ? 'number' : name) as JsonType));

function intersection(sets: readonly (ReadonlySet<JsonType> | undefined)[]): ReadonlySet<JsonType> | undefined {
  const [first, ...others] = sets.filter((each) => each !== undefined);
  return first && new Set([...first].filter((type) => others.every((each) => each.has(type))));
}

const listIn = (keyword: unknown): readonly unknown[] => (Array.isArray(keyword) ? keyword : []);

function itemSchema({ prefixItems, items, additionalItems }: JsonObject, at: number): unknown {
  if (Array.isArray(items)) return at < items.length ? items[at] : additionalItems;
  const first = listIn(prefixItems);
  return at < first.length ? first[at] : items;
}

/** Keys that a pattern may speak of are left as they are. */
function propertySchema({ properties, patternProperties, additionalProperties }: JsonObject, key: string): unknown {
  if (isObject(properties) && Object.hasOwn(properties, key)) return properties[key];
  return patternProperties === undefined ? additionalProperties : undefined;
}
