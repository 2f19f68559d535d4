// Owns the proof that a key for proofs of possession can be made at any time: Node stops for ever where a key that it has just
// generated is exported while memory is collected.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { writeProgram } from '../../program.ts';
import { verifies } from '../../verifies.ts';

verifies('AUT-01', 'a key is made also while memory is collected', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plexus-dpop-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const program = await writeProgram(
    join(folder, 'program'),
    ['dpop', 'jwt', 'pkce'].map((name) => `auth/${name}`),
    // Fills the memory for what is new almost up, by other steps each time: it is collected while one of the next keys is made.
    `import { getHeapSpaceStatistics } from 'node:v8';
    import { createDpopKey } from './dpop.js';
    const room = () =>
      getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_available_size;
    for (let round = 0; round < 300; round++) {
      while (room() > 16_384) new Array(250 + round).fill(round);
      for (let made = 0; made < 4; made++) createDpopKey();
    }`,
  );
  const child = spawn(process.execPath, ['--max-semi-space-size=1', program], { stdio: 'inherit' });
  onTestFinished(() => void child.kill('SIGKILL'));
  expect(await once(child, 'exit')).toEqual([0, null]);
});
