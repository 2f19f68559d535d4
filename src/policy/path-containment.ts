// Owns whether a path in a call's arguments is inside a folder that a rule names. "yes" means inside for every server that may
// read the path, through every link; "unsure" means that some server could read the text as a path inside.

import { isAbsolute, resolve, sep } from 'node:path';
import { latePattern } from '../kernel/late-pattern.ts';
import { limits } from '../model/limits.ts';
import { anyOf, looseForm, type TriState } from './tri-state.ts';

/** The file system of the server that is given the path. */
export interface PathContext {
  /** The folder that the server's relative paths are resolved from; `undefined` for a server on another machine. */
  readonly folder: string | undefined;
  /** Follows all links; a path that does not exist is returned as it is. `undefined`: the links cannot be read. */
  readonly realPath: (path: string) => string | undefined;
}

/** A folder that a rule names, resolved. */
export interface RuleFolder {
  readonly path: string;
  /** The folder it was written relative to. A link must not lead out of it: others may be able to write there. */
  readonly base?: string;
}

export function containment(value: string, folders: readonly RuleFolder[], context: PathContext): TriState {
  if (value.length > limits.ruleValues.pathChars) return 'unsure';
  const path = isPlain(value) ? value : pathOfFileUrl(value);
  const isInside = (each: string) => anyOf(folders, (folder) => containmentIn(each, folder, context)) === 'yes';
  if (path !== undefined && isInside(path) && pathsListedIn(path).every(isInside)) return 'yes';
  return mayBeWithin(value, folders, context) ? 'unsure' : 'no';
}

const isWindows = sep === '\\';
const SEPARATORS = isWindows ? /[\\/]/ : /\//;
/** Characters that some servers interpret: escapes, variables, patterns, command separators and invisible characters. */
const ODD = isWindows
  ? latePattern('[\\p{Cc}\\p{Cf}\\p{Cs}$`*?<>|;"%]|&&|^\\s|[\\s.](?:[\\\\/]|$)|^~|~\\d|^[\\\\/]{2}', 'u')
  : latePattern('[\\p{Cc}\\p{Cf}\\p{Cs}$`*?<>|;"\\\\]|&&|%[0-9a-f]{2}|^\\s|\\s$|^~', 'iu');
