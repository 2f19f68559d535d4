// Owns checking a value against a compiled schema: which value it becomes, or what is wrong in it. A compiled schema is plain data,
// which `compile-schema.ts` makes from `schema.ts`, so that checking a configuration does not load zod. Both give the same answers:
// test/unit/config/checker.test.ts compares them.

import type { ConfigMap, KeyPath } from './config-map.ts';

/** A schema that is used in several places stands in the table once, under its name. */
export type Check = Presence & (Kind | { readonly type: 'named'; readonly name: string });

/** Without either, the value must be there. A default is checked like a written value, which also fills in those inside of it. */
interface Presence {
  readonly optional?: true;
  readonly default?: unknown;
}

/** `must` completes the sentence "it must be …" of a diagnostic. */
type Kind = { readonly must: string } & (
  | ({ readonly type: 'text' | 'number' } & Rules)
  | { readonly type: 'flag' }
  | { readonly type: 'word'; readonly values: readonly unknown[] }
  | ({ readonly type: 'list'; readonly of: Check } & Rules)
  | { readonly type: 'map'; readonly of: Check }
  | ({
      readonly type: 'section';
      readonly keys: Readonly<Record<string, Check>>;
      /** Other keys are dropped, unless this says otherwise. */
      readonly others?: 'refused' | 'kept';
    } & Rules)
  /** The first that fits counts. */
  | { readonly type: 'either'; readonly options: readonly Check[] }
);

interface Rules {
  readonly rules?: readonly Rule[];
}

/** Without a `must` of its own, a rule has that of its check. */
export type Rule = { readonly must?: string } & (
  | { readonly is: 'filled' | 'whole' }
  | { readonly is: 'like'; readonly pattern: string }
  | { readonly is: 'from' | 'above' | 'to'; readonly bound: number }
  | { readonly is: keyof typeof predicates }
);

/** Rules that data cannot say: `schema.ts` refines with these functions, and the compiled schema names them. */
export const predicates = {
  hasValue: (map: object) => Object.values(map).some((value) => value !== undefined),
};

export interface Issue {
  readonly path: KeyPath;
  /** Completes the sentence "it must be …". */
  readonly message: string;
  /** Whether the value is of another type, so that no rule was tried; otherwise it only breaks a rule. */
  readonly isOfOtherType: boolean;
  /** Where the value may have one of several shapes: what is wrong with it as each of them. */
  readonly options?: readonly (readonly Issue[])[];
}

export interface Outcome {
  /** With every default in place. Of use only if there are no issues. */
  readonly value: unknown;
  readonly issues: readonly Issue[];
}

export type RunCheck = (check: Check, written: unknown) => Outcome;

