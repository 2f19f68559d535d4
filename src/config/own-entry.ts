// Owns recognizing Plexus itself among the servers of other programs: `plexus connect` in an editor's file is that editor's way to
// the gateway. Taken over as a server, it would put the gateway behind itself.

import { win32 } from 'node:path';
import type { Launch } from '../model/server.ts';

/** The program by its name, as a package, or as a file of its build. */
const PROGRAM = /^plexus(?:@[^/\\]*)?(?:\.(?:cmd|exe|ps1|js))?$/i;
const BUILT = /[\\/]dist[\\/]cli\.c?js$/;
const VERBS: readonly (string | undefined)[] = ['connect', 'serve'];

export function isOwnEntry(launch: Launch): boolean {
  if (launch.kind !== 'stdio') return false;
  const words = [launch.command, ...launch.args];
  const isProgram = (word: string) => BUILT.test(word) || PROGRAM.test(win32.basename(word));
  return words.some((word, at) => isProgram(word) && VERBS.includes(words[at + 1]));
}
