// Owns the rules for JSON Schema keywords that combine schemas: all, any, one or none of them must fit. Where keywords that are
// not checked leave the answer open, the value is not refused.

import {
  type KeywordContext,
  type KeywordRule,
  listOf,
  MOST_COMPARED,
  numberOf,
  type SchemaChecker,
  type SchemaFit,
} from './schema-check.ts';
import { type Complaint, complain, refuse } from './schema-words.ts';

export const alternativeRules: readonly (readonly [string, KeywordRule])[] = [
  ['allOf', checkAll],
  ['anyOf', checkAny],
  ['oneOf', checkOne],
  ['not', checkNot],
  ['if', checkCondition],
  ['contains', checkContains],
];

function checkAll(check: SchemaChecker, schemas: unknown, { value, location, problems }: KeywordContext): boolean {
  return listOf(schemas).reduce<boolean>(
    (fits, schema) => check.visit(schema, value, location, problems) && fits,
    true,
  );
}

function checkAny(check: SchemaChecker, keyword: unknown, about: KeywordContext): boolean {
  const schemas = listOf(keyword);
  let isPossible = false;
  for (const schema of schemas) {
    const fit = check.judge(schema, about.value);
    if (fit === 'yes') return true;
    isPossible ||= fit === 'maybe';
  }
  return isPossible ? unsure(check) : refuseForms(check, schemas, about);
}

function checkOne(check: SchemaChecker, keyword: unknown, about: KeywordContext): boolean {
  const schemas = listOf(keyword);
  const { yes, maybe } = count(schemas.map((schema) => check.judge(schema, about.value)));
  if (yes > 1)
    return complain(
      about.problems,
      about.location,
      `must fit exactly one of ${schemas.length} alternatives, not ${yes}`,
    );
  if (maybe > 0) return unsure(check);
  return yes === 1 || refuseForms(check, schemas, about);
}

function checkNot(check: SchemaChecker, schema: unknown, { value, location, problems }: KeywordContext): boolean {
  const fit = check.judge(schema, value);
  if (fit === 'maybe') return unsure(check);
  return fit === 'no' || complain(problems, location, 'must not fit the schema that is excluded');
}

function checkCondition(
  check: SchemaChecker,
  condition: unknown,
  { schema, value, location, problems }: KeywordContext,
): boolean {
  const fit = check.judge(condition, value);
  if (fit === 'maybe') return unsure(check);
  const branch = schema[fit === 'yes' ? 'then' : 'else'];
  return branch === undefined || check.visit(branch, value, location, problems);
}

function checkContains(
  check: SchemaChecker,
  wanted: unknown,
  { schema, value, location, problems }: KeywordContext,
): boolean {
  if (!Array.isArray(value)) return true;
  const { yes, maybe } = count(value.map((item) => check.judge(wanted, item)));
  const { minContains = 1, maxContains = Number.POSITIVE_INFINITY } = schema;
  const [least, most] = [numberOf(minContains), numberOf(maxContains)];
  if (yes + maybe < least || yes > most) return complain(problems, location, 'must hold the items that are asked for');
  return (yes >= least && yes + maybe <= most) || unsure(check);
}

function count(fits: readonly SchemaFit[]) {
  const countOf = (wanted: SchemaFit) => fits.reduce((sum, each) => (each === wanted ? sum + 1 : sum), 0);
  return { yes: countOf('yes'), maybe: countOf('maybe') };
}

function unsure(check: SchemaChecker): true {
  check.doubt();
  return true;
}

/** Says what all alternatives want instead, or what is wrong with the alternative that comes closest. */
function refuseForms(
  check: SchemaChecker,
  schemas: readonly unknown[],
  { value, location, problems }: KeywordContext,
): false {
  if (problems === undefined) return false;
  const reasons = check.explain(() =>
    schemas.slice(0, MOST_COMPARED).map((schema) => {
      const complaints: Complaint[] = [];
      check.visit(schema, value, location, complaints);
      return complaints;
    }),
  );
  const wanted = reasons?.map(([first]) => (first?.location === location ? first?.wanted : undefined)) ?? [];
  if (wanted.length === schemas.length && wanted.length > 0 && wanted.every((each) => each !== undefined))
    return refuse(problems, location, [...new Set(wanted)].join(' or '), value);
  const inside = reasons?.filter((_, at) => wanted[at] === undefined).sort((a, b) => a.length - b.length) ?? [];
  const closest = inside[0]?.[0];
  const why = closest === undefined || closest.location === location ? '' : `; of the closest one ${closest.text}`;
  return complain(problems, location, `must fit one of ${schemas.length} alternatives${why}`);
}
