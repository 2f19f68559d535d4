// Owns the arguments that a tool's schema declares with `x-mcp-header`, to be sent as HTTP headers so that proxies can route
// by them: reads the declarations, says what is wrong with them, and makes the headers of one call.

import { encodeHeaderValue } from '../kernel/header-value.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';

type HeaderValues = Readonly<Record<string, string>>;
type PropertyPath = readonly string[];

interface HeaderDeclarations {
  readonly headers: ReadonlyMap<string, PropertyPath>;
  readonly fault: string | undefined;
}

const keyword = 'x-mcp-header';
const noHeaders: HeaderValues = Object.freeze({});

/** A value that is absent, null or not a scalar has no header: the protocol wants it omitted. */
export function paramHeaders(inputSchema: JsonObject, args: JsonObject): HeaderValues {
  const { headers, fault } = declaredIn(inputSchema);
  if (headers.size === 0 || fault !== undefined) return noHeaders;
  const values: Record<string, string> = {};
  for (const [name, path] of headers) {
    const text = scalarText(valueAt(path, args));
    if (text !== undefined) values[`Mcp-Param-${name}`] = encodeHeaderValue(text);
  }
  return values;
}

/** Why the protocol forbids offering the tool over HTTP, worded to follow the tool's name; undefined if it is allowed. */
export function faultOfParamHeaders(inputSchema: JsonObject): string | undefined {
  return declaredIn(inputSchema).fault;
}

/** Schemas are frozen, so each is read once. */
const declarationsBySchema = new WeakMap<JsonObject, HeaderDeclarations>();

function declaredIn(inputSchema: JsonObject): HeaderDeclarations {
  const cached = declarationsBySchema.get(inputSchema);
  if (cached !== undefined) return cached;
  const headers = new Map<string, PropertyPath>();
  const fault = collect(inputSchema, { path: [], reachable: true, headers, taken: new Set() });
  const declared = { headers, fault };
  declarationsBySchema.set(inputSchema, declared);
  return declared;
}

interface SchemaVisit {
  /** The property names from the root to this schema. */
  readonly path: PropertyPath;
  /** Whether only properties lead here, and no `oneOf`, `items` or the like: then the path names one argument in every call. */
  readonly reachable: boolean;
  readonly headers: Map<string, PropertyPath>;
  /** Header names declared so far, in lower case, since header names ignore case. */
  readonly taken: Set<string>;
}

function collect(schema: unknown, visit: SchemaVisit): string | undefined {
  if (!isObject(schema)) return undefined;
  if (Object.hasOwn(schema, keyword)) {
    const fault = faultOf(schema, visit);
    if (fault !== undefined) return fault;
    const name = schema[keyword] as string;
    visit.taken.add(name.toLowerCase());
    visit.headers.set(name, visit.path);
  }
  const { properties } = schema;
  for (const [name, each] of isObject(properties) ? Object.entries(properties) : []) {
    const fault = collect(each, { ...visit, path: [...visit.path, name] });
    if (fault !== undefined) return fault;
  }
  for (const each of otherParts(schema)) {
    const fault = collect(each, { ...visit, reachable: false });
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** A header name by RFC 9110. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Without `number`: fractions have no single spelling, so the protocol excludes them. */
const mirrorable = ['string', 'integer', 'boolean'];

function faultOf({ [keyword]: name, type }: JsonObject, { path, reachable, taken }: SchemaVisit): string | undefined {
  const where = path.length === 0 ? 'its schema' : `its parameter "${path.join('.')}"`;
  if (!reachable || path.length === 0) return `${where} declares ${keyword} where no single argument is meant`;
  if (typeof name !== 'string' || !token.test(name)) return `${where} declares an ${keyword} that is no header name`;
  if (typeof type !== 'string' || !mirrorable.includes(type))
    return `${where} declares ${keyword} but is not of type string, integer or boolean`;
  if (taken.has(name.toLowerCase())) return `${where} declares the ${keyword} "${name}", which another one has`;
  return undefined;
}

const holdSchemas = [
  'items',
  'additionalItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'propertyNames',
  'contentSchema',
  'not',
  'if',
  'then',
  'else',
  'prefixItems',
  'oneOf',
  'anyOf',
  'allOf',
];
const holdNamedSchemas = ['patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions'];

/** The subschemas of a schema, apart from its properties. Data such as `default` or `enum` does not count. */
function otherParts(schema: JsonObject): readonly unknown[] {
  const named = holdNamedSchemas.flatMap((key) => (isObject(schema[key]) ? Object.values(schema[key]) : []));
  return [...holdSchemas.flatMap((key) => schema[key]), ...named];
}

function valueAt(path: PropertyPath, args: JsonObject): unknown {
  return path.reduce<unknown>((at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined), args);
}

function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return Number.isSafeInteger(value) ? String(value) : undefined;
}
