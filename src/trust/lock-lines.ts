// Owns the check that the lines of `plexus.lock` that people read in a review say what its hashes stand for: a lock whose hash is
// right and whose description was edited would show reviewers another tool than the one that runs.

import { canonicalJson } from '../kernel/json.ts';
import type { ServerName } from '../model/names.ts';
import { formatLock, type Lock, linesOfPin, PIN_INDENT, placeOfPin } from './lock.ts';
import { describeLines } from './tool-changes.ts';
import type { ToolPin } from './tool-pin.ts';

/** A place in the lock that is not as Plexus writes it. */
export interface EditedLine {
  /** Counts from 1. */
  readonly line: number;
  /** The tool whose lines these are, where they are those of one tool. */
  readonly server?: ServerName;
  readonly tool?: string;
  /** How the tool differs from what the lock shows of it, in words. */
  readonly changes: readonly string[];
}

/**
 * `text` is the file that `before` was read from, `version` the one that it names. Tools with another hash are left out: those have
 * changed, which `compareLocks` says.
 */
export function editedLines(text: string, before: Lock, now: Lock, version?: number): readonly EditedLine[] {
  // Git may have given the file the line ends of Windows.
  const found = text.replace(/\r\n/g, '\n').split('\n');
  const other = firstDifference(found, formatLock(before, version).split('\n'));
  const tools = [...before].flatMap(([server, pins]) =>
    [...pins].flatMap(([tool, pin]): readonly EditedLine[] => {
      const present = now.get(server)?.get(tool);
      if (present?.hash !== pin.hash || canonicalJson(present) === canonicalJson(pin)) return [];
      const at = lineOf(found, placeOfPin(found, server, tool), present) ?? other ?? 0;
      return [{ line: at + 1, server, tool, changes: describeLines(pin, present) }];
    }),
  );
  return tools.length > 0 || other === undefined ? tools : [{ line: other + 1, changes: [] }];
}

/** The first line of the tool that begins at `place` and is not as it would be written now. */
function lineOf(found: readonly string[], place: number, present: ToolPin): number | undefined {
  if (place < 0) return undefined;
  // The first line has the tool's name before it, and the last one a comma behind it where another tool follows.
  const lines = linesOfPin(present).slice(1, -1);
  const difference = lines.findIndex((line, at) => found[place + 1 + at] !== PIN_INDENT + line);
  return place + 1 + (difference < 0 ? lines.length : difference);
}

/** The index of the first line that is not the same in both. */
function firstDifference(a: readonly string[], b: readonly string[]): number | undefined {
  const length = Math.max(a.length, b.length);
  for (let at = 0; at < length; at++) if (a[at] !== b[at]) return at;
  return undefined;
}
