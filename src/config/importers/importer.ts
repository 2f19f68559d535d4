// Owns what an importer is: which files another agent keeps its servers in, where in such a file they stand, and which of its
// keys mean something else than ours. Reading, checking and merging the servers is the same for all apps, and done elsewhere.

import type { ConfigMap, KeyPath } from '../config-map.ts';
import type { HostEnvironment } from '../scopes.ts';

export interface Importer {
  /** The app as a person types it: `plexus import --from cursor`. */
  readonly app: string;
  /** The app as messages call it. */
  readonly title: string;
  /** Every file that may hold servers, strongest first; most of them do not exist. */
  readonly places: (environment: HostEnvironment) => readonly ImportPlace[];
  /** The groups of servers in such a file, strongest first. */
  readonly find: FindGroups;
  /** Rewrites one entry in our keys, where this app gives one of them another meaning. */
  readonly translate?: (entry: ConfigMap) => ConfigMap;
}

export type FindGroups = (content: ConfigMap, environment: HostEnvironment) => readonly EntryGroup[];

export interface ImportPlace {
  readonly file: string;
  /** Whether the file belongs to the repository, so that its author may have written it. */
  readonly inWorkspace: boolean;
}

/** One map, or list, of servers. */
export interface EntryGroup {
  /** From the top of the file. */
  readonly path: KeyPath;
  readonly entries: unknown;
  /** The folder these servers are for, when it is another one: they are reported, not used. */
  readonly forFolder?: string;
  /** The servers are for the current folder only. */
  readonly isForThisFolder?: true;
}
