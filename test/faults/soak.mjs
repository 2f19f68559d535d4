#!/usr/bin/env node
// Owns running the soak by hand: bundles it together with src, runs it, and says what came of it.
//
//   node test/faults/soak.mjs [--minutes N] [--seed N] [--only KIND]… [--cycles N]
//
//   --minutes N   how long the faults go on; default 10, 0 for none
//   --seed N      what is drawn; default the time, and printed
//   --callers N   calls at a time, per server; default 3
//   --only KIND   stdio, http, sse or ws
//   --cycles N    connects and closes so many times, over each transport; default 0

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'tsdown';

const text = { type: 'string' };
const { values } = parseArgs({
  options: {
    minutes: { ...text, default: '10' },
    seed: { ...text, default: String(Date.now() % 1_000_000) },
    callers: { ...text, default: '3' },
    only: { ...text, multiple: true },
    cycles: { ...text, default: '0' },
  },
});

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'plexus-soak-build-'));
let problems = [];

try {
  await build({
    config: false,
    entry: { soak: here('soak.ts') },
    outDir: folder,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    dts: false,
    clean: false,
    logLevel: 'error',
    fixedExtension: false,
    inputOptions: { resolve: { mainFields: ['module', 'main'] } },
  });
  process.env.PLEXUS_TEST_SERVERS = here('../servers');
  const { soak, cycle } = await import(pathToFileURL(join(folder, 'soak.js')).href);
  const only = values.only ?? ['stdio', 'http', 'sse', 'ws'];
  const ms = Number(values.minutes) * 60_000;
  if (ms > 0) {
    const seed = Number(values.seed);
    console.log(`seed ${seed}, ${values.minutes} minutes, ${only.join(', ')}`);
    const onProgress = (line) => console.log(line);
    const report = await soak({ seed, ms, callers: Number(values.callers), only, onProgress });
    console.log(`longest time without an answer, in ms: ${JSON.stringify(report.droughts)}`);
    console.log(`calls ended in: ${JSON.stringify(report.codes)}`);
    problems = [...problems, ...report.problems];
  }
  for (const transport of Number(values.cycles) > 0 ? only : []) {
    const {
      cycles,
      tookMs,
      bytesPerCycle,
      problems: found,
    } = await cycle(transport, Number(values.cycles), console.log);
    console.log(
      `${transport}: ${cycles} cycles in ${Math.round(tookMs / 1_000)} s, ${bytesPerCycle} bytes of heap each`,
    );
    problems = [...problems, ...found];
    if (bytesPerCycle > 2_048) problems.push(`${transport}: the heap grows`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

console.log(
  problems.length === 0 ? 'no problems' : `${problems.length} problems:\n${problems.slice(0, 50).join('\n')}`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
