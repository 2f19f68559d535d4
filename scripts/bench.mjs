// Owns `npm run bench`: sets up, then measures Plexus against the SDK's clients and a hand-written one.

import { main } from '../bench/main.mjs';
import { setUp } from './setup.mjs';

setUp();
process.exitCode = await main(process.argv.slice(2));
