// Owns telling a healthy definition of a resource, a template or a prompt from a broken one. A broken one costs itself and
// never its neighbors.

import { hidesSomething } from '../../kernel/clean-text.ts';
import { deepFreeze, isObject, isWithin, type JsonObject } from '../../kernel/json.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import type { Prompt, PromptArgument, Resource, ResourceTemplate } from '../../model/offer.ts';

/** The definition, frozen, or why it is left out, in words for a person. */
export type Check<Item> = (item: unknown, server: ServerName) => Item | string;

/** What ends a line, or is no character at all. */
const BREAKS = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;
const isHidden = (text: string) => BREAKS.test(text) || hidesSomething(text);

/** A text of one visible line, no longer than that. */
export function isPlain(text: string, maxChars: number): boolean {
  return text !== '' && text.length <= maxChars && !isHidden(text);
}

export const checkResource: Check<Resource> = (item, server) => {
  const fault = faultOf(item, 'uri', limits.offers.uriChars);
  if (fault !== undefined) return `a resource was left out: ${fault}`;
  const { uri, size } = item as JsonObject & { readonly uri: string };
  const isSize = typeof size === 'number' && Number.isFinite(size) && size >= 0;
  return deepFreeze({ ...described(item as JsonObject, server, uri), ...typed(item), uri, ...(isSize && { size }) });
};

export const checkTemplate: Check<ResourceTemplate> = (item, server) => {
  const fault = faultOf(item, 'uriTemplate', limits.offers.uriChars);
  if (fault !== undefined) return `a resource template was left out: ${fault}`;
  const { uriTemplate } = item as JsonObject & { readonly uriTemplate: string };
  return deepFreeze({ ...described(item as JsonObject, server, uriTemplate), ...typed(item), uriTemplate });
};

export const checkPrompt: Check<Prompt> = (item, server) => {
  const fault = faultOf(item, 'name', limits.nameChars);
  if (fault !== undefined) return `a prompt was left out: ${fault}`;
  const { name, arguments: given } = item as JsonObject & { readonly name: string };
  const list = Array.isArray(given) ? given : [];
  if (list.length > limits.offers.arguments)
    return `the prompt "${name}" was left out: it has more than ${limits.offers.arguments} arguments`;
  return deepFreeze({ ...described(item as JsonObject, server, name), name, arguments: argumentsOf(list) });
};

/** What it is called by is sent back and shown: it must be a text of one visible line. */
function faultOf(item: unknown, key: string, maxChars: number): string | undefined {
  if (!isObject(item)) return 'it is not an object';
  const value = item[key];
  if (typeof value !== 'string' || value === '') return `it has no ${key}`;
  if (value.length > maxChars) return `its ${key} is longer than ${maxChars} characters`;
  if (isHidden(value)) return `its ${key} holds characters that cannot be seen`;
  return isSound(item) ? undefined : `the definition of "${value.slice(0, 100)}" is too deep, too large, or not JSON`;
}

/** A server within the host may hand over what no wire could have carried. */
function isSound(item: JsonObject): boolean {
  if (!isWithin(item, limits.definition)) return false;
  try {
    return JSON.stringify(item).length <= limits.offers.definitionChars;
  } catch {
    return false;
  }
}

function described(definition: JsonObject, server: ServerName, fallback: string) {
  const { name, title, description } = definition;
  return {
    server,
    name: typeof name === 'string' && name !== '' ? name : fallback,
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    definition,
  };
}

function typed(item: unknown): { mimeType?: string } {
  const mimeType = isObject(item) ? item['mimeType'] : undefined;
  return typeof mimeType === 'string' ? { mimeType } : {};
}

/** The first of a name counts; what has none cannot be given. */
function argumentsOf(list: readonly unknown[]): readonly PromptArgument[] {
  const found = new Map<string, PromptArgument>();
  for (const each of list) {
    const { name, description, required } = isObject(each) ? each : {};
    if (typeof name !== 'string' || name === '' || found.has(name)) continue;
    found.set(name, { name, ...(typeof description === 'string' && { description }), required: required === true });
  }
  return [...found.values()];
}
