// Owns the description of how a tool has changed: a few short lines that a person reads before approving it again. The texts come
// from an untrusted server, so invisible characters, cursor movements and line breaks are made visible.

import { latePattern } from '../kernel/late-pattern.ts';
import { visible } from '../kernel/shell-word.ts';
import { limits } from '../model/limits.ts';
import type { ToolPin } from './tool-pin.ts';
import { wordChanges } from './word-changes.ts';

/** Never empty for two tools that differ: a difference in a part that was cut is at least mentioned. */
export function describeChanges(before: ToolPin, now: ToolPin): readonly string[] {
  if (before.hash === now.hash) return [];
  const found = describeLines(before, now);
  return found.length > 0 ? found : ['its definition is different in a part that is too long to be shown'];
}

/** The same for the readable lines alone, whatever the hashes are. */
export function describeLines(before: ToolPin, now: ToolPin): readonly string[] {
  const found = [
    ...textChanges('title', before.title, now.title),
    ...textChanges('description', before.description, now.description),
    ...hintChanges(before.annotations ?? {}, now.annotations ?? {}),
    ...lineChanges('parameter', before.parameters, now.parameters),
    ...lineChanges('result', before.results ?? {}, now.results ?? {}),
  ];
  const { lines } = limits.toolChanges;
  return found.length <= lines ? found : [...found.slice(0, lines), `${found.length - lines} more differences`];
}

function textChanges(what: string, before: string | undefined, now: string | undefined): readonly string[] {
  if (before === now) return [];
  if (before === undefined) return [`${what} was added: ${quoted(now ?? '')}`];
  if (now === undefined) return [`${what} was removed: ${quoted(before)}`];
  const changes = wordChanges(before, now);
  if (changes.length === 0) return [`${what}: only the space between its words is different`];
  const { places } = limits.toolChanges;
  const shownChanges = changes.slice(0, places).map(({ removed, added }) => {
    if (removed === '') return `${what}: added ${quoted(added)}`;
    return added === '' ? `${what}: removed ${quoted(removed)}` : `${what}: ${quoted(removed)} became ${quoted(added)}`;
  });
  return changes.length > places
    ? [...shownChanges, `${what}: different in ${changes.length - places} more places`]
    : shownChanges;
}

type LinesByName = Readonly<Record<string, string>>;

function lineChanges(what: string, before: LinesByName, now: LinesByName): readonly string[] {
  return namesOf(before, now).flatMap((name) => {
    const [old, present] = [own(before, name), own(now, name)];
    const place = `${what} ${shown(name, limits.toolChanges.quoteChars)}`;
    if (old === undefined) return [`${place} was added: ${shown(present ?? '', limits.toolChanges.quoteChars)}`];
    if (present === undefined) return [`${place} was removed`];
    const isLong = Math.max(old.length, present.length) > SHORT;
    return isLong || old === present
      ? textChanges(place, old, present)
      : [`${place} was ${quoted(old)} and is ${quoted(present)}`];
  });
}

/** Up to this length both texts are shown in full; of longer ones only the words that differ. */
const SHORT = 100;

function hintChanges(before: LinesByName, now: LinesByName): readonly string[] {
  return namesOf(before, now).flatMap((name) => {
    const [old, present] = [own(before, name), own(now, name)];
    if (old === present) return [];
    const [was, is] = [old, present].map((value) => (value === undefined ? 'absent' : shown(value, 100)));
    return [`${shown(name, 100)} was ${was} and is ${is}`];
  });
}

const namesOf = (...all: readonly LinesByName[]) => [...new Set(all.flatMap((each) => Object.keys(each)))].sort();
/** Own properties only, because a parameter may have any name, such as `constructor`. */
const own = (lines: LinesByName, name: string) => (Object.hasOwn(lines, name) ? lines[name] : undefined);

const quoted = (text: string) => `"${shown(text, limits.toolChanges.quoteChars)}"`;

const ignorable = latePattern(String.raw`\p{Default_Ignorable_Code_Point}`, 'gu');

/** Of a text that is too long both ends are shown, because the change that matters may be at either. */
function shown(text: string, most: number): string {
  const seen = visible(text.replace(/\s+/gu, ' ')).replace(
    ignorable(),
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
  if (seen.length <= most) return seen;
  const tail = Math.floor(most / 3);
  const left = seen.length - most;
  return `${seen.slice(0, most - tail)} [${left} characters] ${seen.slice(-tail)}`;
}
