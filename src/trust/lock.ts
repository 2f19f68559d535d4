// Owns the content of `plexus.lock`: how each tool of a server was defined when it was locked. The file is committed and read in
// reviews, so it holds pins and nothing personal: no grants, no paths, no addresses.

import { isObject } from '../kernel/json.ts';
import { latePattern } from '../kernel/late-pattern.ts';
import type { ServerName } from '../model/names.ts';
import { describeChanges } from './tool-changes.ts';
import { faultOfPin, type PinFault, type ToolPin } from './tool-pin.ts';

/** The pins of each server, by the tool's own name. */
export type Lock = ReadonlyMap<ServerName, ReadonlyMap<string, ToolPin>>;

export const LOCK_FILE = 'plexus.lock';

/**
 * Raised whenever the readable lines of the same tool change. Version 1 is read as well, but nobody promised that its lines were
 * checked.
 */
const VERSION = 2;

/** The same pins give the same text, in whatever order they were found. */
export function formatLock(lock: Lock, version: number = VERSION): string {
  const servers = sorted(lock).map(([server, tools]) => {
    const pins = sorted(tools).map(([tool, pin]) => [tool, lockEntry(pin)]);
    return [server, Object.fromEntries(pins)];
  });
  return `${escapeHidden(JSON.stringify({ version, servers: Object.fromEntries(servers) }, null, 2))}\n`;
}

/** A description of several lines is written as a list, so that a review shows the line that changed. */
function lockEntry({ hash, title, description, annotations, parameters, results }: ToolPin) {
  const lines = description?.split('\n');
  return {
    hash,
    title,
    description: lines && lines.length > 1 ? lines : description,
    annotations: annotations && Object.fromEntries(sorted(Object.entries(annotations))),
    parameters: Object.fromEntries(sorted(Object.entries(parameters))),
    results: results && Object.fromEntries(sorted(Object.entries(results))),
  };
}

/** The lines of one tool, as they stand in a lock behind the tool's name; all but the first are indented. */
export const linesOfPin = (pin: ToolPin): readonly string[] =>
  escapeHidden(JSON.stringify(lockEntry(pin), null, 2)).split('\n');

export const PIN_INDENT = ' '.repeat(6);
const SERVER_INDENT = ' '.repeat(4);

/** The index of the line with the tool's name. Nothing but names is indented so little in a lock that Plexus wrote. */
export function placeOfPin(lines: readonly string[], server: ServerName, tool: string): number {
  const nameLine = (indent: string, name: string) => `${indent}${escapeHidden(JSON.stringify(name))}: {`;
  return lines.indexOf(nameLine(PIN_INDENT, tool), lines.indexOf(nameLine(SERVER_INDENT, server)));
}

function sorted<Value>(entries: Iterable<readonly [string, Value]>): readonly (readonly [string, Value])[] {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

const hidden = latePattern(String.raw`[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\x7f-\x9f]`, 'gu');

/** A reviewer must see every character that a model would read. Invisible ones occur in JSON strings only, where an escape means the same. */
function escapeHidden(json: string): string {
  return json.replace(hidden(), (character) =>
    character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

export type LockRead =
  | { readonly kind: 'lock'; readonly lock: Lock; readonly olderVersion?: number }
  | { readonly kind: 'broken'; readonly fault: PinFault };

export function readLock(value: unknown): LockRead {
  if (!isObject(value)) return broken([], 'it is not a map');
  const { version, servers } = value;
  if (!isReadable(version)) return broken(['version'], `its version is not ${VERSION} or an older one`);
  if (!isObject(servers)) return broken(['servers'], 'its servers are not a map');
  const lock = new Map<ServerName, ReadonlyMap<string, ToolPin>>();
  for (const [server, tools] of Object.entries(servers)) {
    if (!isObject(tools)) return broken(['servers', server], 'its tools are not a map');
    const pins = new Map<string, ToolPin>();
    for (const [tool, entry] of Object.entries(tools)) {
      const pin = isObject(entry) ? { ...entry, description: joinLines(entry['description']) } : entry;
      const fault = faultOfPin(pin);
      if (fault) return broken(['servers', server, tool, ...fault.path], fault.problem);
      pins.set(tool, withoutUnknownFields(pin as ToolPin));
    }
    lock.set(server, pins);
  }
  return { kind: 'lock', lock, ...(version < VERSION && { olderVersion: version }) };
}

const isReadable = (version: unknown): version is number =>
  typeof version === 'number' && Number.isInteger(version) && version >= 1 && version <= VERSION;

const broken = (path: PinFault['path'], problem: string): LockRead => ({ kind: 'broken', fault: { path, problem } });

const joinLines = (text: unknown) =>
  Array.isArray(text) && text.every((line) => typeof line === 'string') ? text.join('\n') : text;

/** Drops fields that a later version of Plexus may have added. */
function withoutUnknownFields({ hash, title, description, annotations, parameters, results }: ToolPin): ToolPin {
  return {
    hash,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(annotations && { annotations }),
    parameters,
    ...(results && { results }),
  };
}

/** The change of one tool, or of a server without tools. */
export interface LockChange {
  readonly server: ServerName;
  readonly tool?: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** How a changed tool differs, in words. */
  readonly changes?: readonly string[];
}

/** Compares the hashes: `lock-lines.ts` compares what is stored beside them for people to read. */
export function compareLocks(before: Lock, now: Lock): readonly LockChange[] {
  return namesOf(before, now).flatMap((server): readonly LockChange[] => {
    const [old, present] = [before.get(server), now.get(server)];
    const tools = namesOf(old ?? none, present ?? none);
    if (tools.length > 0)
      return tools.flatMap((tool) => comparePins({ server, tool }, old?.get(tool), present?.get(tool)));
    if (old && present) return [];
    return [{ server, change: old ? 'removed' : 'added' }];
  });
}

function comparePins(
  id: { readonly server: ServerName; readonly tool: string },
  old: ToolPin | undefined,
  present: ToolPin | undefined,
): readonly LockChange[] {
  if (present === undefined) return [{ ...id, change: 'removed' }];
  if (old === undefined) return [{ ...id, change: 'added' }];
  return old.hash === present.hash ? [] : [{ ...id, change: 'changed', changes: describeChanges(old, present) }];
}

const none: ReadonlyMap<string, ToolPin> = new Map();
const namesOf = (...all: readonly ReadonlyMap<string, unknown>[]) =>
  [...new Set(all.flatMap((each) => [...each.keys()]))].sort();
