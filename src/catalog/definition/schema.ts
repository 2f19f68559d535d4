// Owns reading one input schema as its server sent it: references inlined, malformed keywords left out, older drafts
// rewritten. The result may allow more than the original and never less; remarks tell what was loosened.

import { cleanText, hidesAnything, hidesSomething } from '../../kernel/clean-text.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { limits } from '../../model/limits.ts';
import {
  annotations,
  draftOf,
  isWellFormed,
  type KeywordKind,
  kindOf,
  putNamed,
  type SchemaDraft,
  typeNameOf,
} from './keywords.ts';
import { merge } from './merge.ts';
import { bounds, lacksItems, spellBound, spellTuple } from './older-drafts.ts';
import { isTranslated, toOpenApi } from './openapi.ts';
import { type Dialect, isPortablePattern } from './providers.ts';
import { isRemote, type Reference, References, referenceIn } from './refs.ts';
import type { Remarks } from './remarks.ts';
import { finishRoot, flattenRoot } from './root.ts';

export interface ReadResult {
  readonly schema: JsonObject;
  /** Parts were left out because references made the schema grow without end. */
  readonly overgrown: boolean;
}

/** `nesting` is how many references may lie within each other. */
export function readSchema(root: JsonObject, dialect: Dialect, remarks: Remarks, nesting: number): ReadResult {
  const reader = new SchemaReader(root, dialect, remarks, nesting);
  return { schema: reader.visitRoot(root), overgrown: reader.overgrown };
}

const open: JsonObject = Object.freeze({});
const never: JsonObject = Object.freeze({ not: open });

export const hiddenIn = 'hidden characters were taken out of its texts';
const keptHidden = 'hidden characters are shown where its server wants them';
const hidingText = 'not shown, because it holds hidden characters';
const partlyShown = 'not shown, because a part of it cannot be';
const malformed = 'not shown, because it is malformed';
const tooMany = 'parts of its schema are shown without detail: there are too many';

class SchemaReader {
  readonly #dialect: Dialect;
  readonly #remarks: Remarks;
  readonly #nesting: number;
  readonly #references: References;
  /** The targets that are being inlined, from the outside in. */
  readonly #active: unknown[];
  #base: unknown;
  #partsLeft: number = limits.shownSchema.parts;
  #inlinedLeft: number = limits.shownSchema.inlined;
  #repeatedLeft: number = limits.shownSchema.repeatedChars;
  /** The targets that were followed already, with their length once it is known. */
  readonly #followed = new Map<unknown, number | undefined>();
  /** Counts every change that lets a part allow more than before. */
  #loosened = 0;

  constructor(root: JsonObject, dialect: Dialect, remarks: Remarks, nesting: number) {
    this.#dialect = dialect;
    this.#remarks = remarks;
    this.#nesting = nesting;
    this.#references = new References(root);
    this.#active = [root];
    this.#base = root;
  }

  get overgrown(): boolean {
    return this.#inlinedLeft < limits.shownSchema.inlined && this.#partsLeft < 0;
  }

  visitRoot(root: JsonObject): JsonObject {
    const flat = flattenRoot(this.visit(root, true), this.#dialect, this.#remarks);
    return finishRoot(this.#translate(flat), this.#dialect, this.#remarks);
  }

  /** The root is not translated here but last, when its forms have been merged. */
  visit(schema: unknown, isRoot = false): JsonObject {
    if (schema === true) return open;
    if (schema === false) return this.#dialect.keywords === undefined ? never : this.#loosen(open);
    if (!isObject(schema)) {
      this.#remarks.say('a part of its schema is not shown: it is no schema');
      return this.#loosen(open);
    }
    if (--this.#partsLeft < 0 || (this.#active.length > 1 && --this.#inlinedLeft < 0)) {
      this.#partsLeft = -1;
      this.#remarks.say(tooMany);
      return this.#loosen(open);
    }
    const base = this.#base;
    if (typeof schema['$id'] === 'string') this.#base = schema;
    const reference = referenceIn(schema);
    const read = reference === undefined ? this.#read(schema, isRoot) : this.#inline(reference, schema, isRoot);
    this.#base = base;
    return isRoot ? read : this.#translate(read);
  }

  #translate(schema: JsonObject): JsonObject {
    return this.#dialect.keywords === undefined
      ? schema
      : toOpenApi(schema, (keyword) => this.#remarks.sayOf(keyword, this.#unread));
  }

  get #unread(): string {
    return `not shown, because ${this.#dialect.refusal}`;
  }

  #loosen<Value>(value: Value): Value {
    this.#loosened++;
    return value;
  }

