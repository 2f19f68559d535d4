// Owns the interface to a child process and its descendants: whether any of them runs, and how to signal them all.
// `group-family.ts` and `tree-family.ts` find the descendants on each platform.

import { errorCode } from './error-code.ts';

export type EndSignal = 'SIGTERM' | 'SIGKILL';

export interface Family {
  isRunning(): boolean | Promise<boolean>;
  /** Reaches every process of the family that still runs, and never another process that reuses the pid of one that is gone. */
  signal(signal: EndSignal): void | Promise<void>;
}

export interface Leader {
  readonly pid: number;
  readonly mark: string;
  /** Until the leader has exited, the system gives its pid to no other process. */
  hasExited(): boolean;
}

/** Returns whether such a process exists; a negative pid names a process group. */
export function send(pid: number, signal: EndSignal | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ESRCH') return false;
    if (code === 'EPERM') return true;
    throw error;
  }
}
