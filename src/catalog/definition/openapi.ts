// Owns translating a schema into the subset of OpenAPI that the strictest providers accept: one type, `nullable`, enums of
// texts, `anyOf` with nothing beside it. What has no keyword there becomes a note in the description.

import { showHidden } from '../../kernel/clean-text.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { annotations, draftOf, mapParts, putNamed, type SchemaDraft } from './keywords.ts';
import { mergeAll } from './merge.ts';
import { note, noteList } from './note.ts';
import { anyOfAlone, formsOf, howManyFit, replace, settle, valued } from './openapi-forms.ts';
import { fitsType, isKnownFormat, isPlain, keywordsOfType, typedKeywords } from './openapi-plain.ts';
import type { Dialect } from './providers.ts';

/** Keywords outside the subset whose meaning can be expressed in it. */
const translated = new Set([
  'additionalItems',
  'additionalProperties',
  'allOf',
  'const',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'oneOf',
  'prefixItems',
]);

export function isTranslated(keyword: string, { keywords }: Dialect): boolean {
  return keywords === undefined || keywords.has(keyword) || translated.has(keyword);
}

type OnUnread = (keyword: string) => void;

/** The parts of `schema` are translated already. Gives the same object if the schema is in the subset too. */
export function toOpenApi(schema: JsonObject, unread: OnUnread): JsonObject {
  if (isPlain(schema)) return schema;
  const draft = draftOf(schema);
  let isSame = true;
  for (const step of steps) if (step(draft, unread)) isSame = false;
  return isSame ? schema : draft;
}

const againWith = (unread: OnUnread) => ({ again: (schema: JsonObject) => toOpenApi(schema, unread) });

/** Gives whether the draft changed. */
type TranslationStep = (draft: SchemaDraft, unread: OnUnread) => boolean;

const steps: readonly TranslationStep[] = [
  mergeParts,
  chooseAny,
  spellConst,
  spellNull,
  spellValues,
  spellBounds,
  spellTuple,
  spellMap,
  spellFormat,
  splitTypes,
  impliedType,
  onlyFitting,
  knownNames,
  (draft, unread) => anyOfAlone(draft, { unread, ...againWith(unread) }),
  needItems,
  dropUnfitting,
];

function mergeParts(draft: SchemaDraft, unread: OnUnread): boolean {
  const { allOf } = draft;
  if (!Array.isArray(allOf)) return false;
  delete draft['allOf'];
  const parts = [{ ...draft }, ...(allOf as readonly JsonObject[])];
  const few = parts.slice(0, howManyFit(parts));
  if (few.length < parts.length) unread('allOf');
  const { schema } = mergeAll(few);
  return replace(
    draft,
    mapParts(schema, (part) => settle(part, againWith(unread))),
  );
}

function chooseAny(draft: SchemaDraft, unread: OnUnread): boolean {
  const { oneOf, anyOf } = draft;
  if (oneOf === undefined) return false;
  delete draft['oneOf'];
  if (anyOf === undefined) draft['anyOf'] = oneOf;
  else unread('oneOf');
  return true;
}

function spellConst(draft: SchemaDraft): boolean {
  if (!Object.hasOwn(draft, 'const')) return false;
  const { const: value, enum: values } = draft;
  delete draft['const'];
  if (values === undefined) draft['enum'] = [value];
  return true;
}

/** In the subset null is neither a type beside others nor a value of an enum, but `nullable`. */
function spellNull(draft: SchemaDraft): boolean {
  const { type, enum: values } = draft;
  let isChanged = false;
  if (Array.isArray(type) && (type.length === 1 || type.includes('null'))) {
    const others = type.filter((each) => each !== 'null');
    draft['type'] = others.length === 0 ? 'null' : others.length === 1 ? others[0] : others;
    if (others.length > 0 && others.length < type.length) draft['nullable'] = true;
    isChanged = true;
  }
  if (!Array.isArray(values) || !values.includes(null)) return isChanged;
  const others = values.filter((each) => each !== null);
  if (others.length > 0) draft['enum'] = others;
  else delete draft['enum'];
  if (type === undefined && others.length === 0) draft['type'] = 'null';
  else if (type === undefined) draft['nullable'] = true;
  return true;
}

/** An enum in the subset holds only texts that are not empty; other values become a note. */
function spellValues(draft: SchemaDraft, unread: OnUnread): boolean {
  const { enum: values, type } = draft;
  if (!Array.isArray(values)) return false;
  const areTexts = values.every((each) => typeof each === 'string' && each !== '');
  if (areTexts && type === 'string') return false;
  if (areTexts && (type === undefined || (Array.isArray(type) && type.includes('string')))) {
    draft['type'] = 'string';
    return true;
  }
  delete draft['enum'];
  const written = values.map((each) => showHidden(JSON.stringify(each)));
  if (!noteList(draft, values.length > 1 ? 'One of: ' : 'Always: ', written)) unread('enum');
  if (type === undefined) inferType(draft, values);
  return true;
}

function inferType(draft: SchemaDraft, values: readonly unknown[]): void {
  const types = new Set(values.map((each) => (Array.isArray(each) ? 'array' : typeof each)));
  const [type] = types;
  if (types.size === 1 && type !== undefined) draft['type'] = type;
}

