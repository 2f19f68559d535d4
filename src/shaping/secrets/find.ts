// Owns finding secrets in text by what gives them away: a shape, the name they are assigned to, the place they stand in. Looks
// closely only where a telling word stands, and never far: the time is linear in the text, whatever that holds.

import { once } from '../../kernel/once.ts';
import { readTokenShapes, serviceNames, type TokenShape } from '../../model/secret-shapes.ts';
import { KeywordScan } from './keyword-scan.ts';
import { assignedAt, endOf, endOfName, headOf, matchEnd, nameWords, namingOf } from './names.ts';
import { entropyOf, isInvented, isPlaceholder, isPlausible, looksRandom } from './values.ts';

export interface FoundSecret {
  /** What gave it away. */
  readonly rule: string;
  readonly start: number;
  readonly end: number;
}

/** What was looked at where a word stands, and whether it is a secret. */
interface Looked extends FoundSecret {
  readonly isSecret: boolean;
}

/** Asked where its word stands, from `at` to `wordEnd`. */
type Look = (text: string, at: number, wordEnd: number, seen: Seen) => Looked | undefined;

/** What rules have to know of the words before. */
interface Seen {
  /** Where the last command line of a web request begins. */
  request: number;
  /** From here on no key in armor ends. */
  noEndFrom: number;
  /** Up to where each rule has looked in vain: it need not look there again. */
  readonly vain: Map<Look, number>;
}

/** `://:abc@`: no text that is shorter holds one. */
const SHORTEST = 8;
const NONE: readonly FoundSecret[] = [];

/** In the order of the text; none overlaps another. */
export function findSecrets(text: string): readonly FoundSecret[] {
  if (text.length < SHORTEST) return NONE;
  const { scan, looks } = prepared();
  let found: FoundSecret[] | undefined;
  let seen: Seen | undefined;
  let done = 0;
  scan.scan(text, (word, at, wordEnd) => {
    const look = looks[word];
    if (look === undefined || at < done || at < (seen?.vain.get(look) ?? 0)) return at;
    seen ??= { request: Number.NEGATIVE_INFINITY, noEndFrom: Number.POSITIVE_INFINITY, vain: new Map() };
    const looked = look(text, at, wordEnd, seen);
    if (looked === undefined || looked.start < done) return at;
    const { rule, start, end } = looked;
    if (!looked.isSecret) {
      seen.vain.set(look, end);
      return at;
    }
    found ??= [];
    found.push({ rule, start, end });
    done = end;
    return end;
  });
  return found ?? NONE;
}

const prepared = once(() => {
  const rules: (readonly [words: readonly string[], look: Look])[] = [
    [['curl'], noteRequest],
    [[' -u', '--user'], lookForLogin],
    [['://'], lookForPassword],
    [['private key'], lookForKey],
    [['bearer'], lookForBearer],
    ...readTokenShapes().map((shape) => [shape.starts, lookFor(shape)] as const),
    [nameWords, lookForNamed],
    [serviceNames, lookForService],
  ];
  const words = rules.flatMap(([each]) => each);
  const looks = rules.flatMap(([each, look]) => each.map(() => look));
  return { scan: new KeywordScan(words), looks };
});

function lookFor({ name: rule, before, head, whole }: TokenShape): Look {
  return (text, at) => {
    const end = matchEnd(head, text, at);
    if (end === 0) return undefined;
    const value = text.slice(at, Math.min(end, at + JUDGED_CHARS));
    const isSecret = entropyOf(value) >= LEAST_ENTROPY && !isInvented(value) && !isPlaceholder(value);
    return { rule, start: at - before, end: isSecret ? matchEnd(whole, text, at) || end : end, isSecret };
  };
}
const LEAST_ENTROPY = 2;
const JUDGED_CHARS = 64;

/** Looks again at each name, since what is assigned to one may hold the next; but once for all words of a name. */
const lookForNamed: Look = (text, at) => {
  const nameEnd = endOfName(text, at);
  const assigned = assignedAt(text, at, nameEnd);
  const naming = assigned && namingOf(assigned.name);
  const inVain = { rule: '', start: at, end: nameEnd, isSecret: false };
  if (assigned === undefined || naming === undefined) return inVain;
  const { start, quote } = assigned;
  const value = headOf(text, assigned);
  const isSecret = naming.isCertain ? isPlausible(value, quote !== '') : looksRandom(value, naming.shortest);
  return isSecret ? { rule: naming.rule, start, end: endOf(text, assigned), isSecret } : inVain;
};

