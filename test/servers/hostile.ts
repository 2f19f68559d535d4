// Owns how tests start the hostile server: as an entry of a configuration, with its flags.

import { fileURLToPath } from 'node:url';

export const HOSTILE = fileURLToPath(new URL('./hostile.mjs', import.meta.url));

export function hostile(...flags: readonly string[]): { command: string; args: string[] } {
  return { command: process.execPath, args: [HOSTILE, ...flags] };
}
