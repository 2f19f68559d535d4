// Owns `anyOf` in the subset of OpenAPI, where no other keyword may stand beside it: such keywords are copied into each form,
// and if that would repeat too much the forms are merged into one.

import { showHidden } from '../../kernel/clean-text.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { limits } from '../../model/limits.ts';
import { annotations, draftOf, mapParts, putNamed, type SchemaDraft } from './keywords.ts';
import { merge, unite } from './merge.ts';
import { note, noteList } from './note.ts';
import { fitsType } from './openapi-plain.ts';

export interface FormTranslator {
  readonly unread: (keyword: string) => void;
  /** Translates a schema that was merged from translated parts. */
  readonly again: (schema: JsonObject) => JsonObject;
}

/** The keywords beside `anyOf` are not repeated if that takes more characters than this. */
const MOST_REPEATED_CHARS = 2_500;

/** Leaves nothing beside `anyOf`. Gives whether the draft changed. */
export function anyOfAlone(draft: SchemaDraft, translator: FormTranslator): boolean {
  if (!Array.isArray(draft['anyOf'])) return false;
  const { anyOf, ...beside } = draft as SchemaDraft & { readonly anyOf: readonly JsonObject[] };
  const forms = anyOf.flatMap(formsOf) as readonly JsonObject[];
  const nonNull = forms.filter(({ type }) => type !== 'null');
  const isNullable = nonNull.length < forms.length;
  if (nonNull.length === 0) return replace(draft, { ...beside, type: 'null' });
  if (nonNull.length > 1 && nonNull.some(isOpen)) {
    delete draft['anyOf'];
    return true;
  }
  if (!isNullable && nonNull.length > 1 && Object.keys(beside).length === 0) {
    draft['anyOf'] = forms.length === anyOf.length ? anyOf : forms;
    return forms.length !== anyOf.length;
  }
  const { type, nullable } = beside;
  const admitsNull = nullable === true || (isNullable && (type === undefined || type === 'null'));
  const choice = { beside, forms: nonNull, admitsNull };
  if (nonNull.length > 1 && isObjects(choice) && (nonNull.every(isRequiredOnly) || isLong(choice)))
    return replace(draft, asOne(choice, translator));
  if (nonNull.length === 1 || !isLong(choice)) return replace(draft, eachWith(choice, translator));
  translator.unread('anyOf');
  delete draft['anyOf'];
  return true;
}

export const formsOf = (form: JsonObject): readonly unknown[] =>
  Array.isArray(form['anyOf']) ? form['anyOf'] : [form];

export function replace(draft: SchemaDraft, by: JsonObject): true {
  for (const keyword of Object.keys(draft)) delete draft[keyword];
  Object.assign(draft, by);
  return true;
}

/** How many schemas, from the first on, have few enough property names together to be shown; the first always counts. */
export function howManyFit(schemas: readonly JsonObject[]): number {
  let names = 0;
  const beyond = schemas.findIndex(({ properties }, at) => {
    names += isObject(properties) ? Object.keys(properties).length : 0;
    return at > 0 && names > limits.shownSchema.names;
  });
  return beyond < 0 ? schemas.length : beyond;
}

/** Merged parts may hold combinations of keywords that neither part had, so they are translated again. */
export function settle(schema: JsonObject, { again }: Pick<FormTranslator, 'again'>): JsonObject {
  return again(mapParts(schema, (part) => settle(part, { again })));
}

interface FormChoice {
  readonly beside: JsonObject;
  /** None of them is only null, and none allows everything. */
  readonly forms: readonly JsonObject[];
  readonly admitsNull: boolean;
}

const isOpen = (form: JsonObject) => Object.keys(form).every((keyword) => annotations.has(keyword));

const isObjects = ({ beside: { type = 'object' }, forms }: FormChoice) =>
  type === 'object' && forms.every((form) => form['type'] === 'object') && howManyFit(forms) === forms.length;

