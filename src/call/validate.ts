// Owns checking arguments against a tool's schema before its server is woken, in words the model can act on.

import type { ErrorObject, ValidateFunction } from 'ajv';
import { isObject, type JsonObject, stringifyBounded } from '../kernel/json.ts';
import { nearest } from '../kernel/nearest.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Tool } from '../model/tool.ts';
import { type Stage, type ToolCall, toolOf } from './pipeline.ts';

/** What is wrong, or nothing. */
type Check = (args: JsonObject) => readonly string[];

const checkNothing: Check = () => [];

/** A schema is compiled at its tool's first call, and the compiler loaded at the first schema. */
export function validate(): Stage {
  const checks = new WeakMap<Tool, Check>();
  const compile = async (tool: Tool): Promise<Check> => {
    const check = await compileCheck(tool.inputSchema);
    checks.set(tool, check);
    return check;
  };
  return (next) => (call) => {
    const tool = toolOf(call);
    const check = checks.get(tool);
    if (check === undefined) return compile(tool).then((compiled) => next(checked(call, compiled)));
    return next(checked(call, check));
  };
}

function checked(call: ToolCall, check: Check): ToolCall {
  const { id } = toolOf(call);
  const args: unknown = call.arguments;
  const problems = isObject(args) ? check(args) : [`they must be an object, not ${describe(args)}`];
  if (problems.length > 0) throw new RuntimeError('ARGUMENTS_BAD', { ...id, problems });
  return call;
}

/** A schema that cannot be used here is left to the server, which checks its own arguments; the tool stays callable. */
async function compileCheck(schema: JsonObject): Promise<Check> {
  if (isOpen(schema) || stringifyBounded(schema, limits.schemaBytes).length > limits.schemaBytes) return checkNothing;
  const compile = await compilerFor(schema['$schema']);
  const run = compiled(compile, schema);
  if (run === undefined) return checkNothing;
  return (args) => (run(args) ? [] : problemsOf(run.errors ?? [], schema));
}

function compiled(
  compile: Compile,
  { $schema: _dialect, $id: _id, ...rest }: JsonObject,
): ValidateFunction | undefined {
  try {
    return compile(rest);
  } catch {
    return undefined;
  }
}

/** `{ type: 'object' }` and nothing more: there is nothing to check, and no compiler to load for it. */
function isOpen(schema: JsonObject): boolean {
  return Object.keys(schema).every((key) => key === 'type' || key === '$schema');
}

type Compile = (schema: JsonObject) => ValidateFunction;
const compilers = new Map<boolean, Compile>();

/** Most servers still write draft 7; the protocol's own default is 2020-12. */
async function compilerFor(dialect: unknown): Promise<Compile> {
  const draft7 = typeof dialect === 'string' && dialect.includes('draft-0');
  const known = compilers.get(draft7);
  if (known) return known;
  const { Ajv } = draft7 ? await import('ajv') : { Ajv: (await import('ajv/dist/2020.js')).Ajv2020 };
  const regExp = Object.assign(safePattern, { code: 'undefined' });
  const ajv = new Ajv({
    strict: false,
    allErrors: true,
    verbose: true,
    validateFormats: false,
    logger: false,
    code: { regExp },
  });
  const compile: Compile = (schema) => ajv.compile(schema);
  compilers.set(draft7, compile);
  return compile;
}

/** The longest text that a pattern with so many open-ended parts is matched against; none means: not at all. */
const longestText: readonly number[] = [
  limits.patternInputChars,
  limits.patternInputChars,
  limits.patternInputChars,
  200,
];

/** Patterns come from servers: one that could stall refuses the schema, and a long text is not matched. */
function safePattern(source: string, flags: string): { test(text: string): boolean } {
  const bare = source.replace(/\\./g, '_').replace(/\[[^\]]*\]/g, '_');
  const maxChars = longestText[bare.match(/[*+{]/g)?.length ?? 0];
  if (maxChars === undefined || /\)[*+{?]/.test(bare) || /\\[1-9k]/.test(source))
    throw new RangeError('this pattern could stall');
  const pattern = new RegExp(source, flags);
  return { test: (text) => text.length > maxChars || pattern.test(text) };
}

function problemsOf(errors: readonly ErrorObject[], schema: JsonObject): string[] {
  const properties = isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  return [...new Set(errors.map((error) => problemOf(error, properties)))].slice(0, 5);
}

function problemOf({ keyword, instancePath, params, message, data }: ErrorObject, known: readonly string[]): string {
  const path = instancePath.slice(1).replaceAll('/', '.') || 'the arguments';
  switch (keyword) {
    case 'required': {
      const given = isObject(data) ? Object.keys(data).filter((key) => !known.includes(key)) : [];
      const [meant] = nearest(String(params['missingProperty']), given, 1);
      const where = instancePath === '' ? '' : ` in "${path}"`;
      return `"${params['missingProperty']}" is missing${where}${meant === undefined ? '' : ` (there is "${meant}")`}`;
    }
    case 'additionalProperties': {
      const [meant] = nearest(String(params['additionalProperty']), known, 1);
      return `"${params['additionalProperty']}" is not known${meant === undefined ? '' : ` (did you mean "${meant}"?)`}`;
    }
    case 'type':
      return `"${path}" must be of type ${params['type']}, not ${describe(data)}`;
    case 'enum':
      return `"${path}" must be one of ${stringifyBounded(params['allowedValues'], 300)}`;
    default:
      return `"${path}" ${message ?? 'does not fit'}`;
  }
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `${typeof value} ${stringifyBounded(value, 60)}`;
}
