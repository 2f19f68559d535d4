// Owns watching the configuration files: it polls them, since nothing else works for links, network folders and files that do not
// exist yet. A change is reported once the files have stayed the same for a while.

import { stat } from 'node:fs/promises';
import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { limits } from '../model/limits.ts';

export interface WatchOptions {
  /** Called at every poll: a new configuration may have other files. */
  readonly files: () => readonly string[];
  readonly clock: Clock;
  readonly changed: () => void;
}

/** Returns the function that stops watching. */
export function watchFiles({ files, clock, changed }: WatchOptions): () => void {
  let stopped = false;
  let cancel: CancelTimer | undefined;
  let reported: string | undefined;
  let last: string | undefined;
  const poll = async () => {
    const seen = await fingerprint(files());
    if (stopped) return;
    reported ??= seen;
    // The same twice in a row: the program that writes the files is done.
    if (seen === last && seen !== reported) {
      reported = seen;
      changed();
    }
    last = seen;
    cancel = clock.after(limits.settleMs, () => void poll(), 'background');
  };
  void poll();
  return () => {
    stopped = true;
    cancel?.();
  };
}

/** Changes with every write, replacement and removal. */
async function fingerprint(files: readonly string[]): Promise<string> {
  const fingerprints = await Promise.all(files.map((file) => fingerprintOf(file)));
  return JSON.stringify(fingerprints.map((each, at) => [files[at], each]));
}

async function fingerprintOf(file: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(file);
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return String(error.code);
    throw error;
  }
}
