// Owns resolving a path as the system would: every link on the way is followed, also links whose target does not exist yet.

import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, isAbsolute, join, parse, sep } from 'node:path';

/** The limit of Linux. */
const MOST_LINKS = 40;

/**
 * Parts that do not exist are kept as written; a link to them is followed, since a program that writes there follows it too. `..`
 * goes up from the target of a link. `undefined`: the path cannot be resolved.
 */
export function realPath(path: string): string | undefined {
  if (!isAbsolute(path)) return undefined;
  let { root: at } = parse(path);
  const ahead = partsOf(path);
  let links = 0;
  for (let part = ahead.pop(); part !== undefined; part = ahead.pop()) {
    if (part === '..') {
      at = dirname(at);
      continue;
    }
    const next = join(at, part);
    const target = linkAt(next);
    if (target === undefined || links > MOST_LINKS) return undefined;
    if (target === null) at = next;
    else {
      links++;
      if (isAbsolute(target)) at = parse(target).root;
      ahead.push(...partsOf(target));
    }
  }
  return at;
}

/** The names along the path, last one first. */
function partsOf(path: string): string[] {
  const { root } = parse(path);
  return path
    .slice(root.length)
    .split(sep === '\\' ? /[\\/]/ : '/')
    .filter((part) => part !== '' && part !== '.')
    .reverse();
}

/** The link's target; `null`: no link is there; `undefined`: not known. */
function linkAt(path: string): string | null | undefined {
  try {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    return isLink ? readlinkSync(path) : null;
  } catch (error) {
    // Below a file nothing can exist. Without permission, or for a name that is too long, the answer is not known.
    return (error as NodeJS.ErrnoException).code === 'ENOTDIR' ? null : undefined;
  }
}
