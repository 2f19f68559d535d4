// Owns the few things done to files: read if there, replace in one step, clear what a dead process left, say what went wrong.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RuntimeError } from '../model/errors.ts';

/** A temporary file lives for a moment; one of this age lost its process. */
const DEBRIS_MS = 60_000;

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

export async function removeDebris(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.endsWith('.tmp') && (await ageOf(join(folder, name))) > DEBRIS_MS)
      await rm(join(folder, name), { force: true });
  }
}

/** By the system's clock, which is the one that dates files; what is gone has no age. */
async function ageOf(file: string): Promise<number> {
  try {
    return Date.now() - (await stat(file)).mtimeMs;
  } catch (error) {
    if (isSystemError(error)) return 0;
    throw error;
  }
}

export async function replaceFile(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, text, { flag: 'wx', mode: 0o600 });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** A failure of the system becomes a sentence; everything else stays what it is. */
export function unwritable(error: unknown, folder: string): unknown {
  if (!isSystemError(error)) return error;
  const reason = reasons[error.code] ?? `the system says ${error.code}`;
  return new RuntimeError('STORE_UNWRITABLE', { folder, reason }, { cause: error });
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is full',
  EROFS: 'it is read-only',
  EACCES: 'you may not write there',
  EPERM: 'you may not write there',
  ENOTDIR: 'a part of its path is not a folder',
  EEXIST: 'it is not a folder',
};

function isSystemError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}
