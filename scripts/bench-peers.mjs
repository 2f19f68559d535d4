// Owns `npm run bench:peers`: installs the other libraries and Node 24 into `bench/peers`, then measures everything with that Node.

import { installPeers } from './peers.mjs';
import { run, setUp } from './setup.mjs';

if (process.env['PLEXUS_BENCH_PEERS'] === '1') {
  const { main } = await import('../bench/main.mjs');
  process.exitCode = await main(process.argv.slice(2), { withPeers: true });
} else {
  setUp();
  const env = { ...process.env, PLEXUS_BENCH_PEERS: '1' };
  run(installPeers('peers'), [import.meta.filename, ...process.argv.slice(2)], { env });
}
