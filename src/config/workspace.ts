// Owns which folder is the workspace: the one that Plexus is started in, or the nearest one above it in the same repository that
// has a project's file.

import { statSync } from 'node:fs';
import { type HostEnvironment, pathsOf, workspacePlaces } from './scopes.ts';

type Place = Pick<HostEnvironment, 'cwd' | 'home' | 'platform'>;

/**
 * The nearest folder counts alone: files of several folders would mix two projects' rules. A folder of another owner never counts,
 * since anybody may write above a folder in /tmp.
 */
export function findWorkspace({ cwd, home, platform }: Place): string {
  const folders = foldersToRoot({ cwd, home, platform });
  const owner = lookUp(cwd)?.uid;
  const hasFile = (folder: string) =>
    lookUp(folder)?.uid === owner && workspacePlaces({ cwd: folder, platform }).some(({ file }) => lookUp(file));
  return folders.find(hasFile) ?? cwd;
}

/** From the current folder up to the nearest one with `.git`, never above the home folder; without one only the current. */
function foldersToRoot({ cwd, home, platform }: Place): readonly string[] {
  const { dirname, join } = pathsOf(platform);
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.push(folder);
    if (lookUp(join(folder, '.git'))) return folders;
    if (isSameFolder(folder, home) || dirname(folder) === folder) return [cwd];
  }
}

/** A home folder may be written in another way than the current folder, through a link or in other letters. */
function isSameFolder(one: string, other: string): boolean {
  if (one === other) return true;
  const [a, b] = [lookUp(one), lookUp(other)];
  return a !== undefined && a.ino === b?.ino && a.dev === b.dev;
}

/** A path that may not be looked at does not count. */
function lookUp(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