function spellBounds(draft: SchemaDraft): boolean {
  let isChanged = false;
  for (const [bound, limit, step] of [
    ['exclusiveMinimum', 'minimum', 1],
    ['exclusiveMaximum', 'maximum', -1],
  ] as const) {
    const value = draft[bound];
    if (typeof value !== 'number') continue;
    delete draft[bound];
    const isWhole = draft['type'] === 'integer' && Number.isSafeInteger(value);
    const inclusive = isWhole ? value + step : value;
    const own = draft[limit];
    draft[limit] = typeof own !== 'number' ? inclusive : step > 0 ? Math.max(own, inclusive) : Math.min(own, inclusive);
    if (!isWhole) note(draft, step > 0 ? `more than ${value}` : `less than ${value}`);
    isChanged = true;
  }
  return isChanged;
}

/** The subset has no tuples: an item may be any of the listed ones, and anything unless the tuple is closed. */
function spellTuple(draft: SchemaDraft): boolean {
  const { prefixItems, items, maxItems } = draft;
  delete draft['additionalItems'];
  if (!Array.isArray(prefixItems)) return false;
  delete draft['prefixItems'];
  const isClosed = typeof maxItems === 'number' && maxItems <= prefixItems.length;
  const all = isClosed ? prefixItems : [...prefixItems, items ?? {}];
  const distinct = [...new Map(all.map((each) => [JSON.stringify(each), each as JsonObject])).values()];
  const isOpen = distinct.some((each) => Object.keys(each).every((keyword) => annotations.has(keyword)));
  draft['items'] = isOpen ? {} : distinct.length === 1 ? distinct[0] : { anyOf: distinct.flatMap(formsOf) };
  return true;
}

/** The subset has no keyword for free keys, so a note tells the model of them. */
function spellMap(draft: SchemaDraft, unread: OnUnread): boolean {
  if (!Object.hasOwn(draft, 'additionalProperties')) return false;
  const { additionalProperties: rest } = draft;
  delete draft['additionalProperties'];
  if (!isObject(rest) || Object.keys(rest).length === 0) return true;
  const written = JSON.stringify(rest);
  note(draft, `Any other keys may be given; each value: ${written.includes('\\') ? (rest['type'] ?? 'any') : written}`);
  unread('additionalProperties');
  return true;
}

function spellFormat(draft: SchemaDraft): boolean {
  const { format, type } = draft;
  if (typeof format !== 'string') return false;
  if (isKnownFormat(format, type)) return false;
  delete draft['format'];
  if (format !== '' && type !== 'integer' && type !== 'number') note(draft, `format: ${format}`);
  return true;
}

function splitTypes(draft: SchemaDraft): boolean {
  const { type } = draft;
  if (!Array.isArray(type)) return false;
  delete draft['type'];
  if (draft['anyOf'] !== undefined) return true;
  const isNullable = draft['nullable'] === true;
  delete draft['nullable'];
  draft['anyOf'] = type.map((name: string, at) => {
    const form = draftOf({ type: name });
    for (const keyword of keywordsOfType[name] ?? []) if (draft[keyword] !== undefined) form[keyword] = draft[keyword];
    if (isNullable && at === 0) form['nullable'] = true;
    needItems(form);
    return form;
  });
  for (const keyword of typedKeywords) delete draft[keyword];
  return true;
}

/** A schema without a type gets the one that its keywords apply to: `properties` means an object. */
function impliedType(draft: SchemaDraft): boolean {
  if (draft['type'] !== undefined || draft['anyOf'] !== undefined) return false;
  const type = ['object', 'array', 'string', 'number'].find((each) =>
    keywordsOfType[each]?.some((keyword) => draft[keyword] !== undefined),
  );
  if (type === undefined) return false;
  draft['type'] = type;
  return true;
}

function onlyFitting(draft: SchemaDraft): boolean {
  const { type } = draft;
  let isChanged = false;
  for (const keyword of Object.keys(draft)) {
    if (!typedKeywords.has(keyword) || type === undefined || keywordsOfType[type as string]?.includes(keyword))
      continue;
    delete draft[keyword];
    isChanged = true;
  }
  return isChanged;
}

/** Every required name must be among the properties. */
function knownNames(draft: SchemaDraft): boolean {
  const { required, properties } = draft;
  if (!Array.isArray(required)) return false;
  const declared = isObject(properties) ? properties : {};
  const undeclared = required.filter((name: string) => !Object.hasOwn(declared, name));
  if (required.length === 0) delete draft['required'];
  if (undeclared.length === 0) return required.length === 0;
  const all = draftOf(declared);
  for (const name of undeclared) putNamed(all, name, {});
  draft['properties'] = all;
  return true;
}

function needItems(draft: SchemaDraft): boolean {
  if (draft['type'] !== 'array' || draft['items'] !== undefined) return false;
  draft['items'] = {};
  return true;
}

function dropUnfitting(draft: SchemaDraft): boolean {
  if (typeof draft['type'] !== 'string') return false;
  const unfitting = valued.filter((keyword) => draft[keyword] !== undefined && !fitsType(draft[keyword], draft));
  for (const keyword of unfitting) delete draft[keyword];
  return unfitting.length > 0;
}