export function createChecker(named: Readonly<Record<string, Check>>): RunCheck {
  return run;

  function run(check: Check, written: unknown): Outcome {
    const value = written === undefined ? check.default : written;
    if (value === undefined && check.optional) return fits(undefined);
    switch (check.type) {
      case 'text':
        return typeof value === 'string' ? obeys(check, value) : isOfOtherType(check);
      case 'number':
        return Number.isFinite(value) ? obeys(check, value) : isOfOtherType(check);
      case 'flag':
        return typeof value === 'boolean' ? fits(value) : isOfOtherType(check);
      case 'word':
        return check.values.includes(value) ? fits(value) : isOfOtherType(check);
      case 'list':
        return Array.isArray(value) ? runList(check, value) : isOfOtherType(check);
      case 'map':
        return isObject(value) && isPlain(value) ? runMap(check, value) : isOfOtherType(check);
      case 'section':
        return isObject(value) ? runSection(check, value) : isOfOtherType(check);
      case 'either':
        return runEither(check, value);
      case 'named':
        return run(named[check.name] as Check, value);
    }
  }

  function runList(check: Extract<Kind, { type: 'list' }>, list: readonly unknown[]): Outcome {
    const items: unknown[] = [];
    const issues: Issue[] = [];
    for (let at = 0; at < list.length; at++) {
      const item = run(check.of, list[at]);
      items.push(item.value);
      addBelow(at, item, issues);
    }
    return obeys(check, items, issues);
  }

  function runMap({ of }: Extract<Kind, { type: 'map' }>, map: ConfigMap): Outcome {
    const values: Record<string, unknown> = {};
    const issues: Issue[] = [];
    for (const key of Object.keys(map)) {
      if (key === '__proto__') continue;
      const each = run(of, map[key]);
      values[key] = each.value;
      addBelow(key, each, issues);
    }
    return { value: values, issues };
  }

  function runSection(check: Extract<Kind, { type: 'section' }>, map: ConfigMap): Outcome {
    const { keys, others, must } = check;
    const fields: Record<string, unknown> = {};
    const issues: Issue[] = [];
    for (const key of Object.keys(keys)) {
      const field = run(keys[key] as Check, map[key]);
      if (field.value !== undefined || key in map) fields[key] = field.value;
      addBelow(key, field, issues);
    }
    if (others === undefined) return obeys(check, fields, issues);
    const unknown: string[] = [];
    for (const key in map) if (!Object.hasOwn(keys, key)) unknown.push(key);
    if (others === 'refused' && unknown.length > 0)
      return { value: fields, issues: [...issues, { path: [], message: must, isOfOtherType: false }] };
    if (others === 'kept') for (const key of unknown) if (key !== '__proto__') fields[key] = map[key];
    return obeys(check, fields, issues);
  }

  /** A value that has the type of a single option and only breaks a rule of it is meant as that one. */
  function runEither({ options, must }: Extract<Kind, { type: 'either' }>, value: unknown): Outcome {
    const outcomes: Outcome[] = [];
    for (const option of options) {
      const outcome = run(option, value);
      if (outcome.issues.length === 0) return outcome;
      outcomes.push(outcome);
    }
    const [meant, ...more] = outcomes.filter(({ issues }) => !issues.some((issue) => issue.isOfOtherType));
    if (meant && more.length === 0) return meant;
    const tried = outcomes.map(({ issues }) => issues);
    return { value, issues: [{ path: [], message: must, isOfOtherType: true, options: tried }] };
  }
}

const none: readonly Issue[] = [];
const fits = (value: unknown): Outcome => ({ value, issues: none });

const isOfOtherType = ({ must }: Kind): Outcome => ({
  value: undefined,
  issues: [{ path: [], message: must, isOfOtherType: true }],
});

function addBelow(key: string | number, { issues }: Outcome, found: Issue[]): void {
  for (const issue of issues) found.push({ ...issue, path: [key, ...issue.path] });
}

/** Rules are for values of the right type. The first that is broken counts: one problem is enough for one value. */
function obeys({ must, rules }: { must: string } & Rules, value: unknown, found: readonly Issue[] = none): Outcome {
  if (rules === undefined || found.some((issue) => issue.isOfOtherType)) return { value, issues: found };
  const broken = rules.find((rule) => !isObeyed(rule, value));
  if (broken === undefined) return { value, issues: found };
  // A number with a fraction is of another type; one that is too large to be exact only breaks the rule.
  const isOther = broken.is === 'whole' && !Number.isInteger(value);
  return { value, issues: [...found, { path: [], message: broken.must ?? must, isOfOtherType: isOther }] };
}

function isObeyed(rule: Rule, value: unknown): boolean {
  switch (rule.is) {
    case 'filled':
      return (value as string | readonly unknown[]).length > 0;
    case 'whole':
      return Number.isSafeInteger(value);
    case 'like':
      return new RegExp(rule.pattern).test(value as string);
    case 'from':
      return (value as number) >= rule.bound;
    case 'above':
      return (value as number) > rule.bound;
    case 'to':
      return (value as number) <= rule.bound;
    default:
      return predicates[rule.is](value as object);
  }
}

const isObject = (value: unknown): value is ConfigMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** TOML's dates are objects too, but no maps; nor is what a class of the host made. */
function isPlain({ constructor: made }: ConfigMap): boolean {
  return typeof made !== 'function' || Object.hasOwn(Object(made.prototype), 'isPrototypeOf');
}
