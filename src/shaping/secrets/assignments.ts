// Owns where in a text a name ends and the value assigned to it begins. Which names announce a secret is answered by
// `model/secret-shapes`.

export interface Assignment {
  readonly name: string;
  readonly start: number;
  /** The quote that closes the value; empty for a bare word. */
  readonly quote: string;
  /** Only a comma stands between name and value, as between the texts of a list. */
  readonly isListed: boolean;
}

const NAME_CHARS = 64;
const REST_CHARS = 48;
/** Between name and value: closing quotes, escaped or not, one sign that assigns, and opening quotes. */
const ASSIGNS = /(?:\\?["'`]|\]|[ \t]){0,4}(?:=>|:{1,3}=|\?=|[=:]|,(?=[ \t]*["']))(?:[ \t=]|\\?["'`]){0,6}/y;
/** `"name": "API_TOKEN", "value": "…"` and `key="Password" value="…"`: the value stands in a field of its own. */
const IN_FIELD = /\\?["'][ \t]*,?\s{0,16}\\?["']?value\\?["']?[ \t]{0,4}[:=][ \t]{0,4}\\?["']/iy;
const NAME_FIELD = /(?:name|key)\\?["']?[ \t]{0,4}[:=][ \t]{0,4}\\?["']$/i;
const FIELD_CHARS = 24;
const LISTED = /^[^=:]*,[^=:]*$/;
const NEXT_NAME = /\\?["'`][ \t]*:/y;
/** Between a command-line option and its value. */
const FOLLOWS = /(?:[ \t]{1,4}|=)["']?/y;
const SCHEME =
  /(?:Bearer|Basic|Token|Api-?Token|Api-?Key|Digest|FlyV1|OAuth|Splunk|SSWS|GenieKey|Key)[ \t]+(?:token=)?/iy;

/** What stands before the name of a rule where a secret was replaced. */
const MARK = '[redacted:';

/** The first characters that the patterns accept: checking one character rules out most matches. */
const afterName = charSet('\\"\'`] \t=:?,');
const quotes = charSet('\\"\'');
const ofScheme = charSet('abdfgkostABDFGKOST');
const looseEnds = charSet(',.)]}:');

export function endOfName(text: string, word: number): number {
  const limit = Math.min(text.length, word + REST_CHARS);
  let end = word;
  while (end < limit && isOfName(text.charCodeAt(end))) end++;
  return end;
}

/** The assignment whose name holds the word at `word` and ends at `nameEnd`. */
export function assignmentAt(text: string, word: number, nameEnd: number): Assignment | undefined {
  if (!holds(afterName, text, nameEnd)) return undefined;
  const field = holds(quotes, text, nameEnd) ? matchEnd(IN_FIELD, text, nameEnd) : 0;
  const assigned = field || matchEnd(ASSIGNS, text, nameEnd);
  const opening = assigned || matchEnd(FOLLOWS, text, nameEnd);
  if (opening === 0) return undefined;
  let begin = word;
  while (begin > 0 && word - begin < NAME_CHARS && isOfName(text.charCodeAt(begin - 1))) begin--;
  // In `[redacted:api-key]=…` the name is that of a rule: a text that was redacted stays as it is.
  if (text[nameEnd] === ']' && text.endsWith(MARK, begin)) return undefined;
  if (field !== 0 && !NAME_FIELD.test(text.slice(Math.max(0, begin - FIELD_CHARS), begin))) return undefined;
  // Only an option takes its value without a sign that assigns: `--token value`.
  if (assigned === 0 && text[begin] !== '-') return undefined;
  while (text[begin] === '-' || text[begin] === '.') begin++;
  const start = (holds(ofScheme, text, opening) && matchEnd(SCHEME, text, opening)) || opening;
  const quote = quoteBefore(text, opening);
  const isListed = quote !== '' && LISTED.test(text.slice(nameEnd, start));
  return { name: text.slice(begin, nameEnd), start, quote, isListed };
}

/** The beginning of the value, enough to judge it, so that rejecting a long value costs no more than a short one. */
export function headOf(text: string, { start, quote }: Assignment): string {
  const head = text.slice(start, start + HEAD_CHARS);
  const end = quote === '' ? endOfBare(head, 0) : endOfQuoted(head, 0, quote);
  // In `"password", "value": …` the quoted text is the next name, not a value.
  return quote !== '' && matchEnd(NEXT_NAME, head, end) > 0 ? '' : head.slice(0, end);
}

export const endOf = (text: string, { start, quote }: Assignment) =>
  quote === '' ? endOfBare(text, start) : endOfQuoted(text, start, quote);

const HEAD_CHARS = 64;

/** Where the match of a sticky pattern at this place ends; 0 without a match. */
export function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : 0;
}

function quoteBefore(text: string, at: number): string {
  const sign = text[at - 1] ?? '';
  if (sign !== '"' && sign !== "'" && sign !== '`') return '';
  return text[at - 2] === '\\' ? `\\${sign}` : sign;
}

function charSet(chars: string): Uint8Array {
  const table = new Uint8Array(128);
  for (let at = 0; at < chars.length; at++) table[chars.charCodeAt(at)] = 1;
  return table;
}

const holds = (set: Uint8Array, text: string, at: number) => set[text.charCodeAt(at)] === 1;

const nameChars = charSet('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.');
const isOfName = (code: number) => nameChars[code] === 1;

const BARE = /[^\s"'`<>&\\;]+/y;
const LOOSE_END = /[,.)\]}:]+$/;

function endOfBare(text: string, start: number): number {
  const end = matchEnd(BARE, text, start);
  if (end === 0 || !holds(looseEnds, text, end - 1)) return end;
  const tail = LOOSE_END.exec(text.slice(Math.max(start, end - 8), end));
  return end - (tail?.[0].length ?? 0);
}

/** Up to the closing quote on the same line; without one, the value ends like a bare word. */
function endOfQuoted(text: string, start: number, quote: string): number {
  const limit = Math.min(text.length, start + LONGEST_QUOTED);
  for (let at = start; at < limit; at++) {
    const sign = text[at];
    if (sign === '\n') break;
    if (text.startsWith(quote, at)) return at;
    if (sign === '\\' && quote.length === 1) at++;
  }
  return endOfBare(text, start);
}

const LONGEST_QUOTED = 4_096;
