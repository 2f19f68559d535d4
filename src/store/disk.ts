// Owns how the store reads files that may be missing, and how it reports files that cannot be written.

import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fullness, isSystemError, reasonOf } from '../kernel/replace-file.ts';
import { RuntimeError } from '../model/errors.ts';

export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
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
