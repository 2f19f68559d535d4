// Owns telling a secret value from what documentation and code put in its place: a placeholder, a word, a version, a path.

/** A value for readers to replace, a template variable, or a secret that was redacted already. */
export function isPlaceholder(value: string): boolean {
  return (
    /^[[<{]|^\$|^%[^%]*%$|\$\{|\$\(|\{\{|\.\.\.|…|\*{3}|#{4}/.test(value) ||
    /([xX*.•0_-])\1{7,}/.test(value) ||
    /^(?:your|my|insert|replace|enter|change|dummy|fake|sample|test|todo|env:|process\.env|os\.environ|import\.meta)(?![a-z0-9]{4})/i.test(
      value,
    ) ||
    /example|placeholder|redacted|changeme|(?:your|access|put|here)[-_ ]?(?:api|token|key|secret|password)|[-_]here\b/i.test(
      value,
    ) ||
    /^x{3,}$/i.test(value)
  );
}

/** Words that documentation and schemas put where a secret belongs. */
const WORD =
  /^(?:string|text|password|passwd|pass|secret|token|key|none|null|nil|undefined|true|false|yes|no|required|optional|empty|bearer|basic)$/i;

/** Under a name like `password`, a value is a secret unless it is a placeholder, an ordinary word or a reference. */
export function isPlausible(value: string, isQuoted: boolean): boolean {
  if (value.length < (isQuoted ? 4 : 6)) return false;
  if (!isQuoted && !/[\d!@#$%^&*~]/.test(value) && !hasMixedCase(value)) return false;
  if (isPlaceholder(value) || WORD.test(value) || isReference(value)) return false;
  if (/^[\d.,]+$/.test(value)) return value.length >= 6;
  return !isQuoted || !/^[A-Z][A-Z_]*$/.test(value);
}

/** `config.db.password`, `getToken()`, `./key.pem`, `https://…`: says where the secret is and does not hold it. */
const isReference = (value: string) =>
  /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$|^[\w.$]+\(|^(?:\.{0,2}\/|~\/|[A-Za-z]:\\)|^\w+:\/\/[^@]*$|\.(?:pem|key|crt|cer|json|ya?ml|keytab|properties)$/.test(
    value,
  ) && !/^[\w-]{16,}\.[\w-]{16,}/.test(value);

const hasMixedCase = (value: string) => /[A-Z]/.test(value) && /[a-z][A-Z].*[a-z][A-Z]|[A-Z]{2}[a-z]+[A-Z]/.test(value);

/** Generated rather than thought up: letters and digits, or upper and lower case, alternate in one long part or throughout. */
export function looksRandom(value: string, shortest = 8): boolean {
  // The cheapest check first: most values are words.
  if (value.length < shortest || changesIn(value) < 2 || !(isDense(value) || hasJumbledPart(value))) return false;
  return entropyOf(value) >= LEAST_ENTROPY && !isInvented(value) && !isPlaceholder(value);
}

/** The alphabet, or all digits in order: a made-up token of a test. */
export const isInvented = (value: string) => /abcdefghij|ABCDEFGHIJ|1234567890|0123456789/.test(value);

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
    if (kind === 3) continue;
    if (kind !== before && !(before === 1 && kind === 0)) changes++;
    before = kind;
  }
  return changes;
}

/** 0 lower, 1 upper, 2 digit, 3 other. */
const kinds = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 97 && code <= 122) return 0;
  if (code >= 65 && code <= 90) return 1;
  return code >= 48 && code <= 57 ? 2 : 3;
});
const kindOf = (code: number) => kinds[code] ?? 3;

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
