// Owns the rules of a JSON Schema that hold a value against other schemas: all of them, one of them, none of them. Where more
// than one may fit for all that is known here, nobody is refused for it.

import { type About, type Checking, listOf, MOST_COMPARED, numberOf, type Rule, type Verdict } from './schema-check.ts';
import { type Complaint, refuse, say } from './schema-words.ts';

export const formRules: readonly (readonly [string, Rule])[] = [
  ['allOf', checkAll],
  ['anyOf', checkAny],
  ['oneOf', checkOne],
  ['not', checkNot],
  ['if', checkCondition],
  ['contains', checkContains],
];

function checkAll(check: Checking, schemas: unknown, { value, place, problems }: About): boolean {
  return listOf(schemas).reduce<boolean>((fits, schema) => check.visit(schema, value, place, problems) && fits, true);
}

function checkAny(check: Checking, keyword: unknown, about: About): boolean {
  const schemas = listOf(keyword);
  let isPossible = false;
  for (const schema of schemas) {
    const verdict = check.judge(schema, about.value);
    if (verdict === 'yes') return true;
    isPossible ||= verdict === 'maybe';
  }
  return isPossible ? unsure(check) : sayNoForm(check, schemas, about);
}

function checkOne(check: Checking, keyword: unknown, about: About): boolean {
  const schemas = listOf(keyword);
  const { yes, maybe } = count(schemas.map((schema) => check.judge(schema, about.value)));
  if (yes > 1) return say(about.problems, about.place, `must fit exactly one of ${schemas.length} forms, not ${yes}`);
  if (maybe > 0) return unsure(check);
  return yes === 1 || sayNoForm(check, schemas, about);
}

function checkNot(check: Checking, schema: unknown, { value, place, problems }: About): boolean {
  const verdict = check.judge(schema, value);
  if (verdict === 'maybe') return unsure(check);
  return verdict === 'no' || say(problems, place, 'must not have the form that is excluded');
}

function checkCondition(check: Checking, condition: unknown, { schema, value, place, problems }: About): boolean {
  const verdict = check.judge(condition, value);
  if (verdict === 'maybe') return unsure(check);
  const branch = schema[verdict === 'yes' ? 'then' : 'else'];
  return branch === undefined || check.visit(branch, value, place, problems);
}

function checkContains(check: Checking, wanted: unknown, { schema, value, place, problems }: About): boolean {
  if (!Array.isArray(value)) return true;
  const { yes, maybe } = count(value.map((item) => check.judge(wanted, item)));
  const { minContains = 1, maxContains = Number.POSITIVE_INFINITY } = schema;
  const [least, most] = [numberOf(minContains), numberOf(maxContains)];
  if (yes + maybe < least || yes > most) return say(problems, place, 'must hold the items that are asked for');
  return (yes >= least && yes + maybe <= most) || unsure(check);
}

function count(protocolCache: readonly Verdict[]) {
  const countOf = (wanted: Verdict) => protocolCache.reduce((sum, each) => (each === wanted ? sum + 1 : sum), 0);
  return { yes: countOf('yes'), maybe: countOf('maybe') };
}

function unsure(check: Checking): true {
  check.doubt();
  return true;
}

/** Of several forms: what all of them want in its place, or what is wrong with the one that comes closest. */
function sayNoForm(check: Checking, schemas: readonly unknown[], { value, place, problems }: About): false {
  if (problems === undefined) return false;
  const reasons = check.explain(() =>
    schemas.slice(0, MOST_COMPARED).map((schema) => {
      const found: Complaint[] = [];
      check.visit(schema, value, place, found);
      return found;
    }),
  );
  const wanted = reasons?.map(([first]) => (first?.place === place ? first?.wanted : undefined)) ?? [];
  if (wanted.length === schemas.length && wanted.length > 0 && wanted.every((each) => each !== undefined))
    return refuse(problems, place, [...new Set(wanted)].join(' or '), value);
  const inside = reasons?.filter((_, at) => wanted[at] === undefined).sort((a, b) => a.length - b.length) ?? [];
  const closest = inside[0]?.[0];
  const why = closest === undefined || closest.place === place ? '' : `; of the closest one ${closest.text}`;
  return say(problems, place, `must fit one of ${schemas.length} forms${why}`);
}
