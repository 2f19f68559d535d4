// Owns replacing a file in one step: whoever reads it meets the old text or the new one, whole, whatever happens meanwhile.

import { randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { type FileHandle, lstat, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

export interface ReplaceOptions {
  /** The permission bits, whatever the process's mask says. Otherwise only the owner may read and write it. */
  readonly mode?: number;
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** Asked in the last moment; a no leaves everything as it was. */
  readonly mayReplace?: () => boolean;
}

/** Says whether the file was replaced. The text is on the disk before it takes the name. */
export async function replaceFile(file: string, text: string, options: ReplaceOptions = {}): Promise<boolean> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await writeThrough(temporary, text, options);
    if (options.mayReplace?.() === false) return false;
    // At once, so that hardly anything can happen between the question and this.
    renameSync(temporary, file);
    return true;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function writeThrough(file: string, text: string, { mode = 0o600, owner }: ReplaceOptions): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    if (owner) await giveTo(handle, owner);
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function giveTo(handle: FileHandle, owner: { readonly uid: number; readonly gid: number }): Promise<void> {
  const { uid, gid } = await handle.stat();
  if (uid !== owner.uid || gid !== owner.gid) await handle.chown(owner.uid, owner.gid);
}

/** What waits to take its place, a text or a lock, does so for a moment; one of this age lost its process. */
const DEBRIS_MS = 60_000;
const TEMPORARY = /\.(?:\d+-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

/** Clears what dead processes left in a folder, of files whose names begin so. */
export async function removeDebris(folder: string, beginning = ''): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(beginning) || !TEMPORARY.test(name)) continue;
    const path = join(folder, name);
    if ((await ageOf(path)) > DEBRIS_MS) await rm(path, { recursive: true, force: true });
  }
}

/** By the system's clock, which is the one that dates files; what is gone has no age. */
export async function ageOf(path: string): Promise<number> {
  try {
    return Date.now() - (await lstat(path)).mtimeMs;
  } catch (error) {
    if (isSystemError(error)) return 0;
    throw error;
  }
}

export function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}

/** Why the system did not let us write, to complete "it cannot be written: …". */
export function reasonOf(error: Error & { readonly code: string }): string {
  return reasons[error.code] ?? `the system says ${error.code}`;
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is full',
  EROFS: 'it is read-only',
  EACCES: 'you may not write there',
  EPERM: 'you may not write there',
  ENOENT: 'a part of its path does not exist',
  ENOTDIR: 'a part of its path is not a folder',
  EEXIST: 'it is not a folder',
  ENOTEMPTY: 'a folder that should be empty holds something',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its links lead in a circle',
};
