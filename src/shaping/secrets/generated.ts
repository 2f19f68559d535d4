// Owns finding tokens of providers that no table knows: long values that a program drew by chance. One is a secret behind a short
// prefix (`acme_pat_…`), where it is assigned to a name that is not that of a hash, an identifier or a place, and within a sentence.
// Hashes and identifiers are told by their form: hexadecimal, in one case. The cheapest checks come first, since nearly every long
// word of a text is none.

import { type Slices, STEP_UNITS } from '../../kernel/slices.ts';
import { isIdentifierName, isTokenPrefix } from '../../model/secret-shapes.ts';
import { isGenerated } from '../../model/secret-values.ts';
import type { SecretSpan } from './spans.ts';

/** The shortest stretch of letters, digits, `_` and `-` that is looked at, and the shortest value under a name. */
const SHORTEST = 14;
/** The shortest value that is a token without a name, and without a prefix that says so. */
const SHORTEST_UNNAMED = 28;
const SHORTEST_DIGEST = 32;
/** Longer values are data: pictures, signatures, pages. */
const LONGEST = 320;

const NONE: readonly SecretSpan[] = [];

/**
 * In the order of the text. What begins like the token of a known provider has been judged by that provider's row, and is left
 * alone here: `isKnownStart`.
 */
export function* generatedInSlices(
  text: string,
  isKnownStart: (value: string) => boolean,
): Slices<readonly SecretSpan[]> {
  let found: SecretSpan[] | undefined;
  let from = 0;
  let pausedAt = 0;
  // Looking at every fourteenth character is enough to find the long stretches.
  for (let at = SHORTEST - 1; at < text.length; at = from + SHORTEST - 1) {
    if (from - pausedAt >= STEP_UNITS) {
      yield from - pausedAt;
      pausedAt = from;
    }
    let begin = at;
    while (begin >= from && isOfRun(text.charCodeAt(begin))) begin--;
    if (begin >= from) {
      from = begin + 1;
      continue;
    }
    if (isHash(text, from)) {
      from = endOfValue(text, at) + 1;
      continue;
    }
    const run = runFrom(text, from);
    const runEnd = Math.abs(run);
    if (run < 0) {
      from = runEnd + 1;
      continue;
    }
    const start = startOfValue(text, from);
    const end = endOfValue(text, runEnd);
    const rule = ruleFor(text, start, end, isKnownStart);
    if (rule !== undefined) {
      found ??= [];
      found.push({ rule, start, end });
    }
    from = end + 1;
  }
  return found ?? NONE;
}

/** The same for a value of data, whose name is certain. */
export const isAssignedToken = (name: string, value: string) =>
  WHOLE.test(value) && !isIdentifierName(name) && isGenerated(value, SHORTEST) && !isPlace(value);

const WHOLE = new RegExp(`^[\\w+/.~|%=-]{${SHORTEST},${LONGEST}}$`);

/**
 * The end of the stretch; negative where it is no token. Words, numbers, digests and names in camel case, nearly all of a text, are
 * told at once.
 */
function runFrom(text: string, from: number): number {
  let [seen, changes, length, before, end] = [0, 0, 0, 0, from];
  for (; end < text.length; end++) {
    const kind = kinds[text.charCodeAt(end)] ?? 0;
    if (kind === 0) break;
    if (kind === SIGN) continue;
    length++;
    seen |= kind;
    const general = kind & ~BEYOND_HEX;
    if (general !== before && before !== 0 && !(before === UPPER && general === LOWER)) changes++;
    before = general;
  }
  const isCased = (seen & LOWER) !== 0 && (seen & UPPER) !== 0;
  const isDigest = !isCased && (seen & BEYOND_HEX) === 0;
  return !isDigest && changes * 8 >= length && changes > 2 ? end : -end;
}

function startOfValue(text: string, runStart: number): number {
  let start = runStart;
  while (start > 0 && runStart - start < LONGEST && isOfValue(text.charCodeAt(start - 1))) start--;
  return start;
}

function endOfValue(text: string, runEnd: number): number {
  let end = runEnd;
  while (end < text.length && isOfEnd(text.charCodeAt(end))) end++;
  while (end > runEnd && text.charCodeAt(end - 1) === DOT) end--;
  return end;
}

function ruleFor(
  text: string,
  start: number,
  end: number,
  isKnownStart: (value: string) => boolean,
): string | undefined {
  if (end - start > LONGEST || isHash(text, start) || isPlaceSign(text.charCodeAt(start - 1))) return undefined;
  const name = nameBefore(text, start);
  if (name !== undefined && isIdentifierName(name)) return undefined;
  const value = text.slice(start, end);
  const rule = ruleOf(value, name !== undefined, () => isInSentence(text, start, end));
  return rule === undefined || isPlace(value) || isCutOff(text, end) || isKnownStart(value) ? undefined : rule;
}

