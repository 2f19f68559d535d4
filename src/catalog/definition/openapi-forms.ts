// Owns forms to choose from (`anyOf`) in the subset of OpenAPI, where nothing may stand beside them: what does goes into
// each of them, and where that would say it many times over they become one.

import { showHidden } from '../../kernel/clean-text.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { limits } from '../../model/limits.ts';
import { annotations, type Draft, draftOf, mapParts, putNamed } from './keywords.ts';
import { merge, unite } from './merge.ts';
import { note, noteList } from './note.ts';
import { fitsType } from './openapi-plain.ts';

export interface Translating {
  readonly unread: (keyword: string) => void;
  /** Says in the subset what was merged of parts that are in it. */
  readonly again: (schema: JsonObject) => JsonObject;
}

/** What stands beside many forms is not repeated at more length than this. */
const MOST_REPEATED_CHARS = 2_500;

/** Whether anything was changed. */
export function anyOfAlone(draft: Draft, translating: Translating): boolean {
  if (!Array.isArray(draft['anyOf'])) return false;
  const { anyOf, ...beside } = draft as Draft & { readonly anyOf: readonly JsonObject[] };
  const forms = anyOf.flatMap(formsOf) as readonly JsonObject[];
  const real = forms.filter(({ type }) => type !== 'null');
  const isNullable = real.length < forms.length;
  if (real.length === 0) return replace(draft, { ...beside, type: 'null' });
  if (real.length > 1 && real.some(isOpen)) {
    delete draft['anyOf'];
    return true;
  }
  if (!isNullable && real.length > 1 && Object.keys(beside).length === 0) {
    draft['anyOf'] = forms.length === anyOf.length ? anyOf : forms;
    return forms.length !== anyOf.length;
  }
  const { type, nullable } = beside;
  const admitsNull = nullable === true || (isNullable && (type === undefined || type === 'null'));
  const whole = { beside, forms: real, admitsNull };
  if (real.length > 1 && isObjects(whole) && (real.every(isChoice) || isLong(whole)))
    return replace(draft, asOne(whole, translating));
  if (real.length === 1 || !isLong(whole)) return replace(draft, eachWith(whole, translating));
  translating.unread('anyOf');
  delete draft['anyOf'];
  return true;
}

export const formsOf = (form: JsonObject): readonly unknown[] =>
  Array.isArray(form['anyOf']) ? form['anyOf'] : [form];

export function replace(draft: Draft, by: JsonObject): true {
  for (const keyword of Object.keys(draft)) delete draft[keyword];
  Object.assign(draft, by);
  return true;
}

/** How many of them, from the first on, have together no more names than there is room for; the first has always. */
export function howManyFit(schemas: readonly JsonObject[]): number {
  let names = 0;
  const beyond = schemas.findIndex(({ properties }, at) => {
    names += isObject(properties) ? Object.keys(properties).length : 0;
    return at > 0 && names > limits.shownSchema.names;
  });
  return beyond < 0 ? schemas.length : beyond;
}

/** Parts that were merged may say together what neither said alone. */
export function settle(schema: JsonObject, { again }: Pick<Translating, 'again'>): JsonObject {
  return again(mapParts(schema, (part) => settle(part, { again })));
}

interface Choice {
  readonly beside: JsonObject;
  /** None of them is null alone, and none allows everything. */
  readonly forms: readonly JsonObject[];
  readonly admitsNull: boolean;
}

const isOpen = (form: JsonObject) => Object.keys(form).every((keyword) => annotations.has(keyword));

const isObjects = ({ beside: { type = 'object' }, forms }: Choice) =>
  type === 'object' && forms.every((form) => form['type'] === 'object') && howManyFit(forms) === forms.length;

/** It says only what is needed, and nothing of what that is. */
function isChoice({ type: _, required, properties, ...more }: JsonObject): boolean {
  const parts = isObject(properties) ? Object.values(properties) : [];
  return (
    required !== undefined && Object.keys(more).length === 0 && parts.every((each) => isObject(each) && isOpen(each))
  );
}

