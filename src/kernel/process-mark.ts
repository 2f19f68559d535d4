// Owns telling whether the process that left a file on the disk has ended, where Linux can say so for certain. On other systems
// and in any doubt the answer is "not known", and the caller waits until the lock expires.

import { readFileSync, readlinkSync } from 'node:fs';
import { isSystemError } from './system-error.ts';

/**
 * One line that identifies this process for ever: the namespace of its pid, the pid, and its start time, since pids are reused.
 * Computed anew each time: a process that was checkpointed and restored elsewhere has another one.
 */
export function markOfThisProcess(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const [namespace, began] = [pidNamespace(), statOf('self')?.began];
  return namespace === undefined || began === undefined ? undefined : `${namespace} ${process.pid} ${began}`;
}

/** The same for another process of this machine, such as one that was just started. */
export function markOfProcess(pid: number): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const [namespace, began] = [pidNamespace(), statOf(String(pid))?.began];
  return namespace === undefined || began === undefined ? undefined : `${namespace} ${pid} ${began}`;
}

const MARK = /^(\S+ \S+ \S+) ([1-9]\d{0,8}) (\d+)$/;

/** The pid in a mark; `undefined` for a text that is none. */
export function pidOfMark(mark: string): number | undefined {
  const [, , pid] = MARK.exec(mark) ?? [];
  return pid === undefined ? undefined : Number(pid);
}

/** `own` is the mark of the calling process. False also means "not known". */
export function hasEnded(mark: string, own: string | undefined): boolean {
  const [, namespace, pid = '', began] = MARK.exec(mark) ?? [];
  if (namespace === undefined || namespace !== MARK.exec(own ?? '')?.[1]) return false;
  if (!exists(Number(pid))) return true;
  const stat = statOf(pid);
  return stat !== undefined && (stat.began !== began || stat.isOver);
}

/** Whether the process that a mark names has ended, by its start time alone: enough for a mark of this machine, and cheap. */
export function isOver(mark: string): boolean {
  const [, , pid = '', began] = MARK.exec(mark) ?? [];
  if (began === undefined) return false;
  const stat = statOf(pid);
  return stat === undefined ? !exists(Number(pid)) : stat.began !== began || stat.isOver;
}

/** The boot of this machine and the container's namespaces: the same pid or start time means another process elsewhere. */
function pidNamespace(): string | undefined {
  // With more than one pid this /proc belongs to another container, and its pids mean other processes.
  const isOurs = read('/proc/self/status')?.match(/^NSpid:\t(\d+)$/m)?.[1] === String(process.pid);
  const boot = read('/proc/sys/kernel/random/boot_id')?.trim();
  const pids = orUndefined(() => readlinkSync('/proc/self/ns/pid'));
  // Older kernels have no time namespaces.
  const time = orUndefined(() => readlinkSync('/proc/self/ns/time')) ?? '-';
  return isOurs && boot && pids ? `${boot} ${pids} ${time}` : undefined;
}

function statOf(pid: string): { readonly began: string | undefined; readonly isOver: boolean } | undefined {
  // The command's name stands in parentheses and may itself hold parentheses.
  const fields = read(`/proc/${pid}/stat`)?.split(') ').at(-1)?.split(' ');
  if (fields === undefined) return undefined;
  // A zombie has ended; but while it has several threads, the remaining ones may still be writing.
  const [state, threads, began] = [fields[0], fields[17], fields[19]];
  return { began, isOver: state === 'Z' && Number(threads) <= 1 };
}

/** Asks the kernel, because /proc may hide the processes of other users. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if (isSystemError(error)) return error.code !== 'ESRCH';
    throw error;
  }
}

const read = (file: string) => orUndefined(() => readFileSync(file, 'latin1'));

function orUndefined<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
