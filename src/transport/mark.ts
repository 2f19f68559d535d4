// Owns the mark that every child process carries in its environment and passes on to its descendants.
// The mark finds descendants that left their process group.

import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type CirclePlace, mayBeNew, placeInCircle } from './pid-circle.ts';
import { environmentOf, listProcesses } from './proc.ts';

export const MARK_VARIABLE = 'PLEXUS_PROCESS';

/** The prefix of all marks of this host process; no other host has the same. */
export const hostMark = randomBytes(8).toString('hex');

const PREFIX = `${MARK_VARIABLE}=${hostMark}.`;

/** How many processes are read before the event loop gets a turn. */
const AT_ONCE = 64;

let marks = 0;
/** Before the first process with a mark was started. */
let beginning: CirclePlace | undefined;
let walk: Promise<ReadonlyMap<string, number[]>> = Promise.resolve(new Map());
let nextWalk: typeof walk | undefined;

export function createMark(): string {
  if (marks === 0) beginning = placeInCircle();
  marks += 1;
  return `${hostMark}.${marks}`;
}

export function carries(pid: number, mark: string): boolean {
  return environmentOf(pid).includes(`${MARK_VARIABLE}=${mark}`);
}

/**
 * Every process of this machine with that mark. One walk through /proc serves all callers that asked before it began, so
 * that a hundred servers that end together do not cause a hundred walks.
 */
export async function findMarked(mark: string): Promise<readonly number[]> {
  nextWalk ??= walk.then(() => {
    nextWalk = undefined;
    walk = walkProcesses();
    return walk;
  });
  return (await nextWalk).get(mark) ?? [];
}

async function walkProcesses(): Promise<ReadonlyMap<string, number[]>> {
  const found = new Map<string, number[]>();
  const listed = listProcesses();
  for (const [index, pid] of listed.filter(mayBeNew(beginning, placeInCircle())).entries()) {
    const entry = environmentOf(pid).find((each) => each.startsWith(PREFIX));
    const mark = entry?.slice(MARK_VARIABLE.length + 1);
    if (mark !== undefined) found.set(mark, [...(found.get(mark) ?? []), pid]);
    if (index % AT_ONCE === AT_ONCE - 1) await nextTurn();
  }
  return found;
}
