// Owns making a folder with all that leads to it. The system's own way to do so never ends where a parent is reported missing
// although it cannot be made, as in some virtual file systems.

import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isSystemError } from './replace-file.ts';

/** What is there already stays as it is. Each folder is tried twice at most: others may clear away or make the same ones. */
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
    // Who may not make a folder may still use the one that is there: some systems complain of the right before the name.
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
