// Owns `npm run bench:gateway`: Plexus's gateway against others and against a pass-through written by hand. It installs the others and
// Node 24 into `bench/gateway`, which has a lockfile of its own, and measures everything with that Node.

import { parseArgs } from 'node:util';
import { installPeers } from './peers.mjs';
import { run, setUp } from './setup.mjs';

const thorough = { rounds: 5, calls: 8_000, longestMs: 1_800_000 };

if (process.env['PLEXUS_BENCH_GATEWAY'] === '1') process.exitCode = await main();
else {
  setUp();
  const node = installPeers('gateway');
  run(node, [import.meta.filename, ...process.argv.slice(2)], { env: { ...process.env, PLEXUS_BENCH_GATEWAY: '1' } });
}

async function main() {
  const { reportText, run: measure, warnIfBusy } = await import('../bench/main.mjs');
  const { judge } = await import('../bench/promises.mjs');
  const { rivals } = await import('../bench/gateway/gateways.mjs');
  const { measures } = await import('../bench/gateway/measures.mjs');
  const { promises: table } = await import('../bench/gateway/promises.mjs');
  const { values } = parseArgs({ options: { rounds: { type: 'string' }, calls: { type: 'string' } } });
  const rounds = Number(values.rounds ?? thorough.rounds);
  const calls = Number(values.calls ?? thorough.calls);
  warnIfBusy();
  const rows = await measure(measures, Object.keys(measures), { ...thorough, rounds, calls });
  if (rows === 'interrupted') return 130;
  const judged = judge(rows, { table, rivals });
  console.log(reportText(rows, judged, rounds));
  return judged.every(({ passed }) => passed) ? 0 : 1;
}
