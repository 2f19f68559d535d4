// Owns the words for a child and its descendants: whether any of them runs, and how to signal them all.
// How a platform finds them is in `group-family.ts` and `tree-family.ts`.

import { errorCode } from './error-code.ts';

export type EndSignal = 'SIGTERM' | 'SIGKILL';

export interface Family {
  isRunning(): boolean | Promise<boolean>;
  /** Reaches whoever is left, and never a stranger who was given the number of one that is gone. */
  signal(signal: EndSignal): void | Promise<void>;
}

export interface Leader {
  readonly pid: number;
  readonly mark: string;
  /** Until it has exited, its number cannot be anyone else's. */
  hasExited(): boolean;
}

/** Says whether there was anyone to reach; a negative number means a group. */
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