/** The separator before a second path, for servers that accept lists; a blank or a colon inside a name does not count. */
const NEXT = /[\s,;|&:=]+(?=["'@]*(?:\.{0,2}[\\/]|~))/;
const SCHEME = isWindows ? /^[a-z][a-z0-9+.-]+:|^.+:.*:|^[a-z]:(?![\\/])/i : /^[a-z][a-z0-9+.-]*:/i;
/** Characters with a meaning in paths. Compatibility characters that normalize to one of these could smuggle it in. */
const MARKS = /[/\\.~%$:*?{},]/g;

/**
 * The paths that a server finds in the text if it takes lists. What stands behind a colon counts only where it looks like a path:
 * times have colons too.
 */
function pathsListedIn(text: string): readonly string[] {
  const [, ...behind] = isWindows ? [] : text.split(':');
  const hasSecond = behind.some((part) => /^\s*[.~]|\//.test(part));
  const listed = [...text.split(LIST), ...(hasSecond ? text.split(':') : [])];
  return listed.map((part) => part.trim()).filter((part) => part !== '');
}

const LIST = /[,;|&]/;

/** Whether every server reads the text as the same path. */
function isPlain(path: string): boolean {
  if (path === '' || ODD().test(path) || NEXT.test(path) || SCHEME.test(path)) return false;
  if (path.split(SEPARATORS).includes('..') || (path.includes('{') && path.includes('..'))) return false;
  const normal = path.normalize('NFKC');
  return normal === path || normal.match(MARKS)?.length === path.match(MARKS)?.length;
}

/** The path of a `file:` URL, where every server finds the same one. */
function pathOfFileUrl(value: string): string | undefined {
  const [, written] = /^file:\/\/(?:localhost)?(\/[^?#]*)$/i.exec(value) ?? [];
  const decoded = written === undefined || isWindows ? undefined : decode(written);
  return decoded !== undefined && isPlain(decoded) ? decoded : undefined;
}

function containmentIn(written: string, folder: RuleFolder, { folder: cwd, realPath }: PathContext): TriState {
  // The links of another machine cannot be followed from here.
  if (cwd === undefined || !isAbsolute(cwd)) return 'unsure';
  const path = resolve(cwd, written);
  const [real, root] = [realPath(path), realPath(folder.path)];
  if (real === undefined || root === undefined || leavesBase(folder, root, realPath)) return 'unsure';
  return (isWithin(path, folder.path) || isWithin(path, root)) && isWithin(real, root) ? 'yes' : 'no';
}

function leavesBase({ path, base }: RuleFolder, root: string, realPath: PathContext['realPath']): boolean {
  if (base === undefined || !isWithin(path, base)) return false;
  const real = realPath(base);
  return real === undefined || !isWithin(root, real);
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

const isLooselyWithin = (path: string, folder: string) =>
  isWithin(path, folder) || isWithin(looseForm(path), looseForm(folder));

function mayBeWithin(value: string, folders: readonly RuleFolder[], { folder: cwd, realPath }: PathContext): boolean {
  const roots = folders.flatMap(({ path }) => [path, realPath(path)]);
  const readings = readingsOf(value);
  return readings === undefined || readings.some((reading) => targetsOf(reading).some(mayBeInside));

  function mayBeInside(target: string | undefined): boolean {
    if (target === undefined || PROCESS_LINKS.test(target)) return true;
    const base = patternBase(target);
    return roots.some(
      (root) =>
        root === undefined ||
        isLooselyWithin(target, root) ||
        (base !== undefined && (isLooselyWithin(root, base) || isLooselyWithin(base, root))),
    );
  }

  /** Resolved as text, where `..` removes one name, and as the system does it, where `..` goes up from a link's target. */
  function targetsOf(reading: string): readonly (string | undefined)[] {
    const path = isAbsolute(reading) ? reading : cwd && `${cwd}${sep}${reading}`;
    return path === undefined || UNREADABLE().test(reading) || SCHEME.test(reading)
      ? [undefined]
      : [resolve(path), realPath(path)];
  }
}

/** Home folders and variables that the server expands and Plexus cannot. */
const UNREADABLE = latePattern('[\\p{Cc}\\p{Cs}\\ufffd$`]|^\\s*~', 'u');

/** Links that lead somewhere else in each process. */
const PROCESS_LINKS = /^\/(?:proc|dev\/fd)(?:\/|$)/;

/** For servers that expand patterns: the folder below which they look. */
function patternBase(path: string): string | undefined {
  const at = path.search(/[*?[{]/);
  return at < 0 ? undefined : resolve(path.slice(0, at).replace(/[^\\/]*$/, '') || sep);
}

/** Every path that servers may make of a text, by any sequence of `READERS`; `undefined` where there are too many. */
function readingsOf(value: string): readonly string[] | undefined {
  if (LISTED.test(value)) return undefined;
  const readings = new Set([value]);
  for (const text of readings) {
    if (readings.size > MOST_READINGS) return undefined;
    for (const read of READERS) readings.add(read(text));
    for (const part of [...text.split(LIST), ...text.split(NEXT), ...text.split(/[\s:]+/)]) readings.add(part);
  }
  // A text with `file:` also has a reading without it, which is the one that counts.
  return [...readings].filter((text) => !FILE.test(text));
}

const MOST_READINGS = 64;
/** A list or a map written as text, which some servers parse. */
const LISTED = /^\s*[[{(]\s*["'[{/\\~]/;
const FILE = /^\s*file:/i;

const invisible = latePattern(String.raw`\p{Cf}`, 'gu');

const READERS: readonly ((text: string) => string)[] = [
  (text) => text.trim(),
  (text) => text.replace(/^\s*(["'`])(.*)\1\s*$/s, '$2'),
  (text) => text.replace(/^\s*@/, ''),
  (text) => text.normalize('NFKC'),
  (text) => text.replace(invisible(), ''),
  (text) => text.replaceAll('\\', '/'),
  (text) => text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString()),
  (text) => text.replace(FILE, ''),
  (text) => text.replace(/^\s*file:\/\/[^/]*(?=\/)/i, ''),
  (text) => (FILE.test(text) ? text.replace(/[?#].*$/s, '') : text),
];

/** `undefined`: the text is not valid percent-encoding. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
