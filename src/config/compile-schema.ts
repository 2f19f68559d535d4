// Owns turning `schema.ts` into the data that `checker.ts` runs; `npm run docs` writes it to `checks.json`. It understands as much of
// zod as the schema uses, and refuses the rest, so that nothing is left unchecked.

import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { type Check, predicates, type Rule } from './checker.ts';
import { schemas } from './schema.ts';

/** One line for each key, so that a diff shows which one changed. */
export function checksText(): string {
  const compiled = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, compileSchema(schema)]));
  const parts = Object.entries(compiled).map(([name, check]) => `"${name}": ${textOf(check)}`);
  const text = `{\n${parts.join(',\n')}\n}\n`;
  return isDeepStrictEqual(JSON.parse(text), compiled) ? text : refuse('a value that JSON cannot hold');
}

function textOf(check: Check): string {
  if (check.type !== 'section') return JSON.stringify(check);
  const { keys, ...rest } = check;
  const lines = Object.entries(keys).map(([key, field]) => `  "${key}": ${JSON.stringify(field)}`);
  return `${JSON.stringify(rest).slice(0, -1)},"keys":{\n${lines.join(',\n')}\n}}`;
}

const names = new Map<unknown, string>(Object.entries(schemas).map(([name, schema]) => [schema, name]));

/** Only a key of a section can be left out. */
function compileField(schema: z.core.$ZodType): Check {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (schema instanceof z.ZodExactOptional) return refuse('a key that may be left out but not be undefined');
  if ('innerType' in def && def.checks) return refuse(`a rule for a key that is ${def.type}`);
  if (def.type === 'optional') return { ...compile(def.innerType), optional: true };
  if (def.type === 'prefault') return { ...compile(def.innerType), default: def.defaultValue };
  if (def.type !== 'default') return compile(schema);
  // zod does not check a default; the checker does, which must make no difference.
  const { data } = z.safeParse(def.innerType, def.defaultValue);
  if (!isDeepStrictEqual(data, def.defaultValue)) return refuse('a default that the schema itself would change');
  return { ...compile(def.innerType), default: def.defaultValue };
}

function compile(schema: z.core.$ZodType, otherwise?: string): Check {
  const name = names.get(schema);
  return name === undefined ? compileSchema(schema, otherwise) : { type: 'named', name };
}

/** `otherwise` is the message where the schema has none of its own. */
export function compileSchema(schema: z.core.$ZodType, otherwise?: string): Check {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const option = Object.keys(def).find((key) => !understood.has(key));
  if (option !== undefined) return refuse(`a ${def.type} with the option ${option}`);
  const must = messageOf(def) ?? otherwise ?? refuse(`a ${def.type} without a message`);
  const found = rulesOf(def, must);
  const rules = found.length > 0 && { rules: found };
  switch (def.type) {
    case 'string':
      return { type: 'text', must, ...rules };
    case 'number':
      return { type: 'number', must, ...rules };
    case 'array':
      return { type: 'list', must, ...rules, of: compile(def.element) };
    case 'object': {
      const fields = Object.entries(def.shape).map(([key, field]) => [key, compileField(field)]);
      return { type: 'section', must, ...othersOf(def), ...rules, keys: Object.fromEntries(fields) };
    }
  }
  if (rules) return refuse(`a ${def.type} with rules`);
  switch (def.type) {
    case 'boolean':
      return { type: 'flag', must };
    case 'enum':
      return { type: 'word', must, values: Object.values(def.entries) };
    case 'literal':
      return { type: 'word', must, values: def.values };
    case 'record':
      if (!(def.keyType instanceof z.ZodString) || def.keyType.def.checks)
        return refuse('a map with rules for its keys');
      return { type: 'map', must, of: compile(def.valueType) };
    case 'union':
      // The message of an option is read only if the value has the type of that option, and then it is about something inside.
      return { type: 'either', must, options: def.options.map((option) => compile(option, must)) };
    default:
      return refuse(`a ${def.type}`);
  }
}

/** Every part of a definition that is read below. */
const understood = new Set([
  ...['type', 'error', 'checks', 'check', 'format', 'abort', 'pattern'],
  ...['element', 'shape', 'catchall', 'entries', 'values', 'keyType', 'valueType', 'options'],
]);

function othersOf({ catchall }: z.core.$ZodObjectDef): Pick<Extract<Check, { type: 'section' }>, 'others'> {
  if (catchall === undefined) return {};
  if (catchall instanceof z.ZodNever) return { others: 'refused' };
  return catchall instanceof z.ZodUnknown ? { others: 'kept' } : refuse('a type for all other keys');
}

/** A whole number is a type of its own in zod, and at the same time its first rule. */
function rulesOf(def: z.core.$ZodTypeDef, must: string): Rule[] {
  const own = 'check' in def ? [ruleOf(def as unknown as z.core.$ZodChecks['_zod']['def'], must)] : [];
  const others = (def.checks ?? []).map((check) => ruleOf((check as z.core.$ZodChecks)._zod.def, must));
  return [...own, ...others];
}

function ruleOf(def: z.core.$ZodChecks['_zod']['def'] | z.core.$ZodCustomDef, must: string): Rule {
  const message = messageOf(def) ?? must;
  const own = message !== must && { must: message };
  if (def.abort || (def.when && def.check !== 'min_length')) return refuse(`a ${def.check} that may not run`);
  switch (def.check) {
    case 'min_length':
      return def.minimum === 1 ? { is: 'filled', ...own } : refuse('a shortest length other than 1');
    case 'number_format':
      return def.format === 'safeint' ? { is: 'whole', ...own } : refuse(`a number that is ${def.format}`);
    case 'greater_than':
      return { is: def.inclusive ? 'from' : 'above', bound: Number(def.value), ...own };
    case 'less_than':
      return def.inclusive ? { is: 'to', bound: Number(def.value), ...own } : refuse('a bound that is left out');
    case 'string_format':
      if (def.format !== 'regex' || !def.pattern || def.pattern.flags !== '') return refuse(`a text as ${def.format}`);
      return { is: 'like', pattern: def.pattern.source, ...own };
    case 'custom': {
      const all = Object.keys(predicates) as (keyof typeof predicates)[];
      const is = all.find((name) => predicates[name] === def.fn) ?? refuse('a refinement without a name');
      return { is, ...own };
    }
    default:
      return refuse(`the rule ${def.check}`);
  }
}

/** The schema gives its messages as texts, which zod keeps as functions. */
function messageOf({ error }: { error?: z.core.$ZodErrorMap<never> | undefined }): string | undefined {
  if (error && error.length > 0) return refuse('a message that depends on the value');
  const message = error?.({} as never);
  return typeof message === 'string' ? message : message?.message;
}

function refuse(what: string): never {
  throw new TypeError(`The schema has ${what}, which \`compile-schema.ts\` does not know.`);
}
