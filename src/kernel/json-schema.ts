// Owns checking a value against a JSON Schema (draft 7 and 2020-12), with problems in words that a reader can act on.
// Schemas are untrusted: nothing is compiled, all work is counted and limited, and a schema that cannot be decided safely – a
// pattern that could stall, a reference to nowhere, a keyword of the wrong type – leaves the whole check undecided. A keyword
// that is not checked, such as a format, never refuses a value.

import { isObject } from './json.ts';
import { isUndecided, type KeywordContext, type SchemaChecker, type SchemaFit, Undecided } from './schema-check.ts';
import { surelyFits } from './schema-fit.ts';
import { rules } from './schema-rules.ts';
import {
  type Complaint,
  type Complaints,
  complain,
  MOST_CHARS,
  pathOf,
  type SchemaProblem,
  shorten,
  type ValueLocation,
} from './schema-words.ts';

export interface CheckLimits {
  /** How many times a part of the schema may look at a part of the value. */
  readonly steps: number;
  readonly problems: number;
}

/** What is wrong, in words; empty when the value fits or when the check is undecided. */
export function problemsWith(value: unknown, schema: unknown, limits: CheckLimits): readonly string[] {
  if (surelyFits(value, schema)) return NONE;
  const found = findProblems(value, schema, limits);
  return found === 'undecided' ? [] : found.map(({ text }) => text);
}

export function findProblems(
  value: unknown,
  schema: unknown,
  limits: CheckLimits,
): readonly SchemaProblem[] | 'undecided' {
  const check = new Check(schema, limits.steps);
  const problems: Complaint[] = [];
  try {
    check.visit(schema, value, undefined, problems);
  } catch (error) {
    if (isUndecided(error)) return 'undecided';
    throw error;
  }
  const byText = new Map(problems.map((each) => [each.text, each]));
  return [...byText.values()].slice(0, limits.problems).map(({ location, kind, text }) => ({
    path: pathOf(location),
    kind,
    text: shorten(text, MOST_CHARS),
  }));
}

const NONE: readonly string[] = [];

/** A checker for parts of the value against parts of the schema; it throws once its steps are used up. */
export function createSchemaChecker(schema: unknown, steps: number): SchemaChecker {
  return new Check(schema, steps);
}

/** The budgets for one explanation, and for all of them. */
const EXPLAINING_STEPS = 2_000;
const ALL_EXPLAINING_STEPS = 20_000;

class Check implements SchemaChecker {
  readonly #root: unknown;
  /** In drafts up to 7, keywords beside a `$ref` do not count. */
  readonly #isOldDraft: boolean;
  /** What a reference is relative to: the innermost enclosing schema with an `$id`. */
  #base: unknown;
  #isInDoubt = false;
  #stepsLeft: number;
  #explainingLeft = ALL_EXPLAINING_STEPS;
  #named: Map<string, unknown> | undefined;

  constructor(root: unknown, steps: number) {
    this.#root = root;
    this.#base = root;
    this.#isOldDraft = isObject(root) && typeof root['$schema'] === 'string' && oldDraft.test(root['$schema']);
    this.#stepsLeft = steps;
  }

  visit(schema: unknown, value: unknown, location: ValueLocation | undefined, problems: Complaints): boolean {
    this.spend(1);
    if (typeof schema === 'boolean') return schema || complain(problems, location, 'must not be given');
    if (!isObject(schema)) throw new Undecided();
    const about = { schema, value, location, problems };
    if (this.#isOldDraft && typeof schema['$ref'] === 'string') return this.visitReference(schema['$ref'], about);
    const outer = this.#base;
    if (typeof schema['$id'] === 'string') this.#base = schema;
    const keywords = Object.keys(schema);
    this.spend(keywords.length / 5);
    let fits = true;
    for (const keyword of keywords) {
      const rule = rules.get(keyword);
      if (rule === undefined || rule(this, schema[keyword], about)) continue;
      fits = false;
      if (problems === undefined) break;
    }
    this.#base = outer;
    return fits;
  }

  judge(schema: unknown, value: unknown): SchemaFit {
    const outer = this.#isInDoubt;
    this.#isInDoubt = false;
    const fits = this.visit(schema, value, undefined, undefined);
    const fit = !fits ? 'no' : this.#isInDoubt ? 'maybe' : 'yes';
    this.#isInDoubt = outer;
    return fit;
  }

  doubt(): void {
    this.#isInDoubt = true;
  }

  readonly spend = (steps: number): void => {
    this.#stepsLeft -= steps;
    if (this.#stepsLeft < 0) throw new Undecided();
  };

  explain<Answer>(search: () => Answer): Answer | undefined {
    const [stepsLeft, base, isInDoubt] = [this.#stepsLeft, this.#base, this.#isInDoubt];
    const allowed = Math.min(stepsLeft, EXPLAINING_STEPS, this.#explainingLeft);
    this.#stepsLeft = allowed;
    try {
      return search();
    } catch (error) {
      if (isUndecided(error)) return undefined;
      throw error;
    } finally {
      this.#explainingLeft -= Math.min(this.#explainingLeft, allowed - this.#stepsLeft);
      this.#stepsLeft = stepsLeft;
      this.#base = base;
      this.#isInDoubt = isInDoubt;
    }
  }

  visitReference(reference: string, { value, location, problems }: KeywordContext): boolean {
    const outer = this.#base;
    const target = this.resolve(reference);
    if (!isPointer(reference)) this.#base = target;
    const fits = this.visit(target, value, location, problems);
    this.#base = outer;
    return fits;
  }

  resolve(reference: string): unknown {
    this.spend(reference.length / 100);
    return isPointer(reference) ? follow(this.#base, reference) : this.#find(reference);
  }

  #find(name: string): unknown {
    this.#named ??= collectNames(this.#root);
    if (!this.#named.has(name)) throw new Undecided();
    return this.#named.get(name);
  }
}

const oldDraft = /^https?:\/\/json-schema\.org\/draft-0[3-7]\//;

const isPointer = (reference: string) => reference === '#' || reference.startsWith('#/');

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
