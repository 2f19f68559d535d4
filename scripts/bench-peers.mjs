// Owns `npm run bench:peers`: installs the other libraries and Node 24 into `bench/peers`, which has a lockfile of its own, then
// measures everything with that Node.

import { join } from 'node:path';
import { npmCommand, root, run, setUp } from './setup.mjs';

const folder = join(root, 'bench', 'peers');

if (process.env['PLEXUS_BENCH_PEERS'] === '1') {
  const { main } = await import('../bench/main.mjs');
  process.exitCode = await main(process.argv.slice(2), { withPeers: true });
} else {
  setUp();
  // `npm ci` refuses the lockfile for lack of packages that are optional on other platforms.
  const { command, args, options } = npmCommand('install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error');
  run(command, args, { ...options, cwd: folder });
  const node = join(folder, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  const env = { ...process.env, PLEXUS_BENCH_PEERS: '1' };
  run(node, [import.meta.filename, ...process.argv.slice(2)], { env });
}
