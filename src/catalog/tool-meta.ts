// Owns what a host learns of a tool besides its name and schema: its server, and the labels that the server gives it.

import { isObject } from '../kernel/json.ts';
import type { QualifiedName, ToolId } from '../model/names.ts';
import type { ToolAnnotations, ToolDefinition, ToolMeta, ToolRef } from '../model/tool.ts';

/** Servers put labels into `_meta`, annotations or the definition itself; the first of these with a usable value counts. */
export function metaOf(definition: ToolDefinition, { server }: ToolId): ToolMeta {
  const annotations = annotationsOf(definition.annotations);
  const places = [definition['_meta'], definition.annotations, definition].filter(isObject);
  const find = <Value>(words: readonly string[], read: (value: unknown) => Value | undefined): Value | undefined => {
    for (const place of places) {
      for (const [key, value] of Object.entries(place)) {
        const found = words.includes(lastWord(key)) ? read(value) : undefined;
        if (found !== undefined) return found;
      }
    }
    return undefined;
  };
  const title = textOf(definition.title) ?? annotations.title;
  const category = find(['category'], textOf);
  const tags = find(['tags', 'keywords'], tagsOf);
  const version = find(['version'], versionOf);
  return Object.freeze({
    server,
    ...(title !== undefined && { title }),
    ...(category !== undefined && { category }),
    ...(tags !== undefined && { tags }),
    ...(version !== undefined && { version }),
    annotations,
  });
}

/** A key of `_meta` may have a vendor's prefix: `com.example/category`. */
const lastWord = (key: string) => key.slice(key.lastIndexOf('/') + 1).toLowerCase();

const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** Only hints that are booleans: the text "true" is no promise. */
function annotationsOf(annotations: unknown): ToolAnnotations {
  if (!isObject(annotations)) return none;
  const title = textOf(annotations['title']);
  const booleans = hints.flatMap((hint) => (typeof annotations[hint] === 'boolean' ? [[hint, annotations[hint]]] : []));
  return Object.freeze({ ...(title !== undefined && { title }), ...Object.fromEntries(booleans) });
}

const none: ToolAnnotations = Object.freeze({});

/** Longer values are text to read and no label. */
const LONGEST_LABEL = 200;
const MOST_TAGS = 50;

function textOf(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' ? undefined : text.slice(0, LONGEST_LABEL);
}

const versionOf = (value: unknown) => textOf(typeof value === 'number' ? String(value) : value);

/** A list, or a text with commas. */
function tagsOf(value: unknown): readonly string[] | undefined {
  const listed = typeof value === 'string' ? value.slice(0, LONGEST_LABEL * MOST_TAGS).split(',') : value;
  if (!Array.isArray(listed)) return undefined;
  const tags = listed.slice(0, MOST_TAGS).flatMap((each: unknown) => textOf(each) ?? []);
  return tags.length === 0 ? undefined : Object.freeze([...new Set(tags)]);
}

/** A tool that only an app may call (`_meta.ui.visibility`) is of no use to a model. */
export function isForModels({ _meta: meta }: ToolDefinition): boolean {
  const ui = isObject(meta) ? meta['ui'] : undefined;
  const visibility = isObject(ui) ? ui['visibility'] : undefined;
  return !Array.isArray(visibility) || visibility.includes('model');
}

/** `{server}` in the prefix stands for the server's name. */
export function prefixed(description: string, prefix: string, { server }: ToolId): string {
  if (prefix === '') return description;
  const beginning = prefix.replaceAll('{server}', () => server);
  return description === '' ? beginning.trimEnd() : beginning + description;
}

/** Every tool that its server calls `tool`, sorted by server: several servers may use the same name. */
export function findByToolName(
  tools: readonly { readonly id: ToolId; readonly name: QualifiedName }[],
  tool: string,
): readonly ToolRef[] {
  return tools
    .filter(({ id }) => id.tool === tool)
    .map(({ id, name }) => ({ server: id.server, tool: id.tool, name }))
    .sort((a, b) => (a.server < b.server ? -1 : 1));
}
