// Owns reading the challenge of a 401 or 403: which scheme it wants, where the metadata lies, which scopes it names (RFC 6750,
// RFC 9728, RFC 9449). Pure.

import { limits } from '../model/limits.ts';

export interface Challenge {
  readonly scheme: 'Bearer' | 'DPoP';
  readonly resourceMetadata?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly error?: string | undefined;
}

const AUTH_PARAM = /([!#$%&'*+\-.^_`|~0-9A-Za-z]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g;

/** The first challenge whose scheme can be used; `undefined` where there is none. A server may send several in one header. */
export function challengeIn(header: string | readonly string[] | undefined): Challenge | undefined {
  const text = [header ?? []].flat().join(', ');
  // A scheme stands at the beginning or behind a comma, and no `=` follows it. What is quoted may look like one.
  const outline = text.replace(/"(?:[^"\\]|\\.)*"/g, (quoted) => `"${'_'.repeat(quoted.length - 2)}"`);
  const starts = [...outline.matchAll(/(?:^|,)\s*([A-Za-z][\w-]*)(?=\s+[^\s=,]|\s*$|\s*,)(?!\s*=)/g)];
  const challenges = starts.map((start, at) => ({
    scheme: (start[1] ?? '').toLowerCase(),
    text: text.slice(start.index + start[0].length, starts[at + 1]?.index),
  }));
  const found =
    challenges.find(({ scheme }) => scheme === 'dpop') ?? challenges.find(({ scheme }) => scheme === 'bearer');
  if (found === undefined) return undefined;
  const fields = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of found.text.matchAll(AUTH_PARAM))
    fields.set(name.toLowerCase(), quoted === undefined ? plain : quoted.replace(/\\(.)/g, '$1'));
  const scopes = scopesIn(fields.get('scope'));
  const named = fields.get('resource_metadata');
  return {
    scheme: found.scheme === 'dpop' ? 'DPoP' : 'Bearer',
    resourceMetadata: isWord(named) ? named : undefined,
    scopes: scopes.length === 0 ? undefined : scopes,
    error: fields.get('error'),
  };
}

/** A list of scopes as OAuth writes it. */
export function scopesIn(text: string | undefined): readonly string[] {
  return text?.split(/\s+/).filter(isWord) ?? [];
}

/**
 * Addresses and scopes are shown to a person who decides by them: one that breaks the line, hides a part of it, is endless, or has
 * letters that look like others is none. Both are ASCII (RFC 3986, RFC 6749).
 */
export const isWord = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= limits.login.wordChars && /^[\x21-\x7e]+$/.test(value);
