// Owns how a model reads of resources and prompts: a line each, which no server can make into two.

import { cleanText } from '../catalog/definition/clean-text.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { BuiltinAnswer } from '../model/builtin.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { oneLine } from './one-line.ts';

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

/** An empty list is explained: who was asked for, and who would have had some. */
export function nothingThere(what: string, server: ServerName | undefined, having: readonly ServerName[]): string {
  const others = having.filter((name) => name !== server);
  const whose = server === undefined ? '' : ` on server "${server}"`;
  if (server === undefined || others.length === 0) return `There are no ${what}${whose}.`;
  return `There are no ${what}${whose}. Servers that have some: ${others.join(', ')}.`;
}