  #inline({ keyword, address }: Reference, schema: JsonObject, isRoot: boolean): JsonObject {
    const target = this.#follow(address, isRoot);
    const { [keyword]: _, ...beside } = schema;
    if (Object.keys(beside).every((each) => kindOf.get(each) === 'address')) return target;
    const { schema: merged, isExact } = merge(this.visit(beside, isRoot), target);
    if (!isExact) this.#loosened++;
    return merged;
  }

  #follow(address: string, isRoot: boolean): JsonObject {
    const found = this.#references.find(address, this.#base);
    if (found === undefined) {
      this.#remarks.sayOf(
        address,
        isRemote(address) ? 'not followed, because it leads out of its schema' : 'a reference leads nowhere',
      );
      return this.#loosen(open);
    }
    const { target } = found;
    const before = this.#active.filter((each) => each === target).length;
    const refersToItself = before >= limits.shownSchema.recursions;
    if (refersToItself || this.#active.length > this.#nesting || !this.#hasRoomFor(target)) {
      this.#remarks.say(refersToItself ? 'its schema refers to itself and is shown to a small depth' : tooMany);
      return this.#loosen(shellOf(target));
    }
    const base = this.#base;
    this.#base = found.base;
    this.#active.push(target);
    const inlined = this.visit(target, isRoot);
    this.#active.pop();
    this.#base = base;
    return inlined;
  }

  /** The first inlining of a target adds nothing to what was sent; a long target behind many references would be repeated. */
  #hasRoomFor(target: unknown): boolean {
    if (!this.#followed.has(target)) {
      this.#followed.set(target, undefined);
      return true;
    }
    const chars = this.#followed.get(target) ?? JSON.stringify(target).length;
    this.#followed.set(target, chars);
    if (chars > this.#repeatedLeft) return false;
    this.#repeatedLeft -= chars;
    return true;
  }

  #read(schema: JsonObject, isRoot: boolean): JsonObject {
    const loosened = this.#loosened;
    const keywords = Object.keys(schema);
    let draft: SchemaDraft | undefined;
    let needsMending = false;
    for (const keyword of keywords) {
      const value = schema[keyword];
      const next = this.#keyword(keyword, value, schema, isRoot);
      if (next !== value) draft ??= readBefore(schema, keyword);
      if (draft !== undefined && next !== undefined) draft[keyword] = next;
      needsMending ||= mended.has(keyword) || (keyword === 'type' && this.#dialect.needsItems && lacksItems(schema));
    }
    if (!needsMending) return draft ?? schema;
    const result = draft ?? draftOf(schema);
    const isSame = this.#mend(result, schema, this.#loosened !== loosened);
    return isSame && draft === undefined ? schema : result;
  }

  /** Gives false: the draft is no longer the same as the schema. */
  #without(draft: SchemaDraft, keyword: string): false {
    delete draft[keyword];
    this.#loosened++;
    return false;
  }

  /** The shown value of a keyword; `undefined` leaves it out. */
  #keyword(keyword: string, value: unknown, schema: JsonObject, isRoot: boolean): unknown {
    const kind = kindOf.get(keyword);
    if (kind === undefined || !isTranslated(keyword, this.#dialect)) return this.#extension(keyword, value, kind);
    if (!isWellFormed(kind, value)) return this.#leaveOut(keyword);
    switch (kind) {
      case 'reference':
      case 'address':
        return undefined;
      case 'text':
        return keyword === '$schema' ? undefined : this.#text(value as string);
      case 'pattern':
        return this.#pattern(keyword, value as string);
      case 'type':
        return this.#type(value);
      case 'names':
        return this.#names(keyword, value as readonly unknown[]);
      case 'values':
      case 'value':
        return this.#values(keyword, value);
      case 'schemas':
        return this.#forms(keyword, value as readonly unknown[], schema, isRoot);
      default:
        return this.#parts(kind, keyword, value, schema);
    }
  }

  #parts(kind: KeywordKind, keyword: string, value: unknown, schema: JsonObject): unknown {
    switch (kind) {
      case 'schema':
        return this.#delicate(keyword, value, schema);
      case 'schema or flag':
        return typeof value === 'boolean' ? value : this.visit(value);
      case 'items':
        return Array.isArray(value) ? this.#list(value) : value === false ? value : this.visit(value);
      case 'named schemas':
      case 'patterned schemas':
      case 'dependencies':
        return this.#named(kind, value as JsonObject);
      default:
        return value;
    }
  }

  #leaveOut(keyword: string, why = malformed): undefined {
    this.#remarks.sayOf(keyword, why);
    if (!annotations.has(keyword)) this.#loosened++;
    return undefined;
  }

  /** A keyword outside JSON Schema, or one that the provider does not know. With hidden characters it is dropped, not cleaned. */
  #extension(keyword: string, value: unknown, kind: KeywordKind | undefined): unknown {
    if (kind === 'address' || kind === 'reference' || keyword === '__proto__' || silent.has(keyword)) return undefined;
    if (this.#dialect.keywords !== undefined) return this.#leaveOut(keyword, this.#unread);
    if (!hidesAnything(value) && !hidesSomething(keyword)) return value;
    this.#remarks.sayOf(keyword, hidingText);
    return undefined;
  }

  #text(value: string): unknown {
    const { text, found } = cleanText(value);
    for (const kind of found) this.#remarks.sayOf(kind, hiddenIn);
    return found.length > 0 || text !== value ? text : value;
  }

  #pattern(keyword: string, value: string): unknown {
    if (isPortablePattern(value, this.#dialect)) return value;
    return this.#leaveOut(keyword, this.#unread);
  }

  #type(value: unknown): unknown {
    if (typeof value === 'string' && typeNameOf(value) === value) return value;
    const words = Array.isArray(value) ? value : [value];
    const names = words.map(typeNameOf);
    if (names.length === 0 || names.includes(undefined)) return this.#leaveOut('type');
    const unique = [...new Set(names)];
    if (unique.length === words.length && unique.every((name, at) => name === words[at])) return value;
    return unique.length === 1 ? unique[0] : unique;
  }

  #names(keyword: string, value: readonly unknown[]): unknown {
    if (value.length <= FEW && value.every((each, at) => typeof each === 'string' && value.indexOf(each) === at))
      return value;
    const distinct = new Set(value);
    const names = [...distinct].filter((each) => typeof each === 'string');
    if (names.length < distinct.size) this.#leaveOut(keyword);
    if (names.length > limits.shownSchema.names) {
      this.#remarks.say(tooMany);
      return this.#loosen(names.slice(0, limits.shownSchema.names));
    }
    return names.length === value.length ? value : names;
  }

  /** The server needs these values unchanged, so hidden characters stay in them, and a remark says so. */
  #values(keyword: string, value: unknown): unknown {
    if (hidesAnything(value)) {
      if (annotations.has(keyword)) return this.#leaveOut(keyword, hidingText);
      this.#remarks.sayOf(keyword, keptHidden);
    }
    if (keyword !== 'enum') return value;
    const texts = new Set(value as readonly unknown[]);
    return texts.size === (value as readonly unknown[]).length ? value : [...texts];
  }

  /** In keywords such as `not`, a looser inner schema makes the outer one stricter: they stay only if read exactly. */
  #delicate(keyword: string, value: unknown, schema: JsonObject): unknown {
    const inIf = keyword === 'then' || keyword === 'else';
    if (inIf && !Object.hasOwn(schema, 'if')) return undefined;
    const loosened = this.#loosened;
    const read = this.visit(value);
    if (this.#loosened === loosened || inIf || keyword === 'propertyNames' || keyword === 'contentSchema') return read;
    if (keyword === 'contains' && !Object.hasOwn(schema, 'maxContains')) return read;
    return this.#leaveOut(keyword, partlyShown);
  }

  #list(value: readonly unknown[], isRoot = false): readonly unknown[] {
    const read = value.map((each) => this.visit(each, isRoot));
    return read.every((each, at) => each === value[at]) ? value : read;
  }

  /** Loosened forms may overlap, so `oneOf` becomes `anyOf`. */
  #forms(keyword: string, value: readonly unknown[], schema: JsonObject, isRoot: boolean): unknown {
    const loosened = this.#loosened;
    const read = this.#list(value, isRoot && keyword !== 'prefixItems');
    if (keyword !== 'oneOf' || this.#loosened === loosened) return read;
    this.#loosened++;
    return Object.hasOwn(schema, 'anyOf') ? this.#leaveOut(keyword, partlyShown) : { anyOf: read };
  }

  #named(kind: KeywordKind, value: JsonObject): unknown {
    const read = draftOf();
    let isSame = true;
    for (const name of Object.keys(value)) {
      const part = value[name];
      if (hidesSomething(name)) this.#remarks.sayOf(name, keptHidden);
      if (kind === 'patterned schemas' && !isPortablePattern(name, this.#dialect)) {
        isSame = false;
        this.#leaveOut('patternProperties', this.#unread);
        continue;
      }
      const next = Array.isArray(part) ? part : this.visit(part);
      if (next !== part) isSame = false;
      putNamed(read, name, next);
    }
    return isSame ? value : read;
  }

  /** Rewrites older drafts, and drops keywords that depend on one that was left out. Gives whether nothing changed. */
  #mend(draft: SchemaDraft, schema: JsonObject, isLooser: boolean): boolean {
    let isSame = true;
    const { oneOf, items } = draft;
    if (isObject(oneOf)) {
      delete draft['oneOf'];
      draft['anyOf'] = oneOf['anyOf'];
    }
    for (const keyword of ['then', 'else'])
      if (Object.hasOwn(draft, keyword) && !Object.hasOwn(draft, 'if')) isSame = this.#without(draft, keyword);
    for (const [bound, limit] of bounds)
      if (typeof draft[bound] === 'boolean') isSame = spellBound(draft, bound, limit);
    if (Array.isArray(items) || items === false) isSame = spellTuple(draft);
    for (const keyword of isLooser ? ['unevaluatedProperties', 'unevaluatedItems'] : [])
      if (Object.hasOwn(draft, keyword)) isSame = this.#without(draft, keyword);
    if (this.#dialect.needsItems && lacksItems(draft)) {
      draft['items'] = open;
      isSame = false;
    }
    const isMissingNames = ['properties', 'patternProperties'].some((each) => namesLost(each, draft, schema));
    if (isMissingNames && Object.hasOwn(draft, 'additionalProperties'))
      isSame = this.#without(draft, 'additionalProperties');
    return isSame;
  }
}

