// Owns the form of a stored tool list that its readers share: the key, the version, and the summary that stands beside the tools.

import { identity } from '../model/identity.ts';
import { limits } from '../model/limits.ts';

/** Raised whenever the stored form changes: lists of another version are not read. */
export const LIST_VERSION = 1;

export const listKey = (key: string): string => `tools:${key}`;

/** The tools as a list of servers tells them, so that it need not check and present each definition again. */
export interface StoredSummary {
  /** The version of Plexus that presented the tools: another one may present them otherwise. */
  readonly by: string;
  readonly names: readonly string[];
  /** The tools that a model sees in a reduced form. */
  readonly reduced: readonly string[];
}

export const summaryBy: string = identity.version;

/** Problems are stored too, because a user asks why a tool is missing long after the list came. */
export function storedProblems(problems: readonly unknown[]): readonly string[] {
  const texts = problems.filter((problem) => typeof problem === 'string');
  return texts.slice(0, limits.listProblems + 2).map((text) => text.slice(0, limits.toolCache.problemChars));
}
