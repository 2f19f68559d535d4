// Owns `npm test`: sets up, then runs every test, or those named on the command line. What chance draws follows from a
// printed seed; PLEXUS_SEED repeats a run. PLEXUS_LONG=1, as `.ci/run` sets it, draws ten times as much.

import { bin, run, setUp } from './setup.mjs';

const isLong = process.env['PLEXUS_LONG'] === '1';
const seed = process.env['PLEXUS_SEED'] ?? String(Date.now() % 1_000_000);

setUp();
console.error(
  `seed ${seed}, ${isLong ? 'everything' : 'a tenth of what .ci/run draws'}. Again: PLEXUS_SEED=${seed} npm test`,
);
run(process.execPath, [bin('vitest', 'vitest.mjs'), 'run', ...process.argv.slice(2)], {
  env: { ...process.env, PLEXUS_SEED: seed },
});
