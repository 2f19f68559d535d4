// Owns replacing a file atomically: a reader gets the whole old text or the whole new one, whatever happens meanwhile.

import { randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { type FileHandle, lstat, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError } from './system-error.ts';

export { isSystemError } from './system-error.ts';

export interface ReplaceOptions {
  /** The permission bits, regardless of the process's umask. Default: only the owner may read and write. */
  readonly mode?: number;
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** Asked just before the rename; `false` leaves the old file in place. */
  readonly mayReplace?: () => boolean;
}

/** Returns whether the file was replaced. The new text is on the disk before the rename. */
export async function replaceFile(file: string, text: string, options: ReplaceOptions = {}): Promise<boolean> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await writeThrough(temporary, text, options);
    if (options.mayReplace?.() === false) return false;
    // Synchronous, so that hardly anything can happen between the check and the rename.
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

/** Temporary files and locks exist for a moment; the process of one of this age is dead. */
const DEBRIS_MS = 60_000;
const TEMPORARY = /\.(?:\d+-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

/** Removes temporary files that dead processes left in a folder, of files whose names begin with `beginning`. */
export async function removeDebris(folder: string, beginning = ''): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(beginning) || !TEMPORARY.test(name)) continue;
    const path = join(folder, name);
    if ((await ageOf(path)) > DEBRIS_MS) await rm(path, { recursive: true, force: true });
  }
}

/** By the system's clock, which also dates files; 0 for a file that is gone. */
export async function ageOf(path: string): Promise<number> {
  try {
    return Date.now() - (await lstat(path)).mtimeMs;
  } catch (error) {
    if (isSystemError(error)) return 0;
    throw error;
  }
}

/** Why writing failed, to complete "it cannot be written: …". */
export function reasonOf(error: Error & { readonly code: string }): string {
  return reasons[error.code] ?? `the system says ${error.code}`;
}

/** Marks the data of an error where the disk is full: then no path is at fault. */
export const fullness = ({ code }: { readonly code: string }): { readonly isFull?: true } =>
  code === 'ENOSPC' || code === 'EDQUOT' ? { isFull: true } : {};

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
