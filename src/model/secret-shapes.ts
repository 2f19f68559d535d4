// Owns what a credential looks like, once for all who ask: the names that say so, and the shapes that providers gave their
// tokens so that they can be recognized. Which shapes those are is data, not code.

import table from '../../data/secret-shapes.json' with { type: 'json' };

export interface TokenShape {
  readonly name: string;
  /** What it begins with; where `before` is set, what stands behind its first `before` characters. */
  readonly starts: readonly string[];
  readonly before: number;
  /** Matches at the place of `starts` alone: enough of the token to know it, and all of it. */
  readonly head: RegExp;
  readonly whole: RegExp;
}

interface Row {
  readonly name: string;
  readonly starts: readonly string[];
  readonly rest: string;
  /** How `starts` is read where it is no literal text. */
  readonly read?: string;
  /** Case counts; otherwise people write it as they like. */
  readonly exact?: boolean;
  readonly before?: number;
  readonly prior?: string;
  /** Its beginning alone tells what it is. */
  readonly sure?: boolean;
}

const rows: readonly Row[] = table.tokens;

/** Services whose keys have no shape of their own: what is assigned to such a name, and looks random, is one. */
export const serviceNames: readonly string[] = table.services;

/** Compiled for whoever looks for them in text; few ever do. */
export function readTokenShapes(): readonly TokenShape[] {
  return rows.map(({ name, starts, before = 0, rest, ...row }) => ({
    ...{ name, starts, before },
    head: patternOf(starts, { ...row, rest: rest.replace(/\{(\d+),\}/g, `{$1,${HEAD_CHARS}}`) }),
    whole: patternOf(starts, { ...row, rest }),
  }));
}

const HEAD_CHARS = 512;

/** No letter or digit goes before it, unless that belongs to what stands for a line's end or for a sign in an address. */
const EDGE = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf]|%[0-9A-Fa-f]{2}))`;

function patternOf(starts: Row['starts'], { rest, read, exact, prior }: Omit<Row, 'name' | 'starts'>): RegExp {
  const start = read ?? `(?:${starts.map(literally).join('|')})`;
  return new RegExp(`${prior === undefined ? EDGE : `(?<=${EDGE}${prior})`}${start}${rest}`, exact ? 'y' : 'iy');
}

const literally = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** Whether a value that stands alone is a token. One that is cut short, or invented for a test, counts too. */
export function hasTokenShape(value: string): boolean {
  return (
    SIGNED.test(value) ||
    OWN_WORD.test(value) ||
    (BODY.test(value) && sureStarts.some((start) => value.startsWith(start)))
  );
}

const sureStarts = rows.filter(({ sure }) => sure).flatMap(({ starts }) => starts);
const BODY = /^[\w.-]{13,}$/;
const SIGNED = /^eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*$/;
/** `acme_pat_…`, `pk_live_…`, and one provider that puts nothing between. */
const OWN_WORD = /^(?:[a-z]+_pat_|pk_live_|pat[A-Za-z0-9]{10,}\.)[\w.-]{10,}$/;

/** The one answer to whether a name says that its value is a credential. */
export const isTelling = (name: string) =>
  /token|secret|passw|pwd|credential|key$|(^|[_-])keys?([_-]|$)|api_?-?key|(^|[_-])pat$|auth(?!or(?!i[sz]))|cookie|session/i.test(
    name,
  );
