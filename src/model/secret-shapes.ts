// Owns the one answer to "is this the name or the shape of a secret?": the names that announce a credential, and the shapes that
// providers gave their tokens so that programs can recognize them. The table of shapes is data: `data/secret-shapes.json`.
// A wrong answer costs each caller something else, so callers with different needs have a function each. Judging how random a
// value looks is left to `secret-values.ts`.

import table from '../../data/secret-shapes.json' with { type: 'json' };

export interface TokenShape {
  readonly name: string;
  /** What the token begins with; where `before` is set, what follows its first `before` characters. */
  readonly starts: readonly string[];
  readonly before: number;
  /** The beginning alone identifies the token, so an obviously made-up one counts too. */
  readonly isSure: boolean;
  /** Both match at the place of `starts` only: `head` enough of the token to recognize it, `whole` all of it. */
  readonly head: RegExp;
  readonly whole: RegExp;
}

interface TokenRow {
  readonly name: string;
  readonly starts: readonly string[];
  readonly rest: string;
  /** The pattern for `starts`, where `starts` is not literal text. */
  readonly read?: string;
  /** The token is case-sensitive; otherwise people write it in either case. */
  readonly exact?: boolean;
  readonly before?: number;
  readonly prior?: string;
  /** The beginning alone identifies the token. */
  readonly sure?: boolean;
}

const rows: readonly TokenRow[] = table.tokens;

/** Services whose keys have no shape of their own: a random-looking value assigned to such a name is a key. */
export const serviceNames: readonly string[] = table.services;

/** Compiled on demand: only the search for secrets in text needs the patterns. */
export function readTokenShapes(): readonly TokenShape[] {
  return rows.map(({ name, starts, before = 0, rest, ...row }) => ({
    name,
    starts,
    before,
    isSure: row.sure === true,
    head: patternOf(starts, { ...row, rest: rest.replace(/\{(\d+),\}/g, `{$1,${HEAD_CHARS}}`) }),
    whole: patternOf(starts, { ...row, rest }),
  }));
}

const HEAD_CHARS = 512;

