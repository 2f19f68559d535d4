// Owns `npm start`: sets up, then runs the sample fleet.

import { join } from 'node:path';
import { root, run, setUp } from './setup.mjs';

setUp();
run(process.execPath, [join(root, 'examples', 'sample-fleet', 'main.mjs')]);
