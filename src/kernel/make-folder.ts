// Owns making a folder with its parents. Node's `mkdir({ recursive: true })` never ends where a parent is reported missing and
// cannot be made, as in some virtual file systems.

import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isSystemError } from './replace-file.ts';

/** An existing folder stays as it is. Each folder is tried at most twice: other processes may remove or make the same ones. */
export async function makeFolder(folder: string, options: { readonly mode?: number } = {}): Promise<void> {
  try {
    await mkdirOnce(folder, options);
  } catch (error) {
    const parent = dirname(folder);
    if (!isSystemError(error) || error.code !== 'ENOENT' || parent === folder) throw error;
    await makeFolder(parent, options);
    await mkdirOnce(folder, options);
  }
}

async function mkdirOnce(folder: string, { mode }: { readonly mode?: number }): Promise<void> {
  try {
    await mkdir(folder, mode);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    // The folder may exist although making it is forbidden: some systems report the missing permission first.
    if (!(await isFolder(folder))) throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}