/** No letter or digit comes before a token, except as part of an escape (`\n`) or of a percent-encoded character. */
const EDGE = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf]|%[0-9A-Fa-f]{2}))`;

function patternOf(
  starts: TokenRow['starts'],
  { rest, read, exact, prior }: Omit<TokenRow, 'name' | 'starts'>,
): RegExp {
  const start = read ?? `(?:${starts.map(escapePattern).join('|')})`;
  return new RegExp(`${prior === undefined ? EDGE : `(?<=${EDGE}${prior})`}${start}${rest}`, exact ? 'y' : 'iy');
}

/** Whether a value begins like a token of one of the shapes, or does after a few letters: no token begins within a word. */
export function knownStarts(shapes: readonly TokenShape[]): (value: string) => boolean {
  const byPair = new Map<number, string[]>();
  for (const start of shapes.filter(({ before }) => before === 0).flatMap((shape) => shape.starts)) {
    const key = pairAt(start, 0);
    byPair.set(key, [...(byPair.get(key) ?? []), start.toLowerCase()]);
  }
  const beginsAt = (value: string, at: number) =>
    byPair.get(pairAt(value, at))?.some((start) => {
      const isLong = start.length >= SHORTEST_INNER || at === 0;
      return isLong && value.slice(at, at + start.length).toLowerCase() === start;
    }) === true;
  return (value) => INNER_PLACES.some((at) => beginsAt(value, at));
}

const INNER_PLACES = [0, 1, 2, 3, 4];
const SHORTEST_INNER = 4;
const pairAt = (text: string, at: number) => ((text.charCodeAt(at) | 32) << 8) | (text.charCodeAt(at + 1) | 32);

const escapePattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** Whether a value on its own is a token. Tokens that were cut short or invented for a test count too. */
export function isSecretShape(value: string): boolean {
  return (
    SIGNED.test(value) ||
    MARKED.test(value) ||
    (BODY.test(value) && sureStarts.some((start) => value.startsWith(start)))
  );
}

const sureStarts = rows.filter(({ sure }) => sure).flatMap(({ starts }) => starts);
const BODY = /^[\w.-]{13,}$/;
/** A JSON Web Token. */
const SIGNED = /^eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*$/;
/** `acme_pat_…`, `pk_live_…`, and the tokens of one provider that puts nothing between `pat` and the value. */
const MARKED = /^(?:[a-z]+_pat_|pk_live_|pat[A-Za-z0-9]{10,}\.)[\w.-]{10,}$/;

/** Whether the value of a variable, header, option or parameter of this name is a credential. */
export function isSecretName(name: string): boolean {
  const lower = name.toLowerCase();
  return secretWords.some((word) => lower.includes(word)) || SECRET_PART.test(lower);
}

/** Apart from the pattern: V8 takes 1.5 ms to compile one with all of them in either case. */
const secretWords = [
  ...['token', 'secret', 'passw', 'passphrase', 'pwd', 'credential', 'bearer', 'cookie', 'session'],
  ...['apikey', 'api-key', 'api_key'],
];
const SECRET_PART =
  /(?:key|signature|[_.-](?:pat|pass|sid|sig))$|(?:^|[_-])keys?(?:[_-]|$)|^(?:pat|pass|sid|sig)$|auth(?!or(?!i[sz]))/;

/** `-p` is a password for some programs, and a port, a project or a path for others: its value is only hidden where it is shown. */
export const isPasswordFlag = (option: string) => option === '-p';

/** The value is `name:password` for some programs, and a name, or a user and a group, for others. */
export const isLoginFlag = (option: string) => /^(?:-u|--(?:user|login|basic|proxy-user))$/.test(option);

/** The same for a host variable that an entry would send to a remote server: a person has to allow it by name. */
export const isSecretVariable = (name: string) => /TOKEN|SECRET|PASSWORD|KEY|AUTH/i.test(name);

/**
 * The same for a text as a whole, such as code or JSON in an argument, which stored approvals then do not quote. The fingerprint of
 * an approval depends on this pattern: with another one, every person would be asked again.
 */
export const mentionsSecret = (text: string) => /key|token|secret|passw|auth|credential/i.test(text);

/** The kind of secret that a name announces, for text and data that is redacted. */
export interface SecretNameKind {
  readonly rule: string;
  /** In text, any value assigned to the name is a secret; otherwise only a value that looks random. */
  readonly isCertain: boolean;
  /** The same in data, where there is no doubt which value belongs to which key. */
  readonly isCertainKey: boolean;
  /** Where the kind has a known minimum length. */
  readonly shortest?: number;
}

/** Every name that `secretNameKind` recognizes holds one of these words. */
export const secretNameWords = [
  'passw',
  'passphr',
  '_pass',
  'pwd',
  'secret',
  'token',
  'key',
  'auth',
  'credential',
  'cookie',
];

/** `API_KEY_2`, `secret_key_base`, `tokenProd`: endings that do not change what the name means. */
const TAIL = '(?:[-_.]?(?:base|value|prod|production|dev|test|live|staging|v?\\d+))?$';
const PASSWORD = new RegExp(`(?:passw(?:or)?d|passphrase|pwd|[a-z\\d]_pass)${TAIL}`, 'i');
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

/** Public keys, page cursors, form tokens, token counts: reading them harms nobody. */
const HARMLESS_NAME =
  /pub(?:lic)?|csrf|xsrf|(?:page|next|continuation|sync|cursor|pagination|stop|start|end|pad|eos|bos|unk|mask|sep|cls)[-_.]?token|(?:^|[-_.])(?:max|min|num|total|prompt|completion|input|output|count)[-_.]?/i;

const nameKinds: readonly (readonly [pattern: RegExp, kind: SecretNameKind])[] = [
  [PASSWORD, { rule: 'password', isCertain: true, isCertainKey: true }],
  [SECRET, { rule: 'secret', isCertain: true, isCertainKey: true }],
  [KEY, { rule: 'api-key', isCertain: false, isCertainKey: true, shortest: 12 }],
  [AUTHORIZATION, { rule: 'authorization', isCertain: false, isCertainKey: true }],
  [CERTAIN_TOKEN, { rule: 'token', isCertain: false, isCertainKey: true }],
  [TOKEN, { rule: 'token', isCertain: false, isCertainKey: false }],
  [COOKIE, { rule: 'cookie', isCertain: false, isCertainKey: true }],
  [CREDENTIAL, { rule: 'credential', isCertain: false, isCertainKey: false }],
];

/** A text uses few names, and repeats them. */
const kindByName = new Map<string, SecretNameKind | undefined>();
const MOST_NAMES = 500;

export function secretNameKind(name: string): SecretNameKind | undefined {
  if (kindByName.has(name)) return kindByName.get(name);
  const match = nameKinds.find(([pattern]) => pattern.test(name));
  const kind = match === undefined || HARMLESS_NAME.test(name) ? undefined : match[1];
  if (kindByName.size >= MOST_NAMES) kindByName.clear();
  kindByName.set(name, kind);
  return kind;
}

/** Names of hashes, identifiers, places and contents, whose random-looking values are no keys. The last word of a name decides. */
export function isIdentifierName(name: string): boolean {
  let answer = identifierNames.get(name);
  if (answer === undefined) {
    answer = HARMLESS_NAME.test(name) || IDENTIFIER_WORD.test(lastWordOf(name));
    if (identifierNames.size >= MOST_NAMES) identifierNames.clear();
    identifierNames.set(name, answer);
  }
  return answer;
}

const identifierNames = new Map<string, boolean>();

function lastWordOf(name: string): string {
  const words = name.replace(/([a-z\d])([A-Z])/g, '$1_$2').toLowerCase();
  return /([a-z\d]+)[^a-z\d]*$/.exec(words)?.[1] ?? '';
}

const IDENTIFIER_WORD = new RegExp(
  `^(?:${[
    'id|uid|uuid|guid|rid|cid|oid|sha|md|hash|checksum|chksum|digest|integrity|signature|fingerprint|etag|nonce|salt|iv|crc|accessor',
    'url|uri|href|link|src|host|domain|path|file|filename|folder|dir|name|title|label|slug|class|email|user|address|wallet|account|owner',
    'version|commit|rev|revision|ref|branch|tag|build|release|image|issue|channel|guild|message|zone|page|project|team|org|run|job',
    'trace|span|request|event|cursor|offset|block|tx|transaction|contract|mint|pubkey|publickey|identity|resolution|resolved',
    'data|content|body|text|html|xml|json|base|blob|img|picture|screenshot|payload|query|description|value|type|format|color|style|font',
    'video|playlist|document|doc|sheet|spreadsheet|chunk|bundle|cache|index|layer|key(?:id|name|hash|file|size|length|type)',
    'region|locale|lang|language|stage|env|environment|mode|model|tenant|workspace|feature|database|db|agent|origin|pattern|date|time',
    // Prefixes of identifiers: `req_`, `msg_`, `chatcmpl-`.
    'req|resp|res|msg|call|thread|chatcmpl|cmpl|batch|evt|cus|sub|inv|pi|ch|price|prod|acct|txn|order|task|step|item|conv|chat|asset',
  ].join('|')})\\d*s?$`,
);

/** `sk_`, `acme_pat_`, `api-key-`, `oauth.`: the prefix itself says that a token follows. */
export const isTokenPrefix = (prefix: string) =>
  /(?:^|[_.-])(?:sk|rk|[a-z]{0,4}pat|[a-z]at|tok|token|key|[a-z]{0,3}api\d*|apikey|secret|live|test|prod|oauth|auth|pw|admin|bot|priv)[_.-]/i.test(
    prefix,
  );

/** Names of places, people and settings. The model must be able to read their values, which stand in many texts. */
export const isOrdinaryName = (name: string) =>
  /(?:^|[-_])(?:accept|content|agent|origin|host|region|zone|locale|lang|language|stage|env|environment|mode|version|model|project|tenant|org|organi[sz]ation|workspace|team|account|user|name|feature|toolset|database|db|id)(?:s|id|ref)?(?:[-_]|$)/i.test(
    name,
  );

/** A path, an address without a login, a date, a number or a switch. */
export const isHarmlessValue = (value: string) =>
  /^(?:\.{0,2}\/|~\/|[A-Za-z]:\\)|^\w[\w+.-]*:\/\/[^@]*$|^[\d.,:TZ/ -]*$|^(?:true|false|none|null)$/i.test(value);

/** The stricter answer for a value in a config file: a date counts as a secret, and so do digits under a password's name. */
export function isHarmlessLiteral(name: string, value: string): boolean {
  // `max_tokens = 4096` is a number of tokens.
  if (/^\d+$/.test(value)) return !/(passw(or)?d|pass|passphrase|pwd|secret|token|bearer|key|pat|sid)$/i.test(name);
  return /^(true|false|none|null)$/i.test(value) || /^(\.{0,2}\/|~\/|[A-Za-z]:\\)/.test(value);
}
