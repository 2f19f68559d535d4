// Owns a run of the bench from its options to its exit code: 1 when a promise is missed.

import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fields } from './contestants.mjs';
import { longMeasures, measures } from './measures.mjs';
import { judge } from './promises.mjs';
import { promisesText, summarize, tableText } from './report.mjs';

const usage = `npm run bench -- [--only NAME] [--rounds N] [--short] [--json]
  --only NAME  one of: ${Object.keys(measures).join(', ')}; may be given again
  --rounds N   instead of 5, or of 3 in the short form
  --short      as CI does it: Plexus and SDK v2, fewer rows, promises with a margin, those not yet kept as they are today
  --json       one JSON document with every sample
npm run bench:peers adds the other libraries, and runs everything with Node 24.`;

const thorough = { rounds: 5, cycles: 20, warmUpCpuMs: 700, forCpuMs: 500, longestMs: 3_600_000 };
const short = { rounds: 3, cycles: 8, warmUpCpuMs: 500, forCpuMs: 250, longestMs: 480_000 };

/** `withPeers`: the other libraries are installed. */
export async function main(words, { withPeers = false } = {}) {
  const options = parse(words);
  if (options === undefined) {
    console.error(usage);
    return 1;
  }
  const isShort = options.short;
  const usual = Object.keys(measures).filter((name) => !(isShort && longMeasures.includes(name)));
  const extent = isShort ? short : thorough;
  const field = fields[withPeers ? 'peers' : isShort ? 'short' : 'usual'];
  const rounds = options.rounds === undefined ? extent.rounds : Number(options.rounds);
  warnIfBusy();
  const rows = await run(measures, options.only ?? usual, { ...extent, rounds, field });
  if (rows === 'interrupted') return 130;
  const judged = judge(rows, { isShort });
  console.log(options.json ? JSON.stringify({ rows, promises: judged }, null, 2) : reportText(rows, judged, rounds));
  return judged.every(({ passed }) => passed) ? 0 : 1;
}

function parse(words) {
  const flag = { type: 'boolean', default: false };
  const string = { type: 'string' };
  const options = { only: { ...string, multiple: true }, rounds: string, short: flag, json: flag };
  try {
    const { values } = parseArgs({ args: words, options });
    const areKnown = (values.only ?? []).every((name) => Object.hasOwn(measures, name));
    return areKnown && Number(values.rounds ?? 1) >= 1 ? values : undefined;
  } catch {
    return undefined;
  }
}

/** Ends every process it started and removes every file, also when it is interrupted or takes too long. */
export async function run(all, names, { longestMs, ...extent }) {
  const folder = await mkdtemp(join(tmpdir(), 'plexus-bench-'));
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const timeUp = AbortSignal.timeout(longestMs);
  const signal = AbortSignal.any([interrupted.signal, timeUp]);
  const rows = {};
  try {
    for (const name of names) {
      console.error(`measuring ${name} …`);
      const measured = await all[name]({ ...extent, signal, folder });
      for (const [key, row] of Object.entries(measured)) rows[`${name}.${key}`] = summarize(row);
    }
    return rows;
  } catch (error) {
    if (interrupted.signal.aborted) return 'interrupted';
    throw timeUp.aborted ? new Error(`not done after ${longestMs / 1_000} s: is the machine busy?`) : error;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export function reportText(rows, judged, rounds) {
  const [cpu] = cpus();
  const machine = `${availableParallelism()} × ${cpu?.model.trim()}, ${process.platform}, Node ${process.version}`;
  const notes = `${machine}; medians of ${rounds} interleaved rounds, each sample in a fresh process; ×: Plexus against it, round by round`;
  return [tableText(rows), notes, promisesText(judged)].join('\n\n').trimEnd();
}

/** A client and its server want two cores to themselves. */
export function warnIfBusy() {
  const [load] = loadavg();
  if (load > availableParallelism() / 2)
    console.error(`the machine is busy (load ${load.toFixed(1)}): believe the ratios more than the figures`);
}
