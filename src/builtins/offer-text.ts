// Owns how a model reads of resources and prompts: a line each, which no server can make into two.

import { compare, pageOf } from '../catalog/resources/paging.ts';
import { cleanText } from '../kernel/clean-text.ts';
import type { JsonObject } from '../kernel/json.ts';
import { oneLine } from '../kernel/one-line.ts';
import type { BuiltinAnswer } from '../model/builtin.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';

export const text = (said: string): BuiltinAnswer => ({ content: [{ type: 'text', text: said }] });

export function namedServer({ server }: JsonObject): ServerName | undefined {
  return typeof server === 'string' && server !== '' ? server : undefined;
}

export interface OfferAbout {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
}

/** `- note://a (server "notes", "Name", text/plain, 12 bytes): what it is` */
export function aboutOffer(address: string, server: ServerName, about: OfferAbout): string {
  const { title, name, description, mimeType, size } = about;
  const called = shown(title ?? name);
  const facts = [
    `server "${server}"`,
    ...(called === '' || called === address ? [] : [`"${called}"`]),
    ...(mimeType === undefined ? [] : [shown(mimeType)]),
    ...(size === undefined ? [] : [`${size} bytes`]),
  ];
  const told = description === undefined ? '' : shown(description);
  return `- ${address} (${facts.join(', ')})${told === '' ? '' : `: ${told}`}`;
}

export const shown = (said: string): string => oneLine(cleanText(said).text, limits.offersShown.descriptionChars);

/** What is said about it, for a program that may hand it to a model: as clean and as short as the line. */
export function aboutShown({ name, title, description, mimeType, size }: OfferAbout): OfferAbout {
  return {
    name: shown(name),
    ...(title !== undefined && { title: shown(title) }),
    ...(description !== undefined && { description: shown(description) }),
    ...(mimeType !== undefined && { mimeType: shown(mimeType) }),
    ...(size !== undefined && { size }),
  };
}

export const cursorParameter = {
  type: 'string',
  description: 'Where to go on: the cursor of the answer before, as it is.',
};

export interface Listing<Item> {
  readonly cursor: unknown;
  readonly keyOf: (item: Item) => readonly string[];
  readonly lineOf: (item: Item) => string;
  /** What a program is given: the items of this page under their name. */
  readonly structured: (items: readonly Item[]) => JsonObject;
}

/** One page of a list, and how to see the next one. */
export function listPage<Item>(all: readonly Item[], listing: Listing<Item>): BuiltinAnswer {
  const { keyOf, lineOf, structured } = listing;
  const sorted = [...all].sort((a, b) => compare(keyOf(a), keyOf(b)));
  const { items: limit, chars } = limits.offersShown;
  const cursor = typeof listing.cursor === 'string' ? listing.cursor : undefined;
  const room = { chars, charsOf: (item: Item) => lineOf(item).length };
  const { items, nextCursor } = pageOf(sorted, { keyOf, cursor, limit, room });
  const more = nextCursor === undefined ? [] : [`There are more. Go on with the cursor: ${nextCursor}`];
  return {
    ...text([`${all.length} in all, ${items.length} here:`, ...items.map(lineOf), ...more].join('\n')),
    structured: { ...structured(items), ...(nextCursor !== undefined && { nextCursor }) },
  };
}

/** An empty list is explained: who was asked for, and who would have had some. */
export function nothingThere(what: string, server: ServerName | undefined, having: readonly ServerName[]): string {
  const others = having.filter((name) => name !== server);
  const whose = server === undefined ? '' : ` on server "${server}"`;
  if (server === undefined || others.length === 0) return `There are no ${what}${whose}.`;
  return `There are no ${what}${whose}. Servers that have some: ${others.join(', ')}.`;
}