function isLong({ beside, forms }: Choice): boolean {
  const { type: _, ...own } = unannotated(beside);
  if (Object.keys(own).length === 0) return false;
  return JSON.stringify(own).length * (forms.length - 1) > MOST_REPEATED_CHARS;
}

function unannotated(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !annotations.has(keyword)));
}

/** What it says about itself it says once, in the first. */
function eachWith({ beside, forms, admitsNull }: Choice, translating: Translating): JsonObject {
  const [first = {}, ...others] = forms;
  const own = unannotated(beside);
  const head = draftOf(mergeForm(withWords(beside, first), first, translating));
  if (admitsNull && head['type'] !== undefined) head['nullable'] = true;
  if (others.length === 0) return head;
  const rest = others.map((form) => draftOf(mergeForm(own, form, translating)));
  for (const keyword of valued) moveToFitting(keyword, beside[keyword], [head, ...rest]);
  return { anyOf: [head, ...rest] };
}

function mergeForm(beside: JsonObject, form: JsonObject, translating: Translating): JsonObject {
  const { schema } = merge(beside, form);
  const isPlain = Object.keys(beside).every((keyword) => keyword === 'type' || annotations.has(keyword));
  return isPlain ? schema : settle(schema, translating);
}

/** They are a value, and one of another type is refused. */
export const valued = ['default', 'example'];

/** What stood beside all forms belongs to the first that it fits, and may fit none. */
function moveToFitting(keyword: string, value: unknown, [head = {}, ...rest]: readonly Draft[]): void {
  if (value === undefined || fitsType(value, head)) return;
  delete head[keyword];
  const fitting = rest.find((form) => fitsType(value, form));
  if (fitting !== undefined) fitting[keyword] = value;
}

/** Both descriptions, where both say something. Strangers wrote both, so one is not searched for within the other. */
function withWords(beside: JsonObject, form: JsonObject): JsonObject {
  const [outer, inner] = [beside['description'], form['description']];
  if (typeof outer !== 'string' || typeof inner !== 'string') return beside;
  if (outer.startsWith(inner) || outer.endsWith(inner)) return beside;
  return { ...beside, description: `${outer} ${inner}` };
}

/** Every property that any form has, needed where all need it. */
function asOne({ beside, forms, admitsNull }: Choice, translating: Translating): JsonObject {
  const united = unite(forms);
  const named = new Map<string, number>();
  for (const { properties } of forms)
    for (const name of isObject(properties) ? Object.keys(properties) : []) named.set(name, (named.get(name) ?? 0) + 1);
  const properties = draftOf();
  for (const [name, part] of Object.entries({ ...(united['properties'] as JsonObject) }))
    putNamed(properties, name, named.get(name) === forms.length ? part : inWords(part as JsonObject));
  const { schema } = merge({ ...beside, type: 'object' }, { ...united, type: 'object', nullable: true, properties });
  const one = draftOf(schema);
  if (admitsNull) one['nullable'] = true;
  if (forms.every(isChoice)) tellChoice(one, forms);
  else translating.unread('anyOf');
  return settle(one, translating);
}

/** The other forms allow anything under this name, so it is only told what it is for one of them. */
function inWords(part: JsonObject): JsonObject {
  const { description, ...rest } = part;
  const told = draftOf(typeof description === 'string' ? { description } : {});
  const written = JSON.stringify(rest);
  if (!isOpen(rest) && !written.includes('\\')) note(told, `Where it is wanted: ${written}`);
  return told;
}

function tellChoice(draft: Draft, forms: readonly JsonObject[]): void {
  const needed = forms.map(({ required }) => (required as readonly string[]).map(showHidden).join(' and '));
  noteList(draft, 'One of these is needed: ', needed, '; ');
}