const FEW = 16;

/** The keywords that `#mend` may rewrite or drop. */
const mended = new Set([
  'oneOf',
  'then',
  'else',
  'items',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'unevaluatedProperties',
  'unevaluatedItems',
  'additionalProperties',
]);

/** The keywords before `until`: all of them are shown unchanged. */
function readBefore(schema: JsonObject, until: string): SchemaDraft {
  const draft = draftOf();
  for (const keyword of Object.keys(schema)) {
    if (keyword === until) break;
    draft[keyword] = schema[keyword];
  }
  return draft;
}

/** Dropped without a remark: they tell a model nothing. Google refuses `$schema` even where it takes JSON Schema. */
const silent = new Set(['$schema', '$comment']);

/** All that is shown of a part that lies too deep: its type, if it has a single one. */
function shellOf(target: unknown): JsonObject {
  const type = isObject(target) ? typeNameOf(target['type']) : undefined;
  return type === undefined ? open : type === 'array' ? { type, items: open } : { type };
}

function namesLost(keyword: string, draft: SchemaDraft, schema: JsonObject): boolean {
  const [now, then] = [draft[keyword], schema[keyword]];
  if (then === undefined || now === then) return false;
  return !isObject(now) || !isObject(then) || Object.keys(now).length < Object.keys(then).length;
}
