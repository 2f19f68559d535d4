// Owns keeping compiled code from one start of the command line to the next, in the folder of Plexus's caches, where Node can do
// it. Anything that goes wrong costs time and nothing else.

import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { cacheFolder, type HostEnvironment } from '../config/scopes.ts';

/** Since Node 22.8. `NODE_DISABLE_COMPILE_CACHE` switches it off, and `NODE_COMPILE_CACHE` names another folder. */
interface CompileCache {
  enableCompileCache?(folder: string): unknown;
}

/** Code that is loaded later is taken from the folder, and is stored there when the process ends. Whether there is such a folder. */
export function enableCompileCache(
  environment: Pick<HostEnvironment, 'home' | 'env' | 'platform'>,
  { enableCompileCache: enable }: CompileCache = process.getBuiltinModule('node:module') as CompileCache,
): boolean {
  if (enable === undefined) return false;
  const folder = cacheFolder(environment);
  try {
    for (const each of [dirname(folder), folder]) makeFolder(each);
    if (!isOwn(folder)) return false;
    enable(folder);
    return true;
  } catch {
    return false;
  }
}

/** Not with its parents: Node never returns where one is missing and cannot be made, as in some virtual file systems. */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) mkdirSync(folder, 0o700);
}

/** Compiled code from a folder that others can write to would be theirs. */
function isOwn(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}
