// Owns the comparison of two texts word by word. How the changes are described is in `tool-changes.ts`.

import { limits } from '../model/limits.ts';

export interface WordChange {
  readonly removed: string;
  readonly added: string;
}

/** In order; empty where only the space between the words differs. */
export function wordChanges(before: string, now: string): readonly WordChange[] {
  const [old, fresh] = [wordsOf(before), wordsOf(now)];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let end = 0;
  const most = Math.min(old.length, fresh.length) - start;
  while (end < most && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end++;
  return compare(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end));
}

const wordsOf = (text: string) => text.split(/\s+/u).filter((word) => word !== '');

/** Where the table would be too large, the whole text counts as replaced. */
function compare(old: readonly string[], fresh: readonly string[]): readonly WordChange[] {
  if (old.length === 0 && fresh.length === 0) return [];
  if (old.length * fresh.length > limits.toolChanges.compared) return [changeOf(old, fresh)];
  const width = fresh.length + 1;
  const common = commonLengths(old, fresh, width);
  const changes: WordChange[] = [];
  let [removed, added]: [string[], string[]] = [[], []];
  const close = () => {
    if (removed.length > 0 || added.length > 0) changes.push(changeOf(removed, added));
    [removed, added] = [[], []];
  };
  for (let [i, j] = [0, 0]; i < old.length || j < fresh.length; ) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      close();
      i++;
      j++;
    } else if (
      j >= fresh.length ||
      (i < old.length && at(common, (i + 1) * width + j) >= at(common, i * width + j + 1))
    )
      removed.push(old[i++] ?? '');
    else added.push(fresh[j++] ?? '');
  }
  close();
  return changes;
}

/** At `i * width + j`: the length of the longest common subsequence of `old` from `i` and `fresh` from `j`. */
function commonLengths(old: readonly string[], fresh: readonly string[], width: number): Uint16Array {
  const common = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = fresh.length - 1; j >= 0; j--)
      common[i * width + j] =
        old[i] === fresh[j]
          ? at(common, (i + 1) * width + j + 1) + 1
          : Math.max(at(common, (i + 1) * width + j), at(common, i * width + j + 1));
  return common;
}

const at = (table: Uint16Array, index: number) => table[index] ?? 0;
const changeOf = (removed: readonly string[], added: readonly string[]): WordChange => ({
  removed: removed.join(' '),
  added: added.join(' '),
});
