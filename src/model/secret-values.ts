// Owns telling a secret value from what documentation and code put in its place: a placeholder, a word, a version, a path.

import { commonPairs } from './letter-pairs.ts';

/** A value for readers to replace, a template variable, or a secret that was redacted already. */
export function isPlaceholder(value: string): boolean {
  return (
    /^[[<{]|^\$|^%[^%]*%$|\$\{|\$\(|\{\{|\.\.\.|…|\*{3}|#{4}/.test(value) ||
    /([xX*.•0_-])\1{7,}/.test(value) ||
    /^(?:your|my|insert|replace|enter|change|dummy|fake|sample|test|todo|env:|process\.env|os\.environ|import\.meta)(?![a-z0-9]{4})/i.test(
      value,
    ) ||
    /example|placeholder|redacted|changeme|(?:^|[-_ ])your[-_ ]|(?:your|access|put|here)[-_ ]?(?:api|token|key|secret|password)|[-_]here\b/i.test(
      value,
    ) ||
    /^x{3,}$/i.test(value)
  );
}

/** Words that documentation and schemas put where a secret belongs. */
const WORD =
  /^(?:string|text|none|null|nil|undefined|true|false|yes|no|required|optional|empty|bearer|basic|hidden|masked)$/i;

/** `my_password`, `api-token`, `userPass`: the words of a secret's name, in the place of the secret. */
export const isLabel = (value: string) => LABEL.test(value);

const LABEL =
  /^(?:(?:my|your|the|some|user|name|login|pass(?:w(?:or)?d|phrase)?|pwd|pw|secret|token|api|auth|access|client|key|id|value|db|database|default|new|old|current|encrypted|super)[-_. ]?)+$/i;

/** Under a name like `password`, a value is a secret unless it is a placeholder, an ordinary word or a reference. */
export function isPlausible(value: string, isQuoted: boolean): boolean {
  if (value.length < (isQuoted ? 4 : 6)) return false;
  if (!isQuoted && !/[\d!@#$%^&*~]/.test(value) && (!hasMixedCase(value) || hasWords(value))) return false;
  if (isPlaceholder(value) || WORD.test(value) || isLabel(value) || isReference(value)) return false;
  if (/^[\d.,]+$/.test(value)) return value.length >= 6;
  return !isQuoted || !/^[A-Z][A-Z_]*$/.test(value);
}

/** `config.db.password`, `getToken()`, `./key.pem`, `https://…`: says where the secret is and does not hold it. */
const isReference = (value: string) =>
  /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$|^[\w.$]+\(|^(?:\.{0,2}\/|~\/|[A-Za-z]:\\)|^\w+:\/\/[^@]*$|\.(?:pem|key|crt|cer|json|ya?ml|keytab|properties)$/.test(
    value,
  ) && !/^[\w-]{16,}\.[\w-]{16,}/.test(value);

const hasMixedCase = (value: string) => /[A-Z]/.test(value) && /[a-z][A-Z].*[a-z][A-Z]|[A-Z]{2}[a-z]+[A-Z]/.test(value);

const [LOWER, UPPER, DIGIT, OTHER] = [0, 1, 2, 3];
const CASED = (1 << LOWER) | (1 << UPPER);
const kinds = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 97 && code <= 122) return LOWER;
  if (code >= 65 && code <= 90) return UPPER;
  return code >= 48 && code <= 57 ? DIGIT : OTHER;
});
const kindOf = (code: number) => kinds[code] ?? OTHER;

/** Generated rather than thought up: letters and digits, or upper and lower case, alternate in one long part or throughout. */
export function looksRandom(value: string, shortest = 8): boolean {
  // The cheapest checks first: most values are words.
  if (value.length < shortest || changesIn(value) < 2 || hasWords(value)) return false;
  if (!isDense(value) && !hasJumbledPart(value)) return false;
  return entropyOf(value) >= LEAST_ENTROPY && !isInvented(value) && !isPlaceholder(value);
}

/**
 * Drawn by chance, as far as the value alone tells: for values under a name that says nothing. Digests and identifiers, which are
 * hexadecimal and in one case, are not meant; nor is the base64 of a text.
 */
export function isGenerated(value: string, shortest: number): boolean {
  const { length, changes, perChange } = mixtureOf(value);
  if (length < shortest || perChange === 0 || changes * perChange < length) return false;
  return entropyOf(value) >= LEAST_ENTROPY && !isEncodedText(value) && !isInvented(value) && !isPlaceholder(value);
}

const JUDGED_CHARS = 64;

interface Mixture {
  /** Of the letters and digits. */
  readonly length: number;
  /** How often the kind of character changes. */
  readonly changes: number;
  /** How many characters there may be per change; 0 where no number of changes is enough. */
  readonly perChange: number;
}

function mixtureOf(value: string): Mixture {
  const end = Math.min(value.length, JUDGED_CHARS);
  let [length, changes, before, seen, pairs, common, beyondHex] = [0, 0, OTHER, 0, 0, 0, 0];
  for (let at = 0; at < end; at++) {
    const code = value.charCodeAt(at);
    const kind = kindOf(code);
    if (kind === OTHER) continue;
    if (length > 0 && kind !== before && !(before === UPPER && kind === LOWER)) changes++;
    if (kind !== DIGIT && before !== DIGIT && length > 0) {
      pairs++;
      common += isCommonPair[((value.charCodeAt(at - 1) & 31) << 5) | (code & 31)] ?? 0;
    }
    if (kind !== DIGIT && (code & 31) > HEX_LETTERS) beyondHex++;
    length++;
    seen |= 1 << kind;
    before = kind;
  }
  // A token of hexadecimal digits has the pairs of words by chance: there are few letters.
  const isHex = beyondHex === 0 || (beyondHex === 1 && value.startsWith('0x'));
  if (!isHex && hasWordPairs(pairs, common)) return { length, changes, perChange: 0 };
  return { length, changes, perChange: leastChanges(seen, length, isHex) };
}

/** The fewer kinds of characters, the longer a value has to be: a word has two kinds easily. */
function leastChanges(seen: number, length: number, isHex: boolean): number {
  const isCased = (seen & CASED) === CASED;
  const hasDigits = (seen & (1 << DIGIT)) !== 0;
  if (isCased) return hasDigits ? 4 : length < 24 ? 0 : 6;
  return hasDigits && !isHex && length >= 20 ? 4 : 0;
}

/** One pair of letters in five is common where chance drew them, three in four in words. */
const hasWordPairs = (pairs: number, common: number) => pairs >= 10 && common > pairs * 0.45;

const HEX_LETTERS = 6;
const isCommonPair = new Uint8Array(1 << 10);
for (const pair of commonPairs) isCommonPair[((pair.charCodeAt(0) & 31) << 5) | (pair.charCodeAt(1) & 31)] = 1;

function hasWords(value: string): boolean {
  let [pairs, common, beyondHex] = [0, 0, 0];
  for (let at = 1; at < value.length; at++) {
    const [left, right] = [value.charCodeAt(at - 1), value.charCodeAt(at)];
    if (kindOf(left) > UPPER || kindOf(right) > UPPER) continue;
    if ((right & 31) > HEX_LETTERS) beyondHex++;
    pairs++;
    common += isCommonPair[((left & 31) << 5) | (right & 31)] ?? 0;
  }
  return beyondHex > 0 && hasWordPairs(pairs, common);
}

/** The first bytes that base64 stands for are those of a text; of a key, every second byte is beyond. */
function isEncodedText(value: string): boolean {
  const bytes = Buffer.from(value.slice(0, 24), 'base64');
  return bytes.length >= 12 && bytes.every((byte) => byte >= 0x20 && byte < 0x7f);
}

/** The alphabet, or all digits in order: a made-up token of a test. Cases may alternate, and letters be doubled: `aBcD`, `aAbB`. */
export function isInvented(value: string): boolean {
  let [steps, before] = [0, 0];
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at) | 32;
    if (code === before + 1) steps++;
    else if (code !== before) steps = 0;
    if (steps >= 9) return true;
    before = code;
  }
  return /1234567890/.test(value);
}

const PARTS = /[-_.:/|%\s]+/;
const LEAST_ENTROPY = 2.8;
const SHORTEST_PART = 8;
/** The common separators of `PARTS`. */
const separators = new Set([...'-_.:/|% \t\n'].map((sign) => sign.charCodeAt(0)));
const isSeparator = Uint8Array.from({ length: 128 }, (_, code) => (separators.has(code) ? 1 : 0));

const hasJumbledPart = (value: string) => hasLongPart(value) && value.split(PARTS).some(isJumbled);

/** Most values have no long part; this check spares them the split. */
function hasLongPart(value: string): boolean {
  let length = 0;
  for (let at = 0; at < value.length && length < SHORTEST_PART; at++)
    length = isSeparator[value.charCodeAt(at)] === 1 ? 0 : length + 1;
  return length >= SHORTEST_PART;
}

function isJumbled(part: string): boolean {
  if (part.length < SHORTEST_PART) return false;
  const changes = changesIn(part);
  // Words written in camel case change case too, but less often.
  return /\d/.test(part) ? changes >= Math.max(2, part.length / 10) : changes >= part.length / 5;
}

function isDense(value: string): boolean {
  if (!/\d/.test(value) || !/[a-z]/.test(value) || !/[A-Z]/.test(value)) return false;
  const { length } = value.replace(/[^A-Za-z0-9]/g, '');
  return length >= 12 && changesIn(value) >= length / 4;
}

/** How often the kind of character changes. A capital at the beginning of a word does not count, nor do signs. */
function changesIn(value: string): number {
  let changes = 0;
  let before = kindOf(value.charCodeAt(0));
  for (let at = 1; at < value.length; at++) {
    const kind = kindOf(value.charCodeAt(at));
    if (kind === OTHER) continue;
    if (kind !== before && !(before === UPPER && kind === LOWER)) changes++;
    before = kind;
  }
  return changes;
}

/** In bits per character. */
export function entropyOf(value: string): number {
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at) & 127;
    counts[code] = (counts[code] ?? 0) + 1;
  }
  let bits = 0;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at) & 127;
    const count = counts[code] ?? 0;
    if (count > 1) bits += count * Math.log2(count);
    counts[code] = 0;
  }
  return Math.log2(value.length) - bits / value.length;
}

/** All zero between two calls. */
const counts = new Uint32Array(128);
