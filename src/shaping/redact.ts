// Owns redacting secrets: first the values that are known, then everything that looks like a secret. One redactor serves logs,
// events, errors, traces and files. Text for the model loses only known values, so that the model can still edit a file.
// What a secret looks like is `data/secret-shapes.json`.

import { once } from '../kernel/once.ts';
import { atOnce, type Slices, STEP_UNITS } from '../kernel/slices.ts';
import { limits } from '../model/limits.ts';
import { redactData, redactDescriptions, redactTexts } from './secrets/data.ts';
import { findSecrets, findSecretsInSlices } from './secrets/find.ts';
import type { KnownSecrets, Needle } from './secrets/known.ts';
import { type FoundNeedle, NeedleScan } from './secrets/needle-scan.ts';
import type { SecretSpan } from './secrets/spans.ts';

export { KnownSecrets } from './secrets/known.ts';

export interface Redactor {
  /** Redacts known values only: for text that a model reads. Text without any comes back as the same string. */
  known(text: string): string;
  /** Redacts known values, then key names and value patterns: for everything that is logged, emitted, traced or stored. */
  text(text: string): string;
  /** The same as `known` and `text`, for a long text: the event loop runs in between. */
  knownInSlices(text: string): Slices<string>;
  textInSlices(text: string): Slices<string>;
  /** The length of the longest text that `known` replaces. */
  readonly reach: number;
  /** The same as `text`, with what was found where in the original text. */
  inspect(text: string): Inspected;
  /**
   * Redacts every string of plain data, and the whole value of a key like `password`. Returns the same object when nothing had
   * to change. Cycles and values that are nested too deep are left out.
   */
  value<Value>(value: Value): Value;
  /** A redacted copy of the error; the same object when it holds no secret. */
  error<Failure>(error: Failure): Failure;
}

/** A text without its secrets. `at` is the position in the original text. */
export interface Inspected {
  readonly text: string;
  readonly found: readonly { readonly name: string; readonly at: number }[];
}

/** A stretch of the text and the mark that replaces it. */
interface Redaction {
  readonly name: string;
  readonly mark: string;
  readonly start: number;
  readonly end: number;
}

export function createRedactor(secrets: KnownSecrets): Redactor {
  const { find: findKnown, findInSlices, reach } = knownFinder(secrets);
  const known = (text: string) => applyRedactions(text, findKnown(text));
  const text = (original: string) => {
    const rest = known(original);
    const spans = findSecrets(rest);
    return spans.length === 0 ? rest : applyRedactions(rest, spans.map(redactionOf));
  };
  function* knownInSlices(original: string): Slices<string> {
    return yield* applyInSlices(original, yield* findInSlices(original));
  }
  function* textInSlices(original: string): Slices<string> {
    const rest = yield* knownInSlices(original);
    const spans = yield* findSecretsInSlices(rest);
    return yield* applyInSlices(rest, spans.map(redactionOf));
  }
  return {
    known,
    text,
    knownInSlices,
    textInSlices,
    get reach() {
      return reach();
    },
    inspect: (original) => inspect(original, findKnown(original)),
    value: <Value>(value: Value) => redactData(value, text) as Value,
    error: <Failure>(error: Failure) => redactData(error, text) as Failure,
  };
}

const redactionOf = ({ rule, start, end }: SecretSpan): Redaction => ({
  name: rule,
  mark: `[redacted:${rule}]`,
  start,
  end,
});

interface KnownFinder {
  readonly find: (text: string) => readonly Redaction[];
  readonly findInSlices: (text: string) => Slices<readonly Redaction[]>;
  readonly reach: () => number;
}

interface NeedleScans {
  /** The length of the longest needle, with the characters at its ends that hold bits of it. */
  readonly reach: number;
  readonly values: NeedleScan<Needle>;
  /** Values and marks: a mark that was found hides the values within it. */
  readonly withMarks: () => NeedleScan<Needle>;
}

/** Builds its scans again when the known values have changed. */
function knownFinder(secrets: KnownSecrets): KnownFinder {
  let scans: NeedleScans | undefined;
  let revision = 0;
  const current = () => {
    if (revision !== secrets.revision) scans = scansOf(secrets.needles());
    revision = secrets.revision;
    return scans;
  };
  const find = (text: string) => {
    const present = text.length < limits.secretChars ? undefined : current();
    if (present === undefined || !present.values.isIn(text)) return NOTHING;
    return redactionsOf(text, present.withMarks().find(text));
  };
  function* findInSlices(text: string): Slices<readonly Redaction[]> {
    const present = current();
    if (present === undefined || !(yield* present.values.isInSlices(text))) return NOTHING;
    return redactionsOf(text, yield* present.withMarks().findInSlices(text));
  }
  return { find, findInSlices, reach: () => current()?.reach ?? 0 };
}

