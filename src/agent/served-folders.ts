// Owns the folders in which conversations of a served agent may work: which they are, and the runtime of each.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Runtime } from '../api.ts';
import { isWithin } from '../config/scopes.ts';
import { realPath } from '../kernel/real-path.ts';

/** The folders that conversations may work in beside the agent's own folder. */
export interface ServedFolders {
  /** Folders outside of the agent's own; what lies below them counts too. */
  readonly allowed: readonly string[];
  /** Opens a runtime for one of these folders, or one below the agent's own. It is closed when no conversation needs it. */
  open(cwd: string): Promise<Runtime>;
}

export interface FolderLease {
  readonly runtime: Runtime;
  release(): Promise<void>;
}

export interface Folders {
  /** The folder that a client means. Throws for one that is not allowed, or not there. */
  find(asked: string): string;
  /** The runtime of a folder that `find` gave, or that a conversation was opened with. */
  lease(folder: string): Promise<FolderLease>;
}

export interface FoldersDeps {
  readonly cwd: string;
  readonly runtime: Runtime;
  readonly served: ServedFolders | undefined;
}

export function createFolders({ cwd, runtime, served }: FoldersDeps): Folders {
  const own = realPath(resolve(cwd)) ?? cwd;
  const opened = new Map<string, { readonly runtime: Promise<Runtime>; leases: number }>();
  /** Links are followed: a link out of an allowed folder leads out of it. */
  const find = (asked: string): string => {
    const folder = realPath(resolve(own, asked));
    const roots = [own, ...(served?.allowed ?? []).map((each) => realPath(resolve(own, each)))];
    const isAllowed = (path: string) =>
      path === own ||
      (served !== undefined && roots.some((root) => root !== undefined && isWithin(root, path, process.platform)));
    if (folder === undefined || !isAllowed(folder)) throw new Error(`This agent does not work in the folder ${asked}.`);
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw new Error(`There is no folder ${asked}.`);
    return folder;
  };
  return {
    find,
    async lease(asked) {
      const folder = find(asked);
      if (folder === own || served === undefined) return { runtime, release: async () => undefined };
      const entry = opened.get(folder) ?? { runtime: served.open(folder), leases: 0 };
      opened.set(folder, entry);
      entry.leases++;
      const release = async () => {
        if (--entry.leases > 0) return;
        opened.delete(folder);
        await (await entry.runtime).close();
      };
      try {
        return { runtime: await entry.runtime, release };
      } catch (error) {
        if (--entry.leases === 0) opened.delete(folder);
        throw error;
      }
    },
  };
}
