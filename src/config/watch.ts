// Owns noticing that a file of the configuration changed, came or went: by looking, since nothing else works for links, network
// folders and files that do not exist yet. Nothing is told before the files have been left alone for a while.

import { stat } from 'node:fs/promises';
import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { limits } from '../model/limits.ts';

export interface WatchOptions {
  /** Asked at every look: a new configuration may have other files. */
  readonly files: () => readonly string[];
  readonly clock: Clock;
  readonly changed: () => void;
}

/** Returns how to stop. */
export function watchFiles({ files, clock, changed }: WatchOptions): () => void {
  let stopped = false;
  let cancel: CancelTimer | undefined;
  let told: string | undefined;
  let last: string | undefined;
  const look = async () => {
    const seen = await appearance(files());
    if (stopped) return;
    told ??= seen;
    // The same twice in a row: whoever wrote it is done.
    if (seen === last && seen !== told) {
      told = seen;
      changed();
    }
    last = seen;
    cancel = clock.after(limits.settleMs, () => void look(), 'background');
  };
  void look();
  return () => {
    stopped = true;
    cancel?.();
  };
}

/** Changes with every write, replacement and removal. */
async function appearance(files: readonly string[]): Promise<string> {
  const looks = await Promise.all(files.map((file) => appearanceOf(file)));
  return JSON.stringify(looks.map((look, at) => [files[at], look]));
}

async function appearanceOf(file: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(file);
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return String(error.code);
    throw error;
  }
}