const redactionsOf = (text: string, found: readonly FoundNeedle<Needle>[]): readonly Redaction[] =>
  found.filter(({ needle }) => !isMark(needle)).map(({ needle, at }) => redactionAt(text, needle, at));

function scansOf(needles: readonly Needle[]): NeedleScans | undefined {
  const values = needles.filter((needle) => !isMark(needle));
  if (values.length === 0) return undefined;
  return {
    reach: 2 + Math.max(...values.map(({ text }) => text.length)),
    values: new NeedleScan(values),
    withMarks: once(() => new NeedleScan(needles)),
  };
}

const isMark = ({ text, mark }: Needle) => text === mark;

const redactionAt = (text: string, { text: needle, mark, before, behind }: Needle, at: number): Redaction => ({
  name: mark.slice(1, -1),
  mark,
  start: at - (before === 1 && isOfBase64(text, at - 1) ? 1 : 0),
  end: at + needle.length + (behind === 1 && isOfBase64(text, at + needle.length) ? 1 : 0),
});

const NOTHING: readonly Redaction[] = [];
const isOfBase64 = (text: string, at: number) => /[A-Za-z0-9+/_-]/.test(text[at] ?? '');

function applyRedactions(text: string, redactions: readonly Redaction[]): string {
  return redactions.length === 0 ? text : atOnce(applyInSlices(text, redactions));
}

function* applyInSlices(text: string, redactions: readonly Redaction[]): Slices<string> {
  if (redactions.length === 0) return text;
  const joined: string[] = [];
  let parts: string[] = [];
  let [done, yielded] = [0, 0];
  for (const { mark, start, end } of redactions) {
    parts.push(text.slice(done, Math.max(done, wholeBefore(text, start))), mark);
    done = wholeBehind(text, end);
    if (done - yielded < STEP_UNITS) continue;
    joined.push(parts.join(''));
    parts = [];
    yield done - yielded;
    yielded = done;
  }
  joined.push(parts.join(''), text.slice(done));
  return joined.join('');
}

/** A surrogate pair is never split: its other half is replaced as well. */
const wholeBefore = (text: string, at: number) => (isWithinCharacter(text, at) ? at - 1 : at);
const wholeBehind = (text: string, at: number) => (isWithinCharacter(text, at) ? at + 1 : at);
const isWithinCharacter = (text: string, at: number) =>
  (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;

/** Positions refer to the original text, although patterns are searched for after known values were replaced. */
function inspect(original: string, known: readonly Redaction[]): Inspected {
  const rest = applyRedactions(original, known);
  const redactions = findSecrets(rest).map(redactionOf);
  const found = known.map(({ name, start: at }) => ({ name, at }));
  for (const { name, start } of redactions) found.push({ name, at: originalPosition(known, start) });
  return { text: applyRedactions(rest, redactions), found: found.sort((a, b) => a.at - b.at) };
}

function originalPosition(redactions: readonly Redaction[], at: number): number {
  let moved = at;
  for (const { mark, start, end } of redactions) {
    if (start + mark.length > moved) break;
    moved += end - start - mark.length;
  }
  return moved;
}

/** Takes known secrets out of what a server lists (tools, descriptions, instructions). The same object comes back when there are none. */
export function redactListed<Listed>(redactor: Pick<Redactor, 'known' | 'reach'>, listed: Listed): Listed {
  return redactor.reach === 0 ? listed : redactDescriptions(listed, redactor.known);
}

/** How much is taken out of a result: values that Plexus filled in, also what looks like a secret, or nothing. */
export type ResultRedaction = 'known' | 'patterns' | 'off';

/** Redacts a result as data, for a host that shows more of it than its text. */
export function redactResult<Value>(
  redactor: Pick<Redactor, 'known' | 'value' | 'reach'>,
  redaction: ResultRedaction,
  value: Value,
): Value {
  if (redaction === 'patterns') return redactor.value(value);
  return redaction === 'off' || redactor.reach === 0 ? value : redactTexts(value, redactor.known);
}

type AnyFunction = (...args: readonly never[]) => unknown;

/** The same functions; each failure that one throws, or rejects with, passes the redactor. */
export function redactFailures<Functions extends object>(
  redactor: Pick<Redactor, 'error'>,
  functions: Functions,
): Functions {
  const guarded = Object.entries(functions).map(([name, work]) => [name, guard(redactor, work)]);
  return Object.fromEntries(guarded) as Functions;
}

function guard({ error: redact }: Pick<Redactor, 'error'>, work: AnyFunction): AnyFunction {
  const rethrow = (failure: unknown): never => {
    throw redact(failure);
  };
  return (...args) => {
    try {
      const result = work(...args);
      return result instanceof Promise ? result.catch(rethrow) : result;
    } catch (failure) {
      return rethrow(failure);
    }
  };
}
