// Owns what a process under test says about V8's room for what is over at once, for `node --import`: at SIGUSR2 it makes so much garbage
// that V8 would give it as much room as it ever does, and writes the bytes of that room into the file that PLEXUS_HEAP_FILE names.

import { renameSync, writeFileSync } from 'node:fs';
import { getHeapSpaceStatistics } from 'node:v8';

const file = process.env['PLEXUS_HEAP_FILE'];

function report() {
  let kept = [];
  for (let made = 0; made < 3_000_000; made += 1) {
    kept.push([made, made]);
    if (kept.length > 10_000) kept = [];
  }
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  writeFileSync(`${file}.new`, String(young.physical_space_size));
  renameSync(`${file}.new`, file);
}

process.on('SIGUSR2', report);