/** `Acme Project Key => value`. Names run on, so the word may be anywhere in it. */
const ASSIGNED_TO_SERVICE = /[\w .\t,-]{0,32}(?:\\?["'\s]){0,3}(?:=>|:{1,3}=|\?=|\|\||[=:>,])(?:\\?["'`]|[\s=]){0,5}/y;
const SERVICE_VALUE = /\d{5,16}:A[\w-]{34}|[A-Fa-f0-9]{8}:[A-Fa-f0-9]{8}(?![\w:])|[\w.=+/~|-]{14,256}/iy;
const SERVICE_REST = /[\w.=+/~|-]+/y;
const OF_NO_USE =
  /(?:^|[-_. ])(?:url|uri|host|domain|version|sha|commit|hash|checksum|digest|name|path|file|folder|branch|ref|issue|channel|guild|message|user|zone|page|project|team|org|image|build|run|job|trace|span|request|event|session|integrity)(?:[-_. ]?id)?s?$/i;

const lookForService: Look = (text, _at, wordEnd) => {
  const start = matchEnd(ASSIGNED_TO_SERVICE, text, wordEnd);
  const end = start && matchEnd(SERVICE_VALUE, text, start);
  if (end === 0) return undefined;
  const name = /^[\w .\t-]+/.exec(text.slice(wordEnd, start))?.[0] ?? '';
  const isSecret = !OF_NO_USE.test(name) && isKey(text.slice(start, Math.min(end, start + JUDGED_CHARS)));
  return { rule: 'service-key', start, end: isSecret ? matchEnd(SERVICE_REST, text, end) || end : end, isSecret };
};

const isKey = (value: string) =>
  looksRandom(value, 14) || /^\d{16,18}$/.test(value) || /^[a-f0-9]{8}:[a-f0-9]{8}$/i.test(value);

const BEARER = /(?<![A-Za-z0-9])bearer[ \t]+/iy;
const BEARER_VALUE = /[\w.~+/=:|-]{8,256}/y;
const BEARER_REST = /[\w.~+/=:|-]+/y;

const lookForBearer: Look = (text, at) => {
  const start = matchEnd(BEARER, text, at);
  const end = start && matchEnd(BEARER_VALUE, text, start);
  if (end === 0) return undefined;
  const isSecret = looksRandom(text.slice(start, Math.min(end, start + JUDGED_CHARS)));
  return { rule: 'bearer-token', start, end: isSecret ? matchEnd(BEARER_REST, text, end) || end : end, isSecret };
};

const noteRequest: Look = (_text, at, _wordEnd, seen) => {
  seen.request = at;
  return undefined;
};

const LOGIN = /(?:--user| -u)(?:[ \t]*=?[ \t]*)/y;
const LOGIN_VALUE =
  /(?:"[^"\n]{0,200}"|'[^'\n]{0,200}'|[^\s"':]{0,100}):(?:"[^"\n]{1,200}"|'[^'\n]{1,200}'|[^\s"']{1,200})|"[^"\n:]{0,100}:[^"\n]{0,200}"|'[^'\n:]{0,100}:[^'\n]{0,200}'/y;
const REQUEST_CHARS = 2_000;

const lookForLogin: Look = (text, at, _wordEnd, { request }) => {
  if (at - request > REQUEST_CHARS) return undefined;
  const start = matchEnd(LOGIN, text, at);
  const end = start && matchEnd(LOGIN_VALUE, text, start);
  if (end === 0) return undefined;
  const login = text.slice(start, end).replace(/["']/g, '');
  const colon = login.indexOf(':');
  const user = login.slice(0, colon);
  const password = login.slice(colon + 1) || user;
  const isSecret = isPassword(password) && !isPlaceholder(login) && (password !== user || login.endsWith(':'));
  const isOdd = looksRandom(password.replace(/^\{|\}$/g, ''));
  return { rule: 'login', start, end, isSecret: isSecret || isOdd };
};

const isPassword = (value: string) =>
  value.length >= 5 && !isPlaceholder(value) && !/^(?:pass(?:word|wd)?|secret|pw)$/i.test(value);

const USERINFO = /:\/\/[^\s:@/?#"'<>\\]{0,128}:(?=([^\s/?#"'<>\\]{1,256})@)/y;

const lookForPassword: Look = (text, at) => {
  USERINFO.lastIndex = at;
  const [whole = '', password = ''] = USERINFO.exec(text) ?? [];
  const user = whole.slice(3, -1);
  const start = at + whole.length;
  const isSecret =
    password.length >= 3 && password !== user && !isPlaceholder(password) && !/^\{|^pass(?:word)?$/i.test(password);
  return { rule: 'url-password', start, end: start + password.length, isSecret };
};

const ARMOR = /(?<=-----BEGIN[ A-Z0-9]{0,30})PRIVATE KEY(?: BLOCK)?-----/y;
const ARMOR_END = '-----END';
const ARMORED = /[A-Za-z0-9+/=\s:,\\-]*/y;
const SHORTEST_KEY = 64;

/** From the armor's beginning to its end; where that was cut off, as far as it goes on. */
const lookForKey: Look = (text, at, _wordEnd, seen) => {
  const start = matchEnd(ARMOR, text, at);
  if (start === 0) return undefined;
  const armorEnd = start >= seen.noEndFrom ? -1 : text.indexOf(ARMOR_END, start);
  if (armorEnd < 0) seen.noEndFrom = Math.min(seen.noEndFrom, start);
  const end = armorEnd < 0 ? matchEnd(ARMORED, text, start) : armorEnd;
  return { rule: 'private-key', start, end, isSecret: end - start >= SHORTEST_KEY };
};
