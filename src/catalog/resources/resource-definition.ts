// Owns checking the definitions of resources, templates and prompts. A broken definition is left out and reported; the others
// of its list stay.

import { hidesSomething } from '../../kernel/clean-text.ts';
import { deepFreeze, isObject, isWithin, type JsonObject } from '../../kernel/json.ts';
import { latePattern } from '../../kernel/late-pattern.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';
import type { Prompt, PromptArgument, Resource, ResourceTemplate } from '../../model/resource.ts';

/** Gives the definition, frozen, or why it is left out, as a sentence for a person. */
export type DefinitionCheck<Item> = (item: unknown, server: ServerName) => Item | string;

/** Line ends, control characters and lone surrogates. */
const LINE_BREAKS = latePattern(String.raw`[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]`, 'u');
const isHidden = (text: string) => LINE_BREAKS().test(text) || hidesSomething(text);

/** Whether the text is one visible line of at most `maxChars` characters. */
export function isPlain(text: string, maxChars: number): boolean {
  return text !== '' && text.length <= maxChars && !isHidden(text);
}

export const checkResource: DefinitionCheck<Resource> = (item, server) => {
  const fault = faultOf(item, 'uri', limits.resourceDefinition.uriChars);
  if (fault !== undefined) return `a resource was left out: ${fault}`;
  const { uri, size } = item as JsonObject & { readonly uri: string };
  const isSize = typeof size === 'number' && Number.isFinite(size) && size >= 0;
  return deepFreeze({ ...described(item as JsonObject, server, uri), ...typed(item), uri, ...(isSize && { size }) });
};

export const checkTemplate: DefinitionCheck<ResourceTemplate> = (item, server) => {
  const fault = faultOf(item, 'uriTemplate', limits.resourceDefinition.uriChars);
  if (fault !== undefined) return `a resource template was left out: ${fault}`;
  const { uriTemplate } = item as JsonObject & { readonly uriTemplate: string };
  return deepFreeze({ ...described(item as JsonObject, server, uriTemplate), ...typed(item), uriTemplate });
};

export const checkPrompt: DefinitionCheck<Prompt> = (item, server) => {
  const fault = faultOf(item, 'name', limits.nameChars);
  if (fault !== undefined) return `a prompt was left out: ${fault}`;
  const { name, arguments: declared } = item as JsonObject & { readonly name: string };
  const list = Array.isArray(declared) ? declared : [];
  if (list.length > limits.resourceDefinition.arguments)
    return `the prompt "${name}" was left out: it has more than ${limits.resourceDefinition.arguments} arguments`;
  return deepFreeze({ ...described(item as JsonObject, server, name), name, arguments: argumentsOf(list) });
};

/** The identifier under `key` is sent back to the server and shown to people: it must be one visible line. */
function faultOf(item: unknown, key: string, maxChars: number): string | undefined {
  if (!isObject(item)) return 'it is not an object';
  const value = item[key];
  if (typeof value !== 'string' || value === '') return `it has no ${key}`;
  if (value.length > maxChars) return `its ${key} is longer than ${maxChars} characters`;
  if (isHidden(value)) return `its ${key} holds characters that cannot be seen`;
  return isSound(item) ? undefined : `the definition of "${value.slice(0, 100)}" is too deep, too large, or not JSON`;
}

/** An in-process server may hand over values that JSON cannot carry. */
function isSound(item: JsonObject): boolean {
  if (!isWithin(item, limits.definition)) return false;
  try {
    return JSON.stringify(item).length <= limits.resourceDefinition.definitionChars;
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

/** Of two arguments with one name the first counts; an argument without a name cannot be filled in and is left out. */
function argumentsOf(list: readonly unknown[]): readonly PromptArgument[] {
  const found = new Map<string, PromptArgument>();
  for (const each of list) {
    const { name, description, required } = isObject(each) ? each : {};
    if (typeof name !== 'string' || name === '' || found.has(name)) continue;
    found.set(name, { name, ...(typeof description === 'string' && { description }), required: required === true });
  }
  return [...found.values()];
}
