// Owns `npm test`: sets up, then runs every test, or those named on the command line.

import { bin, run, setUp } from './setup.mjs';

setUp();
run(process.execPath, [bin('vitest', 'vitest.mjs'), 'run', ...process.argv.slice(2)]);
