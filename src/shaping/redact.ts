// Owns taking secrets out of what is kept or shown: first the values that are known, then what looks like one. There is one
// redactor for logs, events, errors, traces and files; what a model reads loses only what is known, so that it can edit a file.

import { once } from '../kernel/once.ts';
import { limits } from '../model/limits.ts';
import { redactData, redactDescriptions, redactTexts } from './secrets/data.ts';
import { findSecrets } from './secrets/find.ts';
import type { KnownSecrets, Needle } from './secrets/known.ts';
import { NeedleScan } from './secrets/needle-scan.ts';

export { KnownSecrets } from './secrets/known.ts';

export interface Redactor {
  /** Known values only: for what a model reads. Text without any comes back as the same string. */
  known(text: string): string;
  /** Known values, then key names and value patterns: for everything that is logged, emitted, traced or stored. */
  text(text: string): string;
  /** How long the longest text is that `known` takes out. */
  readonly reach: number;
  /** The same, and what was found where in the given text. */
  inspect(text: string): Inspected;
  /**
   * Plain data with every string redacted and the values of telling keys replaced whole. The same object comes back when
   * nothing had to change. What holds itself, or lies too deep, is left out.
   */
  value<Value>(value: Value): Value;
  /** The same failure in redacted words; the very same when it holds no secret. */
  error<Failure>(error: Failure): Failure;
}

export interface Inspected {
  readonly text: string;
  readonly found: readonly { readonly name: string; readonly at: number }[];
}

/** What is replaced, in the order of the text. */
interface Cut {
  readonly name: string;
  readonly mark: string;
  readonly start: number;
  readonly end: number;
}

export function createRedactor(secrets: KnownSecrets): Redactor {
  const { find: knownIn, reach } = knownFinder(secrets);
  const known = (text: string) => cutOut(text, knownIn(text));
  const text = (given: string) => {
    const rest = known(given);
    const found = findSecrets(rest);
    return found.length === 0 ? rest : cutOut(rest, found.map(cutOf));
  };
  return {
    ...{ known, text },
    get reach() {
      return reach();
    },
    inspect: (given) => inspect(given, knownIn(given)),
    value: <Value>(given: Value) => redactData(given, text) as Value,
    error: <Failure>(given: Failure) => redactData(given, text) as Failure,
  };
}

const cutOf = ({ rule, start, end }: ReturnType<typeof findSecrets>[number]): Cut => ({
  ...{ name: rule, mark: `[redacted:${rule}]` },
  ...{ start, end },
});

interface KnownFinder {
  readonly find: (text: string) => readonly Cut[];
  readonly reach: () => number;
}

interface Needles {
  /** No value is longer, with what belongs to it on either side. */
  readonly reach: number;
  readonly values: NeedleScan<Needle>;
  /** A mark is found so that nothing is found within it. */
  readonly withMarks: () => NeedleScan<Needle>;
}

/** Made anew when the values have changed. */
function knownFinder(secrets: KnownSecrets): KnownFinder {
  let needles: Needles | undefined;
  let revision = 0;
  const present = () => {
    if (revision !== secrets.revision) needles = needlesOf(secrets.needles());
    revision = secrets.revision;
    return needles;
  };
  const find = (text: string) => {
    const looked = text.length < limits.secretChars ? undefined : present();
    if (looked === undefined || !looked.values.isIn(text)) return NOTHING;
    const found = looked.withMarks().find(text);
    return found.filter(({ needle }) => !isMark(needle)).map(({ needle, at }) => cutAt(text, needle, at));
  };
  return { find, reach: () => present()?.reach ?? 0 };
}

function needlesOf(needles: readonly Needle[]): Needles | undefined {
  const values = needles.filter((needle) => !isMark(needle));
  if (values.length === 0) return undefined;
  return {
    reach: 2 + Math.max(...values.map(({ text }) => text.length)),
    values: new NeedleScan(values),
    withMarks: once(() => new NeedleScan(needles)),
  };
}

const isMark = ({ text, mark }: Needle) => text === mark;

const cutAt = (text: string, { text: needle, mark, before, behind }: Needle, at: number): Cut => ({
  ...{ name: mark.slice(1, -1), mark },
  start: at - (before === 1 && isOfBase64(text, at - 1) ? 1 : 0),
  end: at + needle.length + (behind === 1 && isOfBase64(text, at + needle.length) ? 1 : 0),
});

const NOTHING: readonly Cut[] = [];
const isOfBase64 = (text: string, at: number) => /[A-Za-z0-9+/_-]/.test(text[at] ?? '');

function cutOut(text: string, cuts: readonly Cut[]): string {
  if (cuts.length === 0) return text;
  const parts: string[] = [];
  let done = 0;
  for (const { mark, start, end } of cuts) {
    parts.push(text.slice(done, Math.max(done, wholeBefore(text, start))), mark);
    done = wholeBehind(text, end);
  }
  return parts.join('') + text.slice(done);
}

/** No character is split in two: its other half goes as well. */
const wholeBefore = (text: string, at: number) => (isWithinCharacter(text, at) ? at - 1 : at);
const wholeBehind = (text: string, at: number) => (isWithinCharacter(text, at) ? at + 1 : at);
const isWithinCharacter = (text: string, at: number) =>
  (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;

/** Places are told in the given text, although the second look is at what the first one left. */
function inspect(given: string, known: readonly Cut[]): Inspected {
  const rest = cutOut(given, known);
  const cuts = findSecrets(rest).map(cutOf);
  const found = known.map(({ name, start: at }) => ({ name, at }));
  for (const { name, start } of cuts) found.push({ name, at: placeBefore(known, start) });
  return { text: cutOut(rest, cuts), found: found.sort((a, b) => a.at - b.at) };
}

function placeBefore(cuts: readonly Cut[], at: number): number {
  let moved = at;
  for (const { mark, start, end } of cuts) {
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
