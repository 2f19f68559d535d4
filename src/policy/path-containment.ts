// Owns whether a path that a call names lies in a folder that a rule names. To allow, it must lie there for every reader and
// through every link; to close, it is enough that somebody could read it so.

import { isAbsolute, resolve, sep } from 'node:path';
import { limits } from '../model/limits.ts';
import { anyOf, blur, type TriState } from './tri-state.ts';

/** Where the server stands that is given the path. */
export interface PathContext {
  /** What its relative paths count from; absent where it is on another machine. */
  readonly folder: string | undefined;
  /** With all links followed; what does not exist stands for itself. `undefined`: it cannot be told. */
  readonly realPath: (path: string) => string | undefined;
}

/** Where a rule points. */
export interface Folder {
  readonly path: string;
  /** What it was written relative to: whoever can write there must not lead it elsewhere by a link. */
  readonly base?: string;
}

export function isUnder(value: string, folders: readonly Folder[], ground: PathContext): TriState {
  if (value.length > limits.ruleValues.pathChars) return 'unsure';
  const path = isPlain(value) ? value : pathOf(value);
  if (path !== undefined && anyOf(folders, (folder) => liesIn(path, folder, ground)) === 'yes') return 'yes';
  return mayLieIn(value, folders, ground) ? 'unsure' : 'no';
}

const isWindows = sep === '\\';
const SEPARATORS = isWindows ? /[\\/]/ : /\//;
/** Odd for a path, and read by some: escapes, variables, patterns, what ends a command, and what cannot be seen. */
const ODD = isWindows
  ? /[\p{Cc}\p{Cf}\p{Cs}$`*?<>|;"%]|&&|^\s|[\s.](?:[\\/]|$)|^~|~\d|^[\\/]{2}/u
  : /[\p{Cc}\p{Cf}\p{Cs}$`*?<>|;"\\]|&&|%[0-9a-f]{2}|^\s|\s$|^~/iu;
/** Where a second path begins, for those who take lists: a blank or a colon in a name is none. */
const NEXT = /[\s,;|&:=]+(?=["'@]*(?:\.{0,2}[\\/]|~))/;
const SCHEME = isWindows ? /^[a-z][a-z0-9+.-]+:|^.+:.*:|^[a-z]:(?![\\/])/i : /^[a-z][a-z0-9+.-]*:/i;
/** What an escape, a variable or a home would change, were it spelled in other characters. */
const MARKS = /[/\\.~%$:*?{},]/g;

/** It means one thing to everybody. */
function isPlain(path: string): boolean {
  if (path === '' || ODD.test(path) || NEXT.test(path) || SCHEME.test(path)) return false;
  if (path.split(SEPARATORS).includes('..') || (path.includes('{') && path.includes('..'))) return false;
  const normal = path.normalize('NFKC');
  return normal === path || normal.match(MARKS)?.length === path.match(MARKS)?.length;
}

/** What a `file:` address leads to, where that is beyond doubt. */
function pathOf(value: string): string | undefined {
  const [, written] = /^file:\/\/(?:localhost)?(\/[^?#]*)$/i.exec(value) ?? [];
  const decoded = written === undefined || isWindows ? undefined : decode(written);
  return decoded !== undefined && isPlain(decoded) ? decoded : undefined;
}

function liesIn(written: string, folder: Folder, { folder: stand, realPath }: PathContext): TriState {
  // Of another machine nobody knows where its links lead.
  if (stand === undefined || !isAbsolute(stand)) return 'unsure';
  const path = resolve(stand, written);
  const [real, root] = [realPath(path), realPath(folder.path)];
  if (real === undefined || root === undefined || isLedAway(folder, root, realPath)) return 'unsure';
  return (isWithin(path, folder.path) || isWithin(path, root)) && isWithin(real, root) ? 'yes' : 'no';
}

function isLedAway({ path, base }: Folder, root: string, realPath: PathContext['realPath']): boolean {
  if (base === undefined || !isWithin(path, base)) return false;
  const real = realPath(base);
  return real === undefined || !isWithin(root, real);
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

const isNear = (path: string, folder: string) => isWithin(path, folder) || isWithin(blur(path), blur(folder));

function mayLieIn(value: string, folders: readonly Folder[], { folder: stand, realPath }: PathContext): boolean {
  const roots = folders.flatMap(({ path }) => [path, realPath(path)]);
  const readings = readingsOf(value);
  return readings === undefined || readings.some((reading) => placesOf(reading).some(isClosed));

  function isClosed(place: string | undefined): boolean {
    if (place === undefined || MAGIC.test(place)) return true;
    const open = patternBase(place);
    return roots.some(
      (root) =>
        root === undefined || isNear(place, root) || (open !== undefined && (isNear(root, open) || isNear(open, root))),
    );
  }

  /** As it is written, where `..` goes back one name, and as the system goes, where it goes up from what a link led to. */
  function placesOf(reading: string): readonly (string | undefined)[] {
    const path = isAbsolute(reading) ? reading : stand && `${stand}${sep}${reading}`;
    return path === undefined || UNREADABLE.test(reading) || SCHEME.test(reading)
      ? [undefined]
      : [resolve(path), realPath(path)];
  }
}

/** Homes and variables: whoever reads them knows more than we do. */
const UNREADABLE = /[\p{Cc}\p{Cs}\ufffd$`]|^\s*~/u;

/** Links that lead somewhere else for each process. */
const MAGIC = /^\/(?:proc|dev\/fd)(?:\/|$)/;

/** For those who read `*` and the like as patterns: the folder below which they look. */
function patternBase(path: string): string | undefined {
  const at = path.search(/[*?[{]/);
  return at < 0 ? undefined : resolve(path.slice(0, at).replace(/[^\\/]*$/, '') || sep);
}

/** Everything that servers make of a text before they take it for a path; `undefined` where that does not end. */
function readingsOf(value: string): readonly string[] | undefined {
  if (LISTED.test(value)) return undefined;
  const found = new Set([value]);
  for (const text of found) {
    if (found.size > MOST_READINGS) return undefined;
    for (const read of READERS) found.add(read(text));
    for (const part of [...text.split(/[,;|&]/), ...text.split(NEXT)]) found.add(part);
  }
  // What has a reading without it is not looked at with its `file:`.
  return [...found].filter((text) => !FILE.test(text));
}

const MOST_READINGS = 64;
/** A list or a map written as a text, which some servers read as what it says. */
const LISTED = /^\s*[[{(]\s*["'[{/\\~]/;
const FILE = /^\s*file:/i;

const READERS: readonly ((text: string) => string)[] = [
  (text) => text.trim(),
  (text) => text.replace(/^\s*(["'`])(.*)\1\s*$/s, '$2'),
  (text) => text.replace(/^\s*@/, ''),
  (text) => text.normalize('NFKC'),
  (text) => text.replace(/\p{Cf}/gu, ''),
  (text) => text.replaceAll('\\', '/'),
  (text) => text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString()),
  (text) => text.replace(FILE, ''),
  (text) => text.replace(/^\s*file:\/\/[^/]*(?=\/)/i, ''),
  (text) => (FILE.test(text) ? text.replace(/[?#].*$/s, '') : text),
];

/** `undefined`: it is not written in that way. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
