// Owns how tests start the faulty server: as an entry of a configuration, with the flags that `faulty.mjs` explains.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The soak runs bundled, in another folder, and names the folder of the servers. */
const folder = process.env['PLEXUS_TEST_SERVERS'] ?? fileURLToPath(new URL('.', import.meta.url));

export const FAULTY = join(folder, 'faulty.mjs');

export function faulty(...flags: readonly string[]): { command: string; args: string[] } {
  return { command: process.execPath, args: [FAULTY, ...flags] };
}
