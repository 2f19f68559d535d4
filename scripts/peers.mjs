// Owns installing the programs of other people that a bench measures: in a folder of `bench`, which has a lockfile of its own, with the
// Node that runs them.

import { join } from 'node:path';
import { npmCommand, root, run } from './setup.mjs';

/** Gives the path of that Node. */
export function installPeers(name) {
  const folder = join(root, 'bench', name);
  // `npm ci` refuses the lockfile for lack of packages that are optional on other platforms.
  const { command, args, options } = npmCommand('install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error');
  run(command, args, { ...options, cwd: folder });
  return join(folder, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}