function ruleOf(value: string, isNamed: boolean, isInText: () => boolean): string | undefined {
  PREFIX.lastIndex = 0;
  const prefix = PREFIX.test(value) ? value.slice(0, PREFIX.lastIndex) : '';
  if (prefix !== '' && isPrefixed(prefix, value.slice(prefix.length))) return 'prefixed-token';
  if (isNamed) return isGenerated(value, SHORTEST) ? 'assigned-token' : undefined;
  return value.length >= SHORTEST_UNNAMED && isInText() && isGenerated(value, SHORTEST_UNNAMED)
    ? 'mentioned-token'
    : undefined;
}

/** `acme_`, `acme-pat-`, `acme_v1_`: what providers put before a token, so that programs recognize it. */
const PREFIX = /[a-z][a-z\d]{0,11}[_-](?:(?:[a-z]{2,8}\d{0,2}|v\d)[_.-]){0,2}/iy;

/** A prefix that says "key" needs less behind it. Behind a prefix that names what is identified, all is an identifier. */
function isPrefixed(prefix: string, body: string): boolean {
  const shortest = isTokenPrefix(prefix) ? SHORTEST : SHORTEST_UNNAMED;
  if (body.length < shortest || isIdentifierName(prefix) || /xx/i.test(prefix)) return false;
  return isGenerated(body, shortest) || (body.length >= SHORTEST_DIGEST && DIGEST.test(body));
}

const DIGEST = /^(?:[a-f\d]+|[A-F\d]+)$/;

/** The name that the value is assigned to, in code, JSON, YAML, a query or a command line. */
function nameBefore(text: string, start: number): string | undefined {
  const least = Math.max(0, start - MOST_SIGNS);
  let at = start - 1;
  let isAssigned = false;
  for (; at >= least && isOfAssignment(text.charCodeAt(at)); at--) {
    const sign = text[at];
    if (sign === '=' || sign === ':' || sign === '>' || (sign === '|' && text[at - 1] === '|')) isAssigned = true;
    // In a list only a quoted text, or one behind `=`, counts.
    if (sign === ',' && at < start - 1) isAssigned = true;
  }
  if (!isAssigned) return undefined;
  const nameEnd = at + 1;
  while (at >= 0 && nameEnd - at <= NAME_CHARS && isOfName(text.charCodeAt(at))) at--;
  const name = text.slice(at + 1, nameEnd);
  return /[a-z]/i.test(name) ? name : undefined;
}

const MOST_SIGNS = 14;
const NAME_CHARS = 64;

/** `sha512-…`, the form of a package's integrity. */
const isHash = (text: string, start: number) => text.startsWith('sha', start) && isDigit(text.charCodeAt(start + 3));

/** `abc..[Redacted]`, `abc***`, `abc<…>`: what follows stands for the rest of the value. */
function isCutOff(text: string, end: number): boolean {
  const at = text[end] === '.' ? end + 1 : end;
  return at < text.length && '.…[*<{$#'.includes(text.charAt(at));
}

/** `please use … for this`. Alone on its line, or within code, a value without a name is rather data. */
const isInSentence = (text: string, start: number, end: number) =>
  /[a-z]{2},? ["'`]?$/i.test(text.slice(Math.max(0, start - 6), start)) &&
  /^["'`]?[.,;!?]*(?:\s|$)/.test(text.slice(end, end + 4));

/** A path, an address or the name of a file: a random-looking part of it is an identifier. */
const isPlace = (value: string) =>
  /^[./~]|\.[a-z][a-z\d]{1,4}$|(?:^|\/)[A-Za-z]{3,}[\w-]*\/|\/[A-Za-z]{2,}(?:[-_][A-Za-z]+)*(?:\/|$)/.test(value);

const [LOWER, UPPER, DIGIT, SIGN, BEYOND_HEX] = [1, 2, 4, 8, 16];
const tableOf = (numberOf: (sign: string) => number) =>
  Uint8Array.from({ length: 128 }, (_, code) => numberOf(String.fromCharCode(code)));
const kinds = tableOf((sign) => {
  if (/[a-z]/.test(sign)) return sign > 'f' ? LOWER | BEYOND_HEX : LOWER;
  if (/[A-Z]/.test(sign)) return sign > 'F' ? UPPER | BEYOND_HEX : UPPER;
  if (/\d/.test(sign)) return DIGIT;
  return /[_-]/.test(sign) ? SIGN : 0;
});
const setOf = (signs: RegExp) => tableOf((sign) => (signs.test(sign) ? 1 : 0));
const ofValue = setOf(/[\w+/.~%-]/);
const ofEnd = setOf(/[\w+/.~|%=-]/);
const ofName = setOf(/[\w.-]/);
const ofAssignment = setOf(/[=:>?|,"'`\\\])\t ]/);

const isOfRun = (code: number) => (kinds[code] ?? 0) !== 0;
const isOfValue = (code: number) => ofValue[code] === 1;
const isOfEnd = (code: number) => ofEnd[code] === 1;
const isOfName = (code: number) => ofName[code] === 1;
const isOfAssignment = (code: number) => ofAssignment[code] === 1;
const isDigit = (code: number) => kinds[code] === DIGIT;
const DOT = '.'.charCodeAt(0);
/** `@` before a value is that of a package or an address, `#` that of a color or a part of a page. */
const isPlaceSign = (code: number) => code === 64 || code === 35;
