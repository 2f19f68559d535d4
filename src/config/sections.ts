// Owns the schema as it runs: its parts by name, from `checks.json`. `npm run docs` generates that file from `schema.ts`.

import { type Check, createChecker, type Outcome } from './checker.ts';
import compiled from './checks.json' with { type: 'json' };
import type { Complete, SchemaName, SectionName } from './schema.ts';

const checks = compiled as unknown as Readonly<Record<SchemaName, Check>>;
const run = createChecker(checks);

/** A value that fits, with every default in place; otherwise what is wrong in it. */
export type Parsed<Value> =
  | { readonly value: Value; readonly issues?: never }
  | { readonly value?: never; readonly issues: Outcome['issues'] };

const parsed = <Value>({ value, issues }: Outcome): Parsed<Value> =>
  issues.length === 0 ? { value: value as Value } : { issues };

export function parse<Name extends SchemaName>(name: Name, value: unknown): Parsed<Complete<Name>> {
  return parsed(run(checks[name], value));
}

/** `undefined`: the section has no such key. */
export function parseField(section: SectionName, key: string, value: unknown): Parsed<unknown> | undefined {
  const fields = fieldsOf(section);
  const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
  return field && parsed(run(field, value));
}

/** Fills in the defaults around values that were checked before. */
export function complete<Name extends SectionName>(name: Name, value: object = {}): Complete<Name> {
  const { value: whole, issues } = parse(name, value);
  if (issues) throw new TypeError(`${name} ${issues[0]?.path.join('.')} must be ${issues[0]?.message}`);
  return whole;
}

export const keysOf = (section: SectionName): readonly string[] => Object.keys(fieldsOf(section));

function fieldsOf(section: SectionName): Readonly<Record<string, Check>> {
  const check = checks[section];
  return check.type === 'section' ? check.keys : {};
}
