// Owns the arguments that a tool wants mirrored as HTTP headers, so that proxies can route by them: which parameters
// its schema declares with `x-mcp-header`, what is wrong with the declarations, and the headers of one call.

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

/** A value that is absent, null or no single word of JSON has no header: the protocol wants it omitted. */
export function paramHeaders(inputSchema: JsonObject, args: JsonObject): HeaderValues {
  const { headers, fault } = declaredIn(inputSchema);
  if (headers.size === 0 || fault !== undefined) return noHeaders;
  const mirrored: Record<string, string> = {};
  for (const [name, path] of headers) {
    const text = scalarText(valueAt(path, args));
    if (text !== undefined) mirrored[`Mcp-Param-${name}`] = encodeHeaderValue(text);
  }
  return mirrored;
}

/** Why the protocol forbids offering the tool over HTTP; ends a sentence that began with the tool. */
export function faultOfParamHeaders(inputSchema: JsonObject): string | undefined {
  return declaredIn(inputSchema).fault;
}

/** Definitions are frozen, so one look at each schema is enough. */
const declarationsBySchema = new WeakMap<JsonObject, HeaderDeclarations>();

function declaredIn(inputSchema: JsonObject): HeaderDeclarations {
  const before = declarationsBySchema.get(inputSchema);
  if (before !== undefined) return before;
  const headers = new Map<string, PropertyPath>();
  const fault = collect(inputSchema, { path: [], reachable: true, headers, taken: new Set() });
  const declared = { headers, fault };
  declarationsBySchema.set(inputSchema, declared);
  return declared;
}

interface SchemaVisit {
  /** The names of the properties that lead here. */
  readonly path: PropertyPath;
  /** Whether they alone lead here: only then is it known, whatever the arguments, which value is meant. */
  readonly reachable: boolean;
  readonly headers: Map<string, PropertyPath>;
  /** In lower case: headers do not tell the cases apart. */
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

/** What a header's name may be made of, after RFC 9110. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** A number with a fraction is written differently by everyone, so the protocol leaves it out. */
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

/** The schemas within a schema, apart from its properties; data such as `default` or `enum` is none. */
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
