// Owns `npm run bench:frameworks`: what the adapters cost, and Plexus against the MCP clients that frameworks bring along. It installs the
// frameworks of `test/frameworks` and Node 24, and measures everything with that Node.

import { parseArgs } from 'node:util';
import { installFrameworks } from './frameworks.mjs';
import { run, setUp } from './setup.mjs';

const thorough = { rounds: 5, calls: 5_000, times: 7, warmUpCpuMs: 700, forCpuMs: 500, longestMs: 1_800_000 };

if (process.env['PLEXUS_BENCH_FRAMEWORKS'] === '1') process.exitCode = await main();
else {
  setUp();
  const env = { ...process.env, PLEXUS_BENCH_FRAMEWORKS: '1' };
  run(installFrameworks(), [import.meta.filename, ...process.argv.slice(2)], { env });
}

async function main() {
  const { reportText, run: measure, warnIfBusy } = await import('../bench/main.mjs');
  const { judge } = await import('../bench/promises.mjs');
  const { measures } = await import('../bench/frameworks/measures.mjs');
  const { promises: table } = await import('../bench/frameworks/promises.mjs');
  const options = { only: { type: 'string', multiple: true }, rounds: { type: 'string' } };
  const { values } = parseArgs({ options });
  const rounds = Number(values.rounds ?? thorough.rounds);
  warnIfBusy();
  const rows = await measure(measures, values.only ?? Object.keys(measures), { ...thorough, rounds });
  if (rows === 'interrupted') return 130;
  const judged = judge(rows, { table });
  console.log(reportText(rows, judged, rounds));
  return judged.every(({ passed }) => passed) ? 0 : 1;
}
