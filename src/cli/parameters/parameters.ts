// Owns reading a tool's input schema as a person sees it: which parameters there are, and which forms of value each takes.
// Schemas are untrusted: references stay within the schema, and the work is counted and limited. Nothing is validated here.

import { References, referenceIn } from '../../catalog/definition/refs.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';

export type ValueType = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object' | 'any';

export interface ValueForm {
  readonly type: ValueType;
  /** The only values there are, from `enum` or `const`. */
  readonly values?: readonly unknown[];
  /** The forms of a list's items. */
  readonly items?: readonly ValueForm[];
  /** The fields of an object, where the schema names any. */
  readonly fields?: readonly Parameter[];
  /** The part of the schema that the form was read from. */
  readonly schema: JsonObject;
}

export interface Parameter {
  readonly name: string;
  readonly isRequired: boolean;
  readonly forms: readonly ValueForm[];
  readonly description?: string;
  readonly default?: unknown;
  readonly examples: readonly unknown[];
}

interface ObjectParameters {
  /** The required ones first. */
  readonly known: readonly Parameter[];
  /** The forms of a parameter that the schema does not name; `undefined` if the tool takes no others. */
  readonly others: readonly ValueForm[] | undefined;
}

export interface ParameterList extends ObjectParameters {
  readonly schema: JsonObject;
}

const DEEPEST = 12;
/** Parts of the schema that are looked at; a part beyond takes anything. Real tools need a few hundred. */
const MOST_PARTS = 5_000;
const MOST_FORMS = 50;
const ANY: ValueForm = { type: 'any', schema: {} };

export function readParameters(schema: JsonObject): ParameterList {
  return {
    ...readObject(schema, { references: new References(schema), root: schema, depth: 0, parts: { seen: 0 } }),
    schema,
  };
}

interface Reading {
  readonly references: References;
  readonly root: unknown;
  readonly depth: number;
  readonly parts: { seen: number };
}

const isBeyond = ({ depth, parts }: Reading) => depth > DEEPEST || ++parts.seen > MOST_PARTS;

const deeper = (reading: Reading): Reading => ({ ...reading, depth: reading.depth + 1 });

/** Follows references until a schema that is none. */
function resolved(schema: unknown, { references, root, depth }: Reading): JsonObject {
  let part = schema;
  for (let step = depth; isObject(part) && step <= DEEPEST; step++) {
    const reference = referenceIn(part);
    if (reference === undefined) return part;
    const { keyword } = reference;
    const { [keyword]: _, ...beside } = part;
    const target = references.find(reference.address, root)?.target;
    // A description or a default beside a reference is about this place, and counts more than the target's.
    part = isObject(target) ? { ...target, ...beside } : undefined;
  }
  return isObject(part) && referenceIn(part) === undefined ? part : {};
}

function readObject(schema: unknown, reading: Reading): ObjectParameters {
  const parts = partsOf(schema, reading);
  const found = new Map<string, unknown>();
  const required = new Set<unknown>(parts.flatMap(requiredIn));
  for (const part of parts) addProperties(found, part);
  for (const part of parts) {
    const branches = alternativesOf(part).map((branch) => partsOf(branch, deeper(reading)));
    for (const each of branches.flat()) addProperties(found, each);
    const [all = new Set(), ...more] = branches.map((branch) => new Set<unknown>(branch.flatMap(requiredIn)));
    for (const name of all) if (more.every((names) => names.has(name))) required.add(name);
  }
  // Definitions are kept with sorted keys: of the server's own order, only that of the required ones is left.
  const first = [...required].filter((name) => typeof name === 'string' && found.has(name)) as readonly string[];
  const known = [...new Set([...first, ...found.keys()])].map((name) =>
    readParameter(name, found.get(name), { isRequired: required.has(name), reading }),
  );
  return { known, others: othersOf(parts, known.length === 0, reading) };
}

/** The schema itself and everything that `allOf` joins to it. */
function partsOf(schema: unknown, reading: Reading): readonly JsonObject[] {
  if (isBeyond(reading)) return [];
  const part = resolved(schema, reading);
  return [part, ...listOf(part['allOf']).flatMap((each) => partsOf(each, deeper(reading)))];
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value.slice(0, MOST_FORMS) : []);
const alternativesOf = ({ anyOf, oneOf }: JsonObject) => [...listOf(anyOf), ...listOf(oneOf)];
const requiredIn = ({ required }: JsonObject) => (Array.isArray(required) ? required : []);