/** Whether the form only lists required names, without describing them. */
function isRequiredOnly({ type: _, required, properties, ...more }: JsonObject): boolean {
  const parts = isObject(properties) ? Object.values(properties) : [];
  return (
    required !== undefined && Object.keys(more).length === 0 && parts.every((each) => isObject(each) && isOpen(each))
  );
}

function isLong({ beside, forms }: FormChoice): boolean {
  const { type: _, ...own } = unannotated(beside);
  if (Object.keys(own).length === 0) return false;
  return JSON.stringify(own).length * (forms.length - 1) > MOST_REPEATED_CHARS;
}

function unannotated(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !annotations.has(keyword)));
}

/** Copies the keywords beside into each form; title and description only into the first. */
function eachWith({ beside, forms, admitsNull }: FormChoice, translator: FormTranslator): JsonObject {
  const [first = {}, ...others] = forms;
  const own = unannotated(beside);
  const head = draftOf(mergeForm(withWords(beside, first), first, translator));
  if (admitsNull && head['type'] !== undefined) head['nullable'] = true;
  if (others.length === 0) return head;
  const rest = others.map((form) => draftOf(mergeForm(own, form, translator)));
  for (const keyword of valued) moveToFitting(keyword, beside[keyword], [head, ...rest]);
  return { anyOf: [head, ...rest] };
}

function mergeForm(beside: JsonObject, form: JsonObject, translator: FormTranslator): JsonObject {
  const { schema } = merge(beside, form);
  const isPlain = Object.keys(beside).every((keyword) => keyword === 'type' || annotations.has(keyword));
  return isPlain ? schema : settle(schema, translator);
}

/** Keywords that hold a value; a value of another type than the schema's is refused. */
export const valued = ['default', 'example'];

/** A value that stood beside all forms goes to the first form whose type it fits, if any. */
function moveToFitting(keyword: string, value: unknown, [head = {}, ...rest]: readonly SchemaDraft[]): void {
  if (value === undefined || fitsType(value, head)) return;
  delete head[keyword];
  const fitting = rest.find((form) => fitsType(value, form));
  if (fitting !== undefined) fitting[keyword] = value;
}

/** Joins both descriptions. Servers wrote both, at any length, so one is not searched for within the other. */
function withWords(beside: JsonObject, form: JsonObject): JsonObject {
  const [outer, inner] = [beside['description'], form['description']];
  if (typeof outer !== 'string' || typeof inner !== 'string') return beside;
  if (outer.startsWith(inner) || outer.endsWith(inner)) return beside;
  return { ...beside, description: `${outer} ${inner}` };
}

/** Merges all forms: every property that any form has, required if all require it. */
function asOne({ beside, forms, admitsNull }: FormChoice, translator: FormTranslator): JsonObject {
  const united = unite(forms);
  const counts = new Map<string, number>();
  for (const { properties } of forms)
    for (const name of isObject(properties) ? Object.keys(properties) : [])
      counts.set(name, (counts.get(name) ?? 0) + 1);
  const properties = draftOf();
  for (const [name, part] of Object.entries({ ...(united['properties'] as JsonObject) }))
    putNamed(properties, name, counts.get(name) === forms.length ? part : inWords(part as JsonObject));
  const { schema } = merge({ ...beside, type: 'object' }, { ...united, type: 'object', nullable: true, properties });
  const one = draftOf(schema);
  if (admitsNull) one['nullable'] = true;
  if (forms.every(isRequiredOnly)) noteChoice(one, forms);
  else translator.unread('anyOf');
  return settle(one, translator);
}

/** The other forms allow anything under this name, so its schema becomes a note in the description. */
function inWords(part: JsonObject): JsonObject {
  const { description, ...rest } = part;
  const noted = draftOf(typeof description === 'string' ? { description } : {});
  const written = JSON.stringify(rest);
  if (!isOpen(rest) && !written.includes('\\')) note(noted, `Where it is wanted: ${written}`);
  return noted;
}

function noteChoice(draft: SchemaDraft, forms: readonly JsonObject[]): void {
  const needed = forms.map(({ required }) => (required as readonly string[]).map(showHidden).join(' and '));
  noteList(draft, 'One of these is needed: ', needed, '; ');
}
