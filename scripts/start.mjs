// Owns `npm start`: sets up, runs the sample fleet, and serves it to other programs.

import { join } from 'node:path';
import { root, run, setUp } from './setup.mjs';

setUp();
run(process.execPath, [join(root, 'examples', 'sample-fleet', 'main.mjs')]);
await import('../examples/sample-fleet/serve.mjs');
