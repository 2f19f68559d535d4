// Owns where a path really leads: every link on the way followed, as the system would, also those that lead to nothing yet.

import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, isAbsolute, join, parse, sep } from 'node:path';

/** As many as Linux follows. */
const MOST_LINKS = 40;

/**
 * What does not exist stands for itself; a link to it counts all the same, since whoever writes there follows it. `..` goes up
 * from where a link has led. `undefined`: it cannot be told.
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

/** The last one first. */
function partsOf(path: string): string[] {
  const { root } = parse(path);
  return path
    .slice(root.length)
    .split(sep === '\\' ? /[\\/]/ : '/')
    .filter((part) => part !== '' && part !== '.')
    .reverse();
}

/** `null`: there is none; `undefined`: it cannot be told. */
function linkAt(path: string): string | null | undefined {
  try {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    return isLink ? readlinkSync(path) : null;
  } catch (error) {
    // Below a file nothing can be; whoever may not look there, or is told that it is too long, does not know.
    return (error as NodeJS.ErrnoException).code === 'ENOTDIR' ? null : undefined;
  }
}
