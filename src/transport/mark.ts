// Owns the mark every child carries in its environment and hands on to its descendants:
// it finds those that left their process group.

import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { environmentOf, listProcesses } from './proc.ts';

export const MARK_VARIABLE = 'PLEXUS_PROCESS';

/** What all marks of this host begin with, and no other host's do. */
export const hostMark = randomBytes(8).toString('hex');

const PREFIX = `${MARK_VARIABLE}=${hostMark}.`;

/** How many processes are looked at before others get their turn. */
const AT_ONCE = 64;

let marks = 0;
let walk: Promise<ReadonlyMap<string, number[]>> = Promise.resolve(new Map());
let nextWalk: typeof walk | undefined;

export function createMark(): string {
  marks += 1;
  return `${hostMark}.${marks}`;
}

export function carries(pid: number, mark: string): boolean {
  return environmentOf(pid).includes(`${MARK_VARIABLE}=${mark}`);
}

/**
 * Every process of this machine with that mark. One walk serves all who asked before it began: a hundred servers that
 * end together are not looked for a hundred times.
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
  for (const [index, pid] of listProcesses().entries()) {
    const entry = environmentOf(pid).find((each) => each.startsWith(PREFIX));
    const mark = entry?.slice(MARK_VARIABLE.length + 1);
    if (mark !== undefined) found.set(mark, [...(found.get(mark) ?? []), pid]);
    if (index % AT_ONCE === AT_ONCE - 1) await nextTurn();
  }
  return found;
}
