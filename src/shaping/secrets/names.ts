// Owns which names say that what is assigned to them is a secret, and what kind it is; and where in a text the name ends and
// the value begins.

export interface Naming {
  readonly rule: string;
  /** Whatever is assigned to it in a text counts; otherwise only what looks random. */
  readonly isCertain: boolean;
  /** The same for the value of a key, where there is no doubt what belongs to what. */
  readonly isCertainKey: boolean;
  /** No such thing is shorter, where that is known. */
  readonly shortest?: number;
}

/** Words by which such a name is found. */
export const nameWords = ['passw', 'passphr', 'pwd', 'secret', 'token', 'key', 'auth', 'credential', 'cookie'];

/** `API_KEY_2`, `secret_key_base`, `tokenProd`: what may follow and change nothing. */
const TAIL = '(?:[-_.]?(?:base|value|prod|production|dev|test|live|staging|v?\\d+))?$';
const PASSWORD = new RegExp(`(?:passw(?:or)?d|passphrase|pwd)${TAIL}`, 'i');
const SECRET = new RegExp(`secret${TAIL}`, 'i');
const KEY = new RegExp(
  `(?:api|access|secret|private|signing|encryption|auth|client|license|master|service|account|deploy|webhook|app|admin|shared)[-_. ]?key${TAIL}`,
  'i',
);
const CERTAIN_TOKEN = new RegExp(`(?:access|auth|bearer|refresh|id|session|api|bot|personal)[-_. ]?token${TAIL}`, 'i');
const TOKEN = new RegExp(`token${TAIL}`, 'i');
const AUTHORIZATION = /(?:^|[^a-z])(?:x-|proxy-)?auth(?:ori[sz]ation)?$/i;
const COOKIE = /(?:^|-)cookie$/i;
const CREDENTIAL = new RegExp(`credentials?${TAIL}`, 'i');

/** Of the public, of a page, of a form: nobody is harmed by whoever reads them. */
const HARMLESS =
  /pub(?:lic)?|csrf|xsrf|(?:page|next|continuation|sync|cursor|pagination|stop|start|end|pad|eos|bos|unk|mask|sep|cls)[-_.]?token|(?:^|[-_.])(?:max|min|num|total|prompt|completion|input|output|count)[-_.]?/i;

const namings: readonly (readonly [pattern: RegExp, naming: Naming])[] = [
  [PASSWORD, { rule: 'password', isCertain: true, isCertainKey: true }],
  [SECRET, { rule: 'secret', isCertain: true, isCertainKey: true }],
  [KEY, { rule: 'api-key', isCertain: false, isCertainKey: true, shortest: 12 }],
  [AUTHORIZATION, { rule: 'authorization', isCertain: false, isCertainKey: true }],
  [CERTAIN_TOKEN, { rule: 'token', isCertain: false, isCertainKey: true }],
  [TOKEN, { rule: 'token', isCertain: false, isCertainKey: false }],
  [COOKIE, { rule: 'cookie', isCertain: false, isCertainKey: true }],
  [CREDENTIAL, { rule: 'credential', isCertain: false, isCertainKey: false }],
];

/** Texts use few names, and those over and over. */
const remembered = new Map<string, Naming | undefined>();
const MOST_REMEMBERED = 500;

export function namingOf(name: string): Naming | undefined {
  if (remembered.has(name)) return remembered.get(name);
  const found = namings.find(([pattern]) => pattern.test(name));
  const naming = found === undefined || HARMLESS.test(name) ? undefined : found[1];
  if (remembered.size >= MOST_REMEMBERED) remembered.clear();
  remembered.set(name, naming);
  return naming;
}

export interface Assigned {
  readonly name: string;
  readonly start: number;
  /** What closes the value; empty where it ends with the word. */
  readonly quote: string;
}

const NAME_CHARS = 64;
const REST_CHARS = 48;
/** What may stand between: closing quotes, escaped or not, one sign that assigns, opening quotes and the way to authorize. */
const ASSIGNS = /(?:\\?["'`]|\]|[ \t]){0,4}(?:=>|:{1,3}=|\?=|[=:]|,(?=[ \t]*["']))(?:[ \t=]|\\?["'`]){0,6}/y;
const NEXT_NAME = /\\?["'`][ \t]*:/y;
/** After an option of a command line. */
const FOLLOWS = /(?:[ \t]{1,4}|=)["']?/y;
const SCHEME =
  /(?:Bearer|Basic|Token|Api-?Token|Api-?Key|Digest|FlyV1|OAuth|Splunk|SSWS|GenieKey|Key)[ \t]+(?:token=)?/iy;

/** What patterns can begin with: one look at the next character spares most of them. */
const afterName = charSet('\\"\'`] \t=:?,');
const ofScheme = charSet('abdfgkostABDFGKOST');
const looseEnds = charSet(',.)]}:');

export function endOfName(text: string, word: number): number {
  const limit = Math.min(text.length, word + REST_CHARS);
  let end = word;
  while (end < limit && isOfName(text.charCodeAt(end))) end++;
  return end;
}

/** The name around a word, and what is assigned to it. */
export function assignedAt(text: string, word: number, nameEnd: number): Assigned | undefined {
  if (!holds(afterName, text, nameEnd)) return undefined;
  const assigned = matchEnd(ASSIGNS, text, nameEnd);
  const opening = assigned || matchEnd(FOLLOWS, text, nameEnd);
  if (opening === 0) return undefined;
  let begin = word;
  while (begin > 0 && word - begin < NAME_CHARS && isOfName(text.charCodeAt(begin - 1))) begin--;
  // `--token value`: only an option goes without a sign that assigns.
  if (assigned === 0 && text[begin] !== '-') return undefined;
  while (text[begin] === '-' || text[begin] === '.') begin++;
  const start = (holds(ofScheme, text, opening) && matchEnd(SCHEME, text, opening)) || opening;
  return { name: text.slice(begin, nameEnd), start, quote: quoteBefore(text, opening) };
}

/** As much of the value as is needed to judge it: rejecting what is long must not cost more than what is short. */
export function headOf(text: string, { start, quote }: Assigned): string {
  const head = text.slice(start, start + HEAD_CHARS);
  const end = quote === '' ? endOfBare(head, 0) : endOfQuoted(head, 0, quote);
  // `"password", "value": …`: the next name, and not its value.
  return quote !== '' && matchEnd(NEXT_NAME, head, end) > 0 ? '' : head.slice(0, end);
}

export const endOf = (text: string, { start, quote }: Assigned) =>
  quote === '' ? endOfBare(text, start) : endOfQuoted(text, start, quote);

const HEAD_CHARS = 64;

/** Where a sticky pattern that matches here ends; 0 when it does not. */
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
  const made = new Uint8Array(128);
  for (let at = 0; at < chars.length; at++) made[chars.charCodeAt(at)] = 1;
  return made;
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

/** Up to the quote that closes it, on the same line. What is not closed ends where the word ends. */
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
