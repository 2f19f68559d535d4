// Owns the proof that what `npm start` runs does its job: three real servers, their tools, and one real call.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const program = fileURLToPath(new URL('../../examples/sample-fleet/main.mjs', import.meta.url));

test('the sample fleet comes up, lists its tools and reads a note', () => {
  const { status, stdout } = spawnSync(process.execPath, [program], { encoding: 'utf8', timeout: 60_000 });
  expect(status).toBe(0);
  for (const name of ['everything', 'files', 'memory'])
    expect(stdout).toMatch(new RegExp(`^ +${name} +connected +\\d+ tools`, 'm'));
  expect(stdout).toMatch(/^ +mcp__files__read_text_file +Read/m);
  expect(stdout).toContain('You are reading this through Plexus');
  expect(stdout).toMatch(/^Tools \(\d+ that a model is shown: \d+ of the servers, \d of Plexus itself\)$/m);
  expect(stdout).toMatch(/^The call took \d+ ms: the checks of Plexus and the work of the server\.$/m);
  expect(stdout).toMatch(/^ {2}plexus import {2,}copies the servers/m);
});
