// Owns shrinking a schema to its limit: first descriptions get shorter, then examples, defaults and titles go, then deep parts
// are shown without detail, and at last only parameter names are left. Every step allows more and never less.

import { isObject, type JsonObject } from '../../kernel/json.ts';
import { limits } from '../../model/limits.ts';
import { cutBytes } from './cut-bytes.ts';
import { annotations, draftOf, kindOf, mapParts, putNamed, type SchemaDraft } from './keywords.ts';
import type { Remarks } from './remarks.ts';

export interface SchemaNeeds {
  readonly bytes: number;
  /** Whether an array must have `items`, also one that is shown without detail. */
  readonly needsItems: boolean;
}

export function reduceSchema(schema: JsonObject, needs: SchemaNeeds, remarks: Remarks): JsonObject {
  let bytes = bytesOf(schema);
  if (bytes <= needs.bytes) return schema;
  let reduced = schema;
  for (const { step, remark } of stages) {
    const before = bytes;
    reduced = step(reduced, needs);
    bytes = bytesOf(reduced);
    if (remark !== undefined && bytes < before) remarks.say(remark);
    if (bytes <= needs.bytes) return reduced;
    const cut = shorten(reduced, bytes, needs.bytes);
    if (cut === undefined) continue;
    remarks.say('descriptions within its schema are cut: it is too large');
    return cut;
  }
  return namesOnly(reduced, needs, remarks);
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

interface ReduceStage {
  step(schema: JsonObject, needs: SchemaNeeds): JsonObject;
  readonly remark?: string;
}

/** After each stage descriptions are cut; if that is enough, the later stages are skipped. */
const stages: readonly ReduceStage[] = [
  { step: (schema) => schema },
  { step: unexplained, remark: 'examples, defaults and titles are not shown: its schema is too large' },
  { step: withoutLongLists, remark: 'long lists of values are not shown: its schema is too large' },
  { step: prune, remark: 'what lies deep in its schema is shown without detail: it is too large' },
  { step: undescribed, remark: 'descriptions within its schema are not shown: it is too large' },
];

/** Cuts all descriptions to one length, the longest that fits, so that the longest lose most. `undefined` if no length fits. */
function shorten(schema: JsonObject, bytes: number, most: number): JsonObject | undefined {
  const lengths: number[] = [];
  visitParts(schema, ({ description }) => {
    if (typeof description === 'string') lengths.push(bytesOf(description));
  });
  const saved = (length: number) => lengths.reduce((sum, each) => sum + Math.max(0, each - length - 2), 0);
  const longest = lengths.reduce((most, each) => Math.max(most, each), 0);
  // JSON may escape more of the remaining text than estimated: then a little more is cut.
  for (let wanted = bytes - most; saved(limits.partDescriptionBytes) >= wanted; ) {
    const cut = describedIn(schema, lengthThat(saved, wanted, longest));
    const over = bytesOf(cut) - most;
    if (over <= 0) return cut;
    wanted += over;
  }
  return undefined;
}

/** The longest length that saves at least `wanted` bytes. */
function lengthThat(saved: (length: number) => number, wanted: number, longest: number): number {
  let low: number = limits.partDescriptionBytes;
  let high = Math.max(low, longest);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (saved(middle) >= wanted) low = middle;
    else high = middle - 1;
  }
  return low;
}

function visitParts(schema: JsonObject, visit: (part: JsonObject) => void): void {
  visit(schema);
  mapParts(schema, (part) => visitParts(part, visit));
}

function describedIn(schema: JsonObject, length: number): JsonObject {
  const draft = mapParts(schema, (part) => describedIn(part, length));
  const { description } = draft;
  if (typeof description === 'string') draft['description'] = cutBytes(description, length);
  return draft;
}

function unexplained(schema: JsonObject): JsonObject {
  const draft = mapParts(schema, unexplained);
  for (const keyword of Object.keys(draft))
    if (keyword !== 'description' && (annotations.has(keyword) || !isKnown(keyword))) delete draft[keyword];
  return draft;
}

const isKnown = (keyword: string) => kindOf.has(keyword);

const LONG_LIST_BYTES = 512;

function withoutLongLists(schema: JsonObject): JsonObject {
  const draft = mapParts(monotone(schema), withoutLongLists);
  for (const keyword of ['enum', 'const'])
    if (Object.hasOwn(draft, keyword) && bytesOf(draft[keyword]) > LONG_LIST_BYTES) delete draft[keyword];
  return draft;
}

/** From this stage on parts allow more; keywords that would then make the whole stricter have to go. */
function monotone(schema: JsonObject): JsonObject {
  const { oneOf, ...rest } = schema;
  const draft = draftOf(rest);
  for (const keyword of delicate) delete draft[keyword];
  if (oneOf !== undefined && draft['anyOf'] === undefined) draft['anyOf'] = oneOf;
  return draft;
}

const delicate = [
  'not',
  'if',
  'then',
  'else',
  'contains',
  'minContains',
  'maxContains',
  'unevaluatedItems',
  'unevaluatedProperties',
];

