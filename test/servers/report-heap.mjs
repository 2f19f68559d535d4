// Owns what a process under test says about its memory, for `node --expose-gc --import`: at SIGUSR2 it collects its garbage and writes the
// bytes that are left into the file that PLEXUS_HEAP_FILE names.

import { renameSync, writeFileSync } from 'node:fs';

const file = process.env['PLEXUS_HEAP_FILE'];

async function report() {
  // One collection enables the next to free more.
  for (let time = 0; time < 5; time += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc();
  }
  writeFileSync(`${file}.new`, String(process.memoryUsage().heapUsed));
  renameSync(`${file}.new`, file);
}

process.on('SIGUSR2', () => void report());