/** The first part that names a property describes it. */
function addProperties(found: Map<string, unknown>, { properties }: JsonObject): void {
  if (!isObject(properties)) return;
  for (const [name, schema] of Object.entries(properties)) if (!found.has(name)) found.set(name, schema);
}

/**
 * JSON Schema lets a tool take any further key unless it says otherwise, but servers drop what they do not name, so a key counts
 * as unknown unless the schema asks for others in words. A schema that names no key at all says nothing about them.
 */
function othersOf(parts: readonly JsonObject[], namesNone: boolean, reading: Reading): ObjectParameters['others'] {
  const stated = parts.map((part) => part['additionalProperties']).filter((each) => each !== undefined);
  if (stated.includes(false)) return undefined;
  if (parts.some((part) => part['patternProperties'] !== undefined)) return [ANY];
  const schema = stated.find(isObject);
  if (schema) return readForms(schema, deeper(reading));
  const hasProperties = parts.some((part) => isObject(part['properties']));
  return stated.includes(true) || (namesNone && !hasProperties) ? [ANY] : undefined;
}

function readParameter(
  name: string,
  schema: unknown,
  { isRequired, reading }: Pick<Parameter, 'isRequired'> & { readonly reading: Reading },
): Parameter {
  const part = resolved(schema, reading);
  const { description, examples } = part;
  return {
    name,
    isRequired,
    forms: readForms(part, deeper(reading)),
    ...(typeof description === 'string' && { description }),
    ...(part['default'] !== undefined && { default: part['default'] }),
    examples: listOf(examples),
  };
}

function readForms(schema: unknown, reading: Reading): readonly ValueForm[] {
  if (isBeyond(reading)) return [ANY];
  const part = resolved(schema, reading);
  const own = ownForms(part, reading);
  const nullable: readonly ValueForm[] = part['nullable'] === true ? [{ type: 'null', schema: part }] : [];
  const specific = own.some(({ type }) => type !== 'any') ? own : undefined;
  const joined = listOf(part['allOf']).map((each) => readForms(each, deeper(reading)));
  const branches = alternativesOf(part).flatMap((each) => readForms(each, deeper(reading)));
  const isTelling = branches.length > 0 && branches.every(({ type }) => type !== 'any');
  const forms =
    (isTelling ? branches : specific) ?? joined.find((each) => each.some(({ type }) => type !== 'any')) ?? own;
  return [...forms, ...nullable].slice(0, MOST_FORMS);
}

function ownForms(schema: JsonObject, reading: Reading): readonly ValueForm[] {
  const { const: only, enum: values, type } = schema;
  if (only !== undefined) return [{ type: typeOf(only), values: [only], schema }];
  if (Array.isArray(values)) return groupByType(values, schema);
  const types = Array.isArray(type) ? type : [type];
  return types.map((each): ValueForm => {
    if (each === 'array' || (each === undefined && schema['items'] !== undefined))
      return { type: 'array', items: readForms(schema['items'], deeper(reading)), schema };
    if (each === 'object' || (each === undefined && isObject(schema['properties'])))
      return { type: 'object', ...fieldsOf(schema, reading), schema };
    return { type: isType(each) ? each : 'any', schema };
  });
}

function fieldsOf(schema: JsonObject, reading: Reading): Pick<ValueForm, 'fields'> {
  const { known } = readObject(schema, deeper(reading));
  return known.length === 0 ? {} : { fields: known };
}

const types: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'];
const isType = (value: unknown): value is ValueType => types.includes(value);

function groupByType(values: readonly unknown[], schema: JsonObject): readonly ValueForm[] {
  const groups = new Map<ValueType, unknown[]>();
  for (const value of values) {
    const group = groups.get(typeOf(value));
    if (group) group.push(value);
    else groups.set(typeOf(value), [value]);
  }
  return [...groups].map(([type, each]) => ({ type, values: each, schema }));
}

function typeOf(value: unknown): ValueType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' || type === 'object' ? type : 'any';
}
