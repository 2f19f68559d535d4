// Owns the root of a shown schema: the arguments are one object, without `anyOf`, `oneOf` and `allOf`, and every parameter has
// a name that the model's provider accepts.

import { showHidden } from '../../kernel/clean-text.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { draftOf, type SchemaDraft } from './keywords.ts';
import { merge, mergeAll, unite } from './merge.ts';
import { note, noteList } from './note.ts';
import type { Dialect } from './providers.ts';
import type { Remarks } from './remarks.ts';

const formKeywords = ['allOf', 'anyOf', 'oneOf'];

/** No provider accepts forms at the root. In the merged object a parameter is required if all forms require it, and allowed if one has it. */
export function flattenRoot(root: JsonObject, { notAtRoot, refusal }: Dialect, remarks: Remarks): JsonObject {
  const flat = flatten(root, remarks);
  const refused = notAtRoot.filter((keyword) => Object.hasOwn(flat, keyword));
  if (flat['type'] === 'object' && refused.length === 0) return flat;
  const draft = draftOf(flat);
  draft['type'] = 'object';
  delete draft['nullable'];
  for (const keyword of refused) {
    delete draft[keyword];
    remarks.sayOf(keyword, `not shown at the root, because ${refusal}`);
  }
  return draft;
}

function flatten(schema: JsonObject, remarks: Remarks): JsonObject {
  if (!formKeywords.some((keyword) => Array.isArray(schema[keyword]))) return schema;
  const { allOf, anyOf, oneOf, type: _, ...own } = schema;
  const parts = partsOf(allOf).map((part) => withoutType(flatten(part, remarks)));
  const { schema: merged, isExact } = mergeAll([own, ...parts]);
  if (!isExact) remarks.say('the parts of its arguments (allOf) are shown as one');
  let flat = merged;
  for (const [keyword, forms] of Object.entries({ anyOf, oneOf })) {
    const objects = partsOf(forms).filter(canBeObject);
    if (objects.length === 0) continue;
    const branches = objects.map((each) => withoutType(flatten(each, remarks)));
    const draft = draftOf(merge(flat, unite(branches)).schema);
    if (branches.every(isChoice)) note(draft, choiceOf(keyword, branches));
    remarks.say(`the forms that its arguments may have (${keyword}) are shown as one`);
    flat = draft;
  }
  return flat;
}

const partsOf = (parts: unknown): readonly JsonObject[] => (Array.isArray(parts) ? parts.filter(isObject) : []);
const withoutType = ({ type: _, nullable: __, ...rest }: JsonObject): JsonObject => rest;
const canBeObject = ({ type }: JsonObject) =>
  type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'));
const isChoice = (branch: JsonObject) => Object.keys(branch).every((keyword) => keyword === 'required');

function choiceOf(keyword: string, branches: readonly JsonObject[]): string {
  const choices = branches.map(({ required }) => (Array.isArray(required) ? required.join(' and ') : 'none'));
  return `${keyword === 'oneOf' ? 'Exactly' : 'At least'} one of these is needed: ${choices.join('; ')}`;
}

/** Runs last, when everything else that the provider could refuse is gone. */
export function finishRoot(root: JsonObject, dialect: Dialect, remarks: Remarks): JsonObject {
  const named = dialect.parameterName === undefined ? root : nameable(root, dialect.parameterName, dialect, remarks);
  if (!dialect.needsProperties || isObject(named['properties'])) return named;
  return { ...named, properties: {} };
}

/** A parameter whose name the provider refuses can still be passed, so the description tells the model of it. */
function nameable(root: JsonObject, pattern: RegExp, { refusal }: Dialect, remarks: Remarks): JsonObject {
  const { properties, required } = root;
  const needed = new Set(Array.isArray(required) ? (required as readonly string[]) : []);
  const names = isObject(properties) ? Object.keys(properties) : [];
  const refused = names.filter((name) => !pattern.test(name));
  if (refused.length === 0) return root;
  const draft = draftOf(root);
  const kept = draftOf(properties as JsonObject);
  for (const name of refused) {
    delete kept[name];
    remarks.sayOf(name, `not listed as a parameter because of its name, as ${refusal}`);
  }
  draft['properties'] = kept;
  if (needed.size > 0) draft['required'] = [...needed].filter((name) => pattern.test(name));
  if (draft['additionalProperties'] !== true) delete draft['additionalProperties'];
  tellOf(draft, refused, needed);
  return draft;
}

function tellOf(draft: SchemaDraft, refused: readonly string[], needed: ReadonlySet<string>): void {
  const byNeed = [...refused.filter((name) => needed.has(name)), ...refused.filter((name) => !needed.has(name))];
  const words = byNeed
    .filter((name) => name.length <= 64)
    .map((name) => `${showHidden(JSON.stringify(name))}${needed.has(name) ? ' (needed)' : ''}`);
  noteList(draft, 'Can also be given, under exactly these names: ', words);
}
