// Owns how the store reads files that may be missing, and how it reports files that cannot be written.

import { closeSync, open, readFileSync } from 'node:fs';
import { fullness, isSystemError, reasonOf } from '../kernel/replace-file.ts';
import { RuntimeError } from '../model/errors.ts';

/**
 * Opening a file may take long, on a hanging network folder for example, so it is asynchronous. An open file is read synchronously:
 * the files of the store are small, and four turns of the thread pool for each cost more than all of them hold.
 */
export function readIfThere(file: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    open(file, (failed, opened) => {
      try {
        if (failed) throw failed;
        resolve(readOpened(opened));
      } catch (error) {
        if (isSystemError(error)) resolve(undefined);
        else reject(error);
      }
    });
  });
}

function readOpened(opened: number): string {
  try {
    return readFileSync(opened, 'utf8');
  } finally {
    closeSync(opened);
  }
}

/** Synchronous, so that a watcher misses no change between its creation and its first read. */
export function readNow(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/** Turns a system error into a `STORE_UNWRITABLE`; returns any other error unchanged. */
export function unwritable(error: unknown, folder: string): unknown {
  if (!isSystemError(error)) return error;
  return new RuntimeError(
    'STORE_UNWRITABLE',
    { folder, reason: reasonOf(error), ...fullness(error) },
    { cause: error },
  );
}
