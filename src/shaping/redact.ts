// Owns taking secrets out of what is kept or shown: first the values that are known, then what looks like one. There is one
// redactor for logs, events, errors, traces and files; what a model reads loses only what is known, so that it can edit a file.

import { limits } from '../model/limits.ts';
import { redactData } from './secrets/data.ts';
import { findSecrets } from './secrets/find.ts';
import type { KnownSecrets, Needle } from './secrets/known.ts';
import { NeedleScan } from './secrets/needle-scan.ts';

export { KnownSecrets } from './secrets/known.ts';

export interface Redactor {
  /** Known values only: for what a model reads. Text without any comes back as the same string. */
  known(text: string): string;
  /** Known values, then key names and value patterns: for everything that is logged, emitted, traced or stored. */
  text(text: string): string;
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
  const knownIn = knownFinder(secrets);
  const known = (text: string) => cutOut(text, knownIn(text));
  const text = (given: string) => {
    const rest = known(given);
    return cutOut(rest, findSecrets(rest).map(cutOf));
  };
  return {
    ...{ known, text },
    inspect: (given) => inspect(given, knownIn(given)),
    value: <Value>(given: Value) => redactData(given, text) as Value,
    error: <Failure>(given: Failure) => redactData(given, text) as Failure,
  };
}

const cutOf = ({ rule, start, end }: ReturnType<typeof findSecrets>[number]): Cut => ({
  ...{ name: rule, mark: `[redacted:${rule}]` },
  ...{ start, end },
});

/** Made anew when the values have changed. */
function knownFinder(secrets: KnownSecrets): (text: string) => readonly Cut[] {
  let scan: NeedleScan<Needle> | undefined;
  let revision = 0;
  return (text) => {
    if (revision !== secrets.revision) {
      revision = secrets.revision;
      const needles = secrets.needles();
      scan = needles.length === 0 ? undefined : new NeedleScan(needles);
    }
    if (scan === undefined || text.length < limits.secretChars) return NOTHING;
    // A mark is found so that nothing is found within it.
    const found = scan.find(text).filter(({ needle }) => needle.text !== needle.mark);
    return found.map(({ needle: { text: needle, mark, before, behind }, at }) => ({
      ...{ name: mark.slice(1, -1), mark },
      start: at - (before === 1 && isOfBase64(text, at - 1) ? 1 : 0),
      end: at + needle.length + (behind === 1 && isOfBase64(text, at + needle.length) ? 1 : 0),
    }));
  };
}

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
