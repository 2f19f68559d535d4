// Owns telling whether the process that left something on the disk has ended, where Linux says so beyond doubt. Elsewhere, and
// in any doubt, nothing is known, and whoever asks waits as it would without this.

import { readFileSync, readlinkSync } from 'node:fs';
import { isSystemError } from './replace-file.ts';

/**
 * One line that means this very process and never another one: where its pid counts, the pid, and when it began, since pids
 * come back. Asked anew each time: a process that was frozen and thawed elsewhere has another one.
 */
export function markOfThisProcess(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const [where, began] = [whereOurPidCounts(), statOf('self')?.began];
  return where === undefined || began === undefined ? undefined : `${where} ${process.pid} ${began}`;
}

const MARK = /^(\S+ \S+ \S+) ([1-9]\d{0,8}) (\d+)$/;

/** `own`: the mark of who asks. False also means that nobody knows. */
export function hasEnded(mark: string, own: string | undefined): boolean {
  const [, where, pid = '', began] = MARK.exec(mark) ?? [];
  if (where === undefined || where !== MARK.exec(own ?? '')?.[1]) return false;
  if (!exists(Number(pid))) return true;
  const found = statOf(pid);
  return found !== undefined && (found.began !== began || found.isOver);
}

/** This machine since it was switched on, and how a container sees it: the same pid, or time, means something else in another. */
function whereOurPidCounts(): string | undefined {
  // More than one pid: this /proc belongs to another container, and its numbers mean others.
  const isOurs = read('/proc/self/status')?.match(/^NSpid:\t(\d+)$/m)?.[1] === String(process.pid);
  const boot = read('/proc/sys/kernel/random/boot_id')?.trim();
  const pids = orNothing(() => readlinkSync('/proc/self/ns/pid'));
  // Older kernels know but one time.
  const time = orNothing(() => readlinkSync('/proc/self/ns/time')) ?? '-';
  return isOurs && boot && pids ? `${boot} ${pids} ${time}` : undefined;
}

function statOf(pid: string): { readonly began: string | undefined; readonly isOver: boolean } | undefined {
  // The command's name stands in parentheses and may hold anything, even a parenthesis.
  const fields = read(`/proc/${pid}/stat`)?.split(') ').at(-1)?.split(' ');
  if (fields === undefined) return undefined;
  // A zombie only waits for its parent to notice; but with several threads, those that are left may still be writing.
  const [state, threads, began] = [fields[0], fields[17], fields[19]];
  return { began, isOver: state === 'Z' && Number(threads) <= 1 };
}

/** Asked of the system, since /proc may hide what is not one's own. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if (isSystemError(error)) return error.code !== 'ESRCH';
    throw error;
  }
}

const read = (file: string) => orNothing(() => readFileSync(file, 'latin1'));

function orNothing<Value>(reading: () => Value): Value | undefined {
  try {
    return reading();
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