/** Short descriptions, and as much of each part as there is room for; without any room, later stages decide. */
function prune(schema: JsonObject, needs: SchemaNeeds): JsonObject {
  const short = describedIn(schema, limits.partDescriptionBytes);
  const bare = mapParts(short, () => ({}));
  return bytesOf(bare) > needs.bytes ? short : prunedTo(needs.bytes, short, needs);
}

function prunedTo(room: number, schema: JsonObject, needs: SchemaNeeds): JsonObject {
  if (bytesOf(schema) <= room) return schema;
  const sizes = new Map<JsonObject, number>();
  const bare = mapParts(schema, (part) => {
    sizes.set(part, bytesOf(part));
    return {};
  });
  const left = room - bytesOf(bare);
  if (left < 0 || sizes.size === 0) return shellWithin(room, schema, needs);
  const shares = shareOut(left, sizes);
  const pruned = mapParts(schema, (part) => prunedTo(shares.get(part) ?? 0, part, needs));
  // If one form allows everything, `anyOf` restricts nothing.
  if (Array.isArray(pruned['anyOf']) && pruned['anyOf'].some(isOpen)) delete pruned['anyOf'];
  return pruned;
}

const isOpen = (form: JsonObject) => Object.keys(form).every((keyword) => annotations.has(keyword));

/** Small parts keep their full size; the large ones share the rest equally. */
function shareOut(room: number, sizes: ReadonlyMap<JsonObject, number>): Map<JsonObject, number> {
  const shares = new Map<JsonObject, number>();
  let left = room;
  let waiting = sizes.size;
  for (const [part, size] of [...sizes].sort(([, a], [, b]) => a - b)) {
    const share = Math.min(size, Math.floor(left / waiting) + 2);
    shares.set(part, share);
    left = Math.max(0, left - Math.max(0, share - 2));
    waiting--;
  }
  return shares;
}

/** As much of the schema's own keywords as there is room for. */
function shellWithin(room: number, schema: JsonObject, needs: SchemaNeeds): JsonObject {
  const shell = shellOf(schema, needs);
  const { description: _, ...silent } = shell;
  const typed = draftOf();
  for (const keyword of ['type', 'nullable', 'items'])
    if (shell[keyword] !== undefined) typed[keyword] = shell[keyword];
  return [shell, silent, typed].find((each) => bytesOf(each) <= room) ?? {};
}

/** The schema's own keywords, without its parts. */
function shellOf(schema: JsonObject, { needsItems }: SchemaNeeds): JsonObject {
  const draft = draftOf();
  for (const keyword of Object.keys(schema)) if (!holdsParts(keyword)) draft[keyword] = schema[keyword];
  if (needsItems && schema['items'] !== undefined) draft['items'] = {};
  return draft;
}

const partKinds = [
  'schema',
  'schema or flag',
  'items',
  'schemas',
  'named schemas',
  'patterned schemas',
  'dependencies',
];

function holdsParts(keyword: string): boolean {
  const kind = kindOf.get(keyword);
  return (kind !== undefined && partKinds.includes(kind)) || keyword === 'required' || keyword === 'dependentRequired';
}

function undescribed(schema: JsonObject, needs: SchemaNeeds): JsonObject {
  const { properties } = schema;
  const draft = envelopeOf(schema);
  const parts = draftOf();
  for (const [name, part] of Object.entries(isObject(properties) ? properties : {})) {
    const { description: _, ...shell } = isObject(part) ? shellOf(part, needs) : {};
    putNamed(parts, name, shell);
  }
  draft['properties'] = parts;
  if (schema['required'] !== undefined) draft['required'] = schema['required'];
  return draft;
}

function envelopeOf({ description, additionalProperties }: JsonObject): SchemaDraft {
  const draft = draftOf({ type: 'object' });
  if (typeof description === 'string') draft['description'] = cutBytes(description, limits.partDescriptionBytes);
  if (additionalProperties !== undefined) draft['additionalProperties'] = true;
  return draft;
}

/** The last resort: the names of required parameters, then as many others as fit. */
function namesOnly(schema: JsonObject, { bytes: most }: SchemaNeeds, remarks: Remarks): JsonObject {
  const draft = envelopeOf(schema);
  const { properties, required } = schema;
  const all = isObject(properties) ? Object.keys(properties) : [];
  const needed = new Set(Array.isArray(required) ? (required as readonly string[]) : []);
  let left = most - bytesOf(draft) - bytesOf({ properties: {}, required: [] });
  const [shown, shownNeeded] = [draftOf(), [] as string[]];
  for (const name of [...all.filter((each) => needed.has(each)), ...all.filter((each) => !needed.has(each))]) {
    const bytes = bytesOf(name);
    const cost = bytes + ':{},'.length + (needed.has(name) ? bytes + 1 : 0);
    if (cost > left) continue;
    left -= cost;
    putNamed(shown, name, {});
    if (needed.has(name)) shownNeeded.push(name);
  }
  draft['properties'] = shown;
  if (shownNeeded.length > 0) draft['required'] = shownNeeded;
  const missing = all.length - Object.keys(shown).length;
  remarks.say(
    missing === 0
      ? 'only the names of its parameters are shown: its schema is too large'
      : `${missing} of its ${all.length} parameters are not shown: its schema is too large`,
  );
  return draft;
}
