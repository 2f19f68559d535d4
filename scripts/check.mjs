// Owns `npm run check`: the static checks alone.

import { runChecks } from './checks.mjs';
import { setUp } from './setup.mjs';

setUp();
const { failed } = await runChecks();
process.exitCode = failed === 0 ? 0 : 1;
