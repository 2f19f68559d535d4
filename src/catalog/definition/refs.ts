// Owns resolving a reference within a schema. Only the schema itself is searched: nothing is ever fetched.

import { isObject, type JsonObject } from '../../kernel/json.ts';

export interface Reference {
  readonly keyword: string;
  readonly address: string;
}

const referenceKeywords = ['$ref', '$dynamicRef', '$recursiveRef'];

export function referenceIn(schema: JsonObject): Reference | undefined {
  for (const keyword of referenceKeywords) {
    const address = schema[keyword];
    if (typeof address === 'string') return { keyword, address };
  }
  return undefined;
}

export const isRemote = (address: string) => !address.startsWith('#');

export interface ResolvedReference {
  readonly target: unknown;
  /** References within the target are relative to this part. */
  readonly base: unknown;
}

/** Real addresses are shorter; each one is followed at every place where it stands. */
const MOST_ADDRESS_CHARS = 1_000;

export class References {
  readonly #root: unknown;
  #named: Map<string, unknown> | undefined;

  constructor(root: unknown) {
    this.#root = root;
  }

  /** `base` is the nearest enclosing part with an `$id`, or the root. */
  find(address: string, base: unknown): ResolvedReference | undefined {
    if (address.length > MOST_ADDRESS_CHARS) return undefined;
    if (address === '#' || address.startsWith('#/')) {
      const target = follow(base, address);
      return target === undefined ? undefined : { target, base };
    }
    this.#named ??= namesIn(this.#root);
    const target = this.#named.get(address);
    return target === undefined ? undefined : { target, base: target };
  }
}

function follow(base: unknown, pointer: string): unknown {
  let within = base;
  for (const token of pointer.split('/').slice(1)) {
    const key = keyOf(token);
    if (key === undefined || typeof within !== 'object' || within === null || !Object.hasOwn(within, key))
      return undefined;
    within = (within as JsonObject)[key];
  }
  return within;
}

function keyOf(token: string): string | undefined {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

function namesIn(root: unknown): Map<string, unknown> {
  const named = new Map<string, unknown>();
  const open: unknown[] = [root];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (typeof each !== 'object' || each === null) continue;
    if (isObject(each)) {
      for (const keyword of ['$anchor', '$dynamicAnchor'])
        if (typeof each[keyword] === 'string') named.set(`#${each[keyword]}`, each);
      for (const keyword of ['$id', 'id']) if (typeof each[keyword] === 'string') named.set(each[keyword], each);
    }
    for (const part of Object.values(each)) if (part !== null && part !== undefined) open.push(part);
  }
  return named;
}
