// Owns how the result of `plexus lock` is drawn: the tools that differ, the lines of the file that were edited, and what to do next.

import { LOCK_FILE, type LockChange } from '../../trust/lock.ts';
import type { EditedLine } from '../../trust/lock-lines.ts';
import type { Paint } from '../command.ts';
import { type Cell, printable, table } from './text.ts';

export interface LockDifferences {
  readonly file: string;
  readonly changes: readonly LockChange[];
  readonly edited: readonly EditedLine[];
  /** An older version of Plexus wrote the file. */
  readonly isOlder: boolean;
}

interface CheckedLock {
  readonly isAbsent: boolean;
  /** Every server could be compared. */
  readonly isComplete: boolean;
}

export function checkEnd({ changes, edited, isOlder }: LockDifferences, { isAbsent, isComplete }: CheckedLock): string {
  if (isAbsent) return `There is no ${LOCK_FILE}. Review the tools, then run: plexus lock`;
  if (changes.length > 0) return `The tools differ from ${LOCK_FILE}. Review them, then run: plexus lock`;
  if (edited.length > 0 && isOlder)
    return `${LOCK_FILE} was edited, or written by an older version of Plexus in other words. Review the tools, then run: plexus lock`;
  if (edited.length > 0)
    return `${LOCK_FILE} was edited: what it shows is not what its hashes stand for. Restore it from your version control, or review the tools and run: plexus lock`;
  const same = `${isComplete ? 'All tools are' : 'All reachable tools are'} as ${LOCK_FILE} records them.`;
  return isOlder ? `${same} It was written by an older version of Plexus: run plexus lock` : same;
}

export function lockDifferencesText({ file, changes, edited }: LockDifferences, paint: Paint): readonly string[] {
  const lines = edited.map((each) => editedText(file, each, paint));
  return [changes.length > 0 ? changesText(changes, paint) : '', lines.join('\n')].filter((text) => text !== '');
}

function editedText(file: string, { line, server, tool, changes }: EditedLine, paint: Paint): string {
  const place = paint.bold(`${printable(file)}:${line}`);
  if (tool === undefined) return `${place} is not as plexus lock writes it.`;
  const what = changes.length > 0 ? `: ${changes.join('; ')}` : '';
  return `${place} ${printable(`does not say what "${tool}" of server "${server}" is${what}`)}`;
}

export const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

function changesText(changes: readonly LockChange[], paint: Paint): string {
  const colors = { added: paint.green, removed: paint.red, changed: paint.yellow };
  const rows = changes.flatMap(({ server, tool = '(no tools)', change, changes: [first = '', ...more] = [] }) => {
    const row: Cell[] = [{ text: server }, { text: tool, paint: paint.bold }, { text: change, paint: colors[change] }];
    const further = more.map((text): Cell[] => [{ text: '' }, { text: '' }, { text: '' }, { text }]);
    return [[...row, { text: first }], ...further];
  });
  return table(['SERVER', 'TOOL', 'CHANGE', 'WHAT'], rows, paint);
}
