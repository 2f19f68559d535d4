// Owns finding secrets in text: by their shape, by the name they are assigned to, by where they stand (an address, a command
// line). A detector runs only at the keywords it is registered for and reads a bounded stretch, so the time is linear in the text.
// The shapes of known API keys are `data/secret-shapes.json`.

import { once } from '../../kernel/once.ts';
import { atOnce, type Slices } from '../../kernel/slices.ts';
import {
  isIdentifierName,
  knownStarts,
  readTokenShapes,
  secretNameKind,
  secretNameWords,
  serviceNames,
  type TokenShape,
} from '../../model/secret-shapes.ts';
import {
  entropyOf,
  isGenerated,
  isInvented,
  isLabel,
  isPlaceholder,
  isPlausible,
  looksRandom,
} from '../../model/secret-values.ts';
import { assignmentAt, endOf, endOfName, headOf, matchEnd } from './assignments.ts';
import { generatedInSlices } from './generated.ts';
import { KeywordScan, type OnKeyword } from './keyword-scan.ts';
import { mergedSpans, type SecretSpan } from './spans.ts';

/** The stretch of text that a detector examined, and whether it is a secret. */
interface Detection extends SecretSpan {
  readonly isSecret: boolean;
}

/** Called where one of its keywords stands, from `at` to `wordEnd`. */
type Detector = (text: string, at: number, wordEnd: number, seen: ScanContext) => Detection | undefined;

/** The context that detectors remember of the text before their keyword. */
interface ScanContext {
  /** The position at which the last `curl` command begins. */
  request: number;
  /** No `-----END` follows this place. */
  noEndFrom: number;
  /** Up to where each detector has examined the text without a result: it need not run there again. */
  readonly examined: Map<Detector, number>;
}

/** The length of `://:abc@`, the shortest text that can hold a secret. */
const SHORTEST = 8;
const NONE: readonly SecretSpan[] = [];

/** In the order of the text; none overlaps another. */
export const findSecrets = (text: string): readonly SecretSpan[] =>
  text.length < SHORTEST ? NONE : atOnce(prepared()(text));

/** The same for a long text, with pauses. */
export const findSecretsInSlices = (text: string): Slices<readonly SecretSpan[]> => prepared()(text);

const prepared = once(() => createSearch(readTokenShapes(), serviceNames));

/** `bench/redact-folds.mjs` leaves out the shapes and services of one provider: the other detectors must not depend on them. */
export function createFinder(shapes: readonly TokenShape[], services: readonly string[]) {
  const search = createSearch(shapes, services);
  return (text: string) => atOnce(search(text));
}

type Search = (text: string) => Slices<readonly SecretSpan[]>;

function createSearch(shapes: readonly TokenShape[], services: readonly string[]): Search {
  const rules: (readonly [keywords: readonly string[], detect: Detector])[] = [
    [['curl'], noteRequest],
    [[' -u', '--user'], detectLogin],
    [['://'], detectUrlPassword],
    [['private key'], detectPrivateKey],
    [['bearer'], detectBearer],
    ...shapes.map((shape) => [shape.starts, tokenDetector(shape)] as const),
    [secretNameWords, detectNamed],
    [services, detectServiceKey],
  ];
  const scan = new KeywordScan(rules.flatMap(([each]) => each));
  const detectors = rules.flatMap(([each, detect]) => each.map(() => detect));
  const isKnownStart = knownStarts(shapes);
  return function* search(text) {
    if (text.length < SHORTEST) return NONE;
    const told = new KeywordSearch(text, scan, detectors);
    while (!told.isDone) yield told.goOn();
    return mergedSpans(told.found, yield* generatedInSlices(text, isKnownStart));
  };
}

/** The search for secrets that a keyword tells: a name, a prefix, a service. */
class KeywordSearch {
  readonly #text: string;
  readonly #scan: KeywordScan;
  readonly #detectors: readonly Detector[];
  #at = 0;
  /** The end of the last secret. */
  #done = 0;
  #found: SecretSpan[] | undefined;
  #context: ScanContext | undefined;

