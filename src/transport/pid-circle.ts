// Owns telling which processes may have been started since a moment, from their numbers alone: Linux gives numbers out in a circle.
// A search for descendants then opens the few files of new processes instead of those of the whole machine.

import { readFileSync } from 'node:fs';
import { errorCode } from './error-code.ts';

export interface CirclePlace {
  /** The number that was given out last, in the numbering of this process. */
  readonly last: number;
  /** How many processes and threads there are, each of which has a number. */
  readonly tasks: number;
  /** How many were started since the machine was. */
  readonly started: number;
  /** The numbers are below this one. */
  readonly size: number;
}

/** The numbers below are given out once, and skipped when the circle begins anew. */
const RESERVED = 300;

/** `undefined` where the system does not say. */
export function placeInCircle(): CirclePlace | undefined {
  try {
    const [, tasks, last] = /\/(\d+) (\d+)\s*$/.exec(readFileSync('/proc/loadavg', 'latin1')) ?? [];
    const [, started] = /^processes (\d+)$/m.exec(readFileSync('/proc/stat', 'latin1')) ?? [];
    const size = Number(readFileSync('/proc/sys/kernel/pid_max', 'latin1'));
    if (last === undefined || started === undefined) return undefined;
    return { last: Number(last), tasks: Number(tasks), started: Number(started), size };
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}

/**
 * Whether a process of this number may have been started between the two moments. All may, unless it is certain that no number was
 * given out twice: a full circle takes as many starts as there are free numbers, of which the starts themselves use up some.
 */
export function mayBeNew(then: CirclePlace | undefined, now: CirclePlace | undefined): (pid: number) => boolean {
  if (then === undefined || now === undefined) return () => true;
  const starts = now.started - then.started;
  if (then.tasks + 2 * starts >= now.size - RESERVED) return () => true;
  return then.last <= now.last
    ? (pid) => pid > then.last && pid <= now.last
    : (pid) => pid > then.last || pid <= now.last;
}
