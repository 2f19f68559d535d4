// Owns the few things the store asks of files: read if there, and say what went wrong.

import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isSystemError, reasonOf } from '../kernel/replace-file.ts';
import { RuntimeError } from '../model/errors.ts';

export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/** At once, so that a watcher misses nothing between its beginning and its first look. */
export function readNow(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/** A failure of the system becomes a sentence; everything else stays what it is. */
export function unwritable(error: unknown, folder: string): unknown {
  if (!isSystemError(error)) return error;
  return new RuntimeError('STORE_UNWRITABLE', { folder, reason: reasonOf(error) }, { cause: error });
}