  constructor(text: string, scan: KeywordScan, detectors: readonly Detector[]) {
    this.#text = text;
    this.#scan = scan;
    this.#detectors = detectors;
  }

  get isDone(): boolean {
    return this.#at >= this.#text.length;
  }

  get found(): readonly SecretSpan[] {
    return this.#found ?? NONE;
  }

  /** Returns how many characters it has searched. */
  goOn(): number {
    const from = this.#at;
    this.#at = this.#scan.scanPart(this.#text, from, this.#visit);
    return this.#at - from;
  }

  readonly #visit: OnKeyword = (word, at, wordEnd) => {
    const detect = this.#detectors[word];
    if (detect === undefined || at < this.#done || at < (this.#context?.examined.get(detect) ?? 0)) return at;
    this.#context ??= { request: Number.NEGATIVE_INFINITY, noEndFrom: Number.POSITIVE_INFINITY, examined: new Map() };
    const detection = detect(this.#text, at, wordEnd, this.#context);
    if (detection === undefined || detection.start < this.#done) return at;
    const { rule, start, end } = detection;
    if (!detection.isSecret) {
      this.#context.examined.set(detect, end);
      return at;
    }
    this.#found ??= [];
    this.#found.push({ rule, start, end });
    this.#done = end;
    return end;
  };
}

function tokenDetector({ name: rule, before, isSure, head, whole }: TokenShape): Detector {
  return (text, at) => {
    const end = matchEnd(head, text, at);
    if (end === 0) return undefined;
    const value = text.slice(at, Math.min(end, at + JUDGED_CHARS));
    const isLikely = isSure || (entropyOf(value) >= LEAST_ENTROPY && !isInvented(value));
    const isSecret = isLikely && !isPlaceholder(value);
    return { rule, start: at - before, end: isSecret ? matchEnd(whole, text, at) || end : end, isSecret };
  };
}
const LEAST_ENTROPY = 2;
const JUDGED_CHARS = 64;

/** Examines each name once, however many keywords it holds. What is assigned to one name may hold the next name. */
const detectNamed: Detector = (text, at) => {
  const nameEnd = endOfName(text, at);
  const assignment = assignmentAt(text, at, nameEnd);
  const kind = assignment && secretNameKind(assignment.name);
  const nothing = { rule: '', start: at, end: nameEnd, isSecret: false };
  if (assignment === undefined || kind === undefined) return nothing;
  const { start, quote, isListed } = assignment;
  const value = headOf(text, assignment);
  // In `"password", "email"` the next text of a list is another name as often as a value.
  const isQuoted = quote !== '' && !isListed;
  const isSecret = kind.isCertain ? isPlausible(value, isQuoted) : looksRandom(value, kind.shortest);
  return isSecret ? { rule: kind.rule, start, end: endOf(text, assignment), isSecret } : nothing;
};

/** `Acme Project Key => value`: the service's name may be followed by other words. */
const ASSIGNED_TO_SERVICE = /[\w .\t,-]{0,32}(?:\\?["'\s]){0,3}(?:=>|:{1,3}=|\?=|\|\||[=:>,])(?:\\?["'`]|[\s=]){0,5}/y;
const SERVICE_VALUE = /\d{5,16}:A[\w-]{34}|[A-Fa-f0-9]{8}:[A-Fa-f0-9]{8}(?![\w:])|[\w.=+/~|-]{14,256}/iy;
const SERVICE_REST = /[\w.=+/~|-]+/y;
/** The identifier of a client is half of its credentials. */
const CREDENTIAL_ID = /(?:client|access|app|user|key)[-_. ]?id$/i;

const detectServiceKey: Detector = (text, at, wordEnd) => {
  const start = matchEnd(ASSIGNED_TO_SERVICE, text, wordEnd);
  const end = start && matchEnd(SERVICE_VALUE, text, start);
  if (end === 0) return undefined;
  const name = /^[\w .\t-]+/.exec(text.slice(wordEnd, start))?.[0] ?? '';
  const isIdentifier = isIdentifierName(name) && !CREDENTIAL_ID.test(name);
  const value = text.slice(start, Math.min(end, start + JUDGED_CHARS));
  const isSecret = !isIdentifier && isKey(value) && (!isWithinWord(text, at, wordEnd) || isGenerated(value, 14));
  return { rule: 'service-key', start, end: isSecret ? matchEnd(SERVICE_REST, text, end) || end : end, isSecret };
};

/** `meraki` in `CameraKit`, `linear` in `inlineArray`: letters go on at both sides, in the cases that words have. */
const isWithinWord = (text: string, at: number, wordEnd: number) =>
  /^[a-z](?:[a-z]+|[a-z]+[A-Z][a-z]*)[a-z]$/.test(text.slice(at - 1, wordEnd + 1));

const isKey = (value: string) =>
  looksRandom(value, 14) || /^\d{16,18}$/.test(value) || /^[a-f0-9]{8}:[a-f0-9]{8}$/i.test(value);

const BEARER = /(?<![A-Za-z0-9])bearer[ \t]+/iy;
const BEARER_VALUE = /[\w.~+/=:|-]{8,256}/y;
const BEARER_REST = /[\w.~+/=:|-]+/y;

const detectBearer: Detector = (text, at) => {
  const start = matchEnd(BEARER, text, at);
  const end = start && matchEnd(BEARER_VALUE, text, start);
  if (end === 0) return undefined;
  const isSecret = looksRandom(text.slice(start, Math.min(end, start + JUDGED_CHARS)));
  return { rule: 'bearer-token', start, end: isSecret ? matchEnd(BEARER_REST, text, end) || end : end, isSecret };
};

const noteRequest: Detector = (_text, at, _wordEnd, context) => {
  context.request = at;
  return undefined;
};

const LOGIN = /(?:--user| -u)(?:[ \t]*=?[ \t]*)/y;
const LOGIN_VALUE =
  /(?:"[^"\n]{0,200}"|'[^'\n]{0,200}'|[^\s"':]{0,100}):(?:"[^"\n]{1,200}"|'[^'\n]{1,200}'|[^\s"']{1,200})|"[^"\n:]{0,100}:[^"\n]{0,200}"|'[^'\n:]{0,100}:[^'\n]{0,200}'/y;
const REQUEST_CHARS = 2_000;

const detectLogin: Detector = (text, at, _wordEnd, { request }) => {
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

const isPassword = (value: string) => value.length >= 5 && !isPlaceholder(value) && !isLabel(value);

const USERINFO = /:\/\/[^\s:@/?#"'<>\\]{0,128}:(?=([^\s/?#"'<>\\]{1,256})@)/y;

const detectUrlPassword: Detector = (text, at) => {
  USERINFO.lastIndex = at;
  const [whole = '', password = ''] = USERINFO.exec(text) ?? [];
  const user = whole.slice(3, -1);
  const start = at + whole.length;
  const isSecret = password.length >= 3 && password !== user && !isPlaceholder(password) && !isLabel(password);
  return { rule: 'url-password', start, end: start + password.length, isSecret };
};

const ARMOR = /(?<=-----BEGIN[ A-Z0-9]{0,30})PRIVATE KEY(?: BLOCK)?-----/y;
const ARMOR_END = '-----END';
const ARMORED = /[A-Za-z0-9+/=\s:,\\-]*/y;
const SHORTEST_KEY = 64;

/** From `-----BEGIN … PRIVATE KEY-----` to `-----END`; where the end was cut off, as far as the key's characters go. */
const detectPrivateKey: Detector = (text, at, _wordEnd, context) => {
  const start = matchEnd(ARMOR, text, at);
  if (start === 0) return undefined;
  const armorEnd = start >= context.noEndFrom ? -1 : text.indexOf(ARMOR_END, start);
  if (armorEnd < 0) context.noEndFrom = Math.min(context.noEndFrom, start);
  const end = armorEnd < 0 ? matchEnd(ARMORED, text, start) : armorEnd;
  return { rule: 'private-key', start, end, isSecret: end - start >= SHORTEST_KEY };
};
