// Owns the text in which a model reads lists of resources and prompts: one line per item, which no server can turn into two.

import { compareKeys, cursorPageOf } from '../catalog/resources/cursor-page.ts';
import { cleanText } from '../kernel/clean-text.ts';
import type { JsonObject } from '../kernel/json.ts';
import { oneLine } from '../kernel/one-line.ts';
import type { BuiltinAnswer } from '../model/builtin.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';

export const textAnswer = (text: string): BuiltinAnswer => ({ content: [{ type: 'text', text }] });

export function namedServer({ server }: JsonObject): ServerName | undefined {
  return typeof server === 'string' && server !== '' ? server : undefined;
}

export interface ItemFacts {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
}

/** `- note://a (server "notes", "Name", text/plain, 12 bytes): what it is` */
export function itemLine(address: string, server: ServerName, item: ItemFacts): string {
  const { title, name, description, mimeType, size } = item;
  const label = shown(title ?? name);
  const facts = [
    `server "${server}"`,
    ...(label === '' || label === address ? [] : [`"${label}"`]),
    ...(mimeType === undefined ? [] : [shown(mimeType)]),
    ...(size === undefined ? [] : [`${size} bytes`]),
  ];
  const described = description === undefined ? '' : shown(description);
  return `- ${address} (${facts.join(', ')})${described === '' ? '' : `: ${described}`}`;
}

/** A server's text without hidden characters, on one line, cut where it is long. */
export const shown = (text: string): string => oneLine(cleanText(text).text, limits.listShown.descriptionChars);

/** The facts for the structured answer, as clean and as short as in the line: a program may hand them to a model. */
export function shownFacts({ name, title, description, mimeType, size }: ItemFacts): ItemFacts {
  return {
    name: shown(name),
    ...(title !== undefined && { title: shown(title) }),
    ...(description !== undefined && { description: shown(description) }),
    ...(mimeType !== undefined && { mimeType: shown(mimeType) }),
    ...(size !== undefined && { size }),
  };
}

/** The parameters of a tool that lists. */
export const listParameters = {
  type: 'object',
  properties: {
    server: { type: 'string', description: 'Only those of this server.' },
    cursor: { type: 'string', description: 'Of the previous answer, unchanged, for the next page.' },
  },
} as const;

export interface ListPageOptions<Item> {
  readonly cursor: unknown;
  readonly keyOf: (item: Item) => readonly string[];
  readonly lineOf: (item: Item) => string;
  /** The structured answer: the items of this page under their key. */
  readonly structured: (items: readonly Item[]) => JsonObject;
}

/** One page of a list, and the cursor of the next one. */
export function listPage<Item>(all: readonly Item[], options: ListPageOptions<Item>): BuiltinAnswer {
  const { keyOf, lineOf, structured } = options;
  const sorted = [...all].sort((a, b) => compareKeys(keyOf(a), keyOf(b)));
  const { items: limit, chars } = limits.listShown;
  const cursor = typeof options.cursor === 'string' ? options.cursor : undefined;
  const room = { chars, charsOf: (item: Item) => lineOf(item).length };
  const { items, nextCursor } = cursorPageOf(sorted, { keyOf, cursor, limit, room });
  const more = nextCursor === undefined ? [] : [`There are more. Go on with the cursor: ${nextCursor}`];
  return {
    ...textAnswer([`${all.length} in all, ${items.length} here:`, ...items.map(lineOf), ...more].join('\n')),
    structured: { ...structured(items), ...(nextCursor !== undefined && { nextCursor }) },
  };
}

/** Explains an empty list: the server that was asked for, and the servers that have some. */
export function emptyListText(kind: string, server: ServerName | undefined, having: readonly ServerName[]): string {
  const others = having.filter((name) => name !== server);
  const where = server === undefined ? '' : ` on server "${server}"`;
  if (server === undefined || others.length === 0) return `There are no ${kind}${where}.`;
  return `There are no ${kind}${where}. Servers that have some: ${others.join(', ')}.`;
}
