// Owns what an importer is: which files another agent keeps its servers in, where in them they stand, and what its own words
// mean in ours. Reading, checking and merging what it finds is the same for all, and not its work.

import type { ConfigMap, KeyPath } from '../config-map.ts';
import type { HostEnvironment } from '../scopes.ts';

export interface Importer {
  /** The app as a person types it: `plexus import --from cursor`. */
  readonly app: string;
  /** The app as a person reads it. */
  readonly title: string;
  /** Every file that may hold servers, strongest first; most of them do not exist. */
  readonly places: (environment: HostEnvironment) => readonly ImportPlace[];
  /** Where the servers of such a file stand, strongest first. */
  readonly find: (content: ConfigMap, environment: HostEnvironment) => readonly EntryGroup[];
  /** Says one entry in our words, where this app uses one of them for something else. */
  readonly translate?: (entry: ConfigMap) => ConfigMap;
}

export interface ImportPlace {
  readonly file: string;
  /** Whether whoever wrote the repository wrote it. */
  readonly inWorkspace: boolean;
}

/** One map, or list, of servers. */
export interface EntryGroup {
  /** From the top of the file. */
  readonly path: KeyPath;
  readonly entries: unknown;
  /** The folder these servers are for, when it is not this one: they are told of, not taken. */
  readonly forFolder?: string;
  /** They are for this folder, and not for all. */
  readonly isForThisFolder?: true;
}
