// Owns a run of the bench from its options to its exit code. Figures are for people: a missed promise fails only `--strict`.

import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measures } from './measures.mjs';
import { judge, promisesText, summarize, tableText } from './report.mjs';

const usage = `npm run bench -- [--only NAME] [--quick] [--json] [--strict]
  --only NAME  one of: ${Object.keys(measures).join(', ')}; may be given again
  --quick      fewer and shorter rounds: good for a look, not for a verdict
  --json       one JSON document with every sample
  --strict     exit 1 when a promise is missed`;

/** Many short slices rather than few long ones: a disturbance then spoils a round or two, and the median passes it by. */
const thorough = { rounds: { start: 7, calls: 15, processes: 21, fleet: 9, idle: 3 }, warmUpMs: 500, sliceMs: 250 };
const quick = { rounds: { start: 3, calls: 5, processes: 7, fleet: 3, idle: 1 }, warmUpMs: 250, sliceMs: 150 };
const LONGEST_MS = 480_000;

export async function main(words) {
  const options = parse(words);
  if (options === undefined) {
    console.error(usage);
    return 1;
  }
  const { only = Object.keys(measures), json, strict } = options;
  warnIfBusy();
  const figures = await run(only, options.quick ? quick : thorough);
  if (figures === 'interrupted') return 130;
  const judged = judge(figures);
  console.log(json ? JSON.stringify({ figures, promises: judged }, null, 2) : text(figures, judged));
  return strict && judged.some(({ kept }) => !kept) ? 1 : 0;
}

function parse(words) {
  const flag = { type: 'boolean', default: false };
  const options = { only: { type: 'string', multiple: true }, quick: flag, json: flag, strict: flag };
  try {
    const { values } = parseArgs({ args: words, options });
    return values.only?.every((name) => Object.hasOwn(measures, name)) === false ? undefined : values;
  } catch {
    return undefined;
  }
}

/** Ends every process it started and removes every file, also when it is interrupted or takes too long. */
async function run(names, extent) {
  const folder = await mkdtemp(join(tmpdir(), 'plexus-bench-'));
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const timeUp = AbortSignal.timeout(LONGEST_MS);
  const signal = AbortSignal.any([interrupted.signal, timeUp]);
  const figures = {};
  try {
    for (const name of names) {
      console.error(`measuring ${name} …`);
      const measured = await measures[name]({ ...extent, signal, folder });
      for (const [key, figure] of Object.entries(measured)) figures[`${name}.${key}`] = summarize(figure);
    }
    return figures;
  } catch (error) {
    if (interrupted.signal.aborted) return 'interrupted';
    throw timeUp.aborted ? new Error(`not done after ${LONGEST_MS / 1_000} s: is the machine busy?`) : error;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    await rm(folder, { recursive: true, force: true });
  }
}

const notes = 'medians; limit: a hand-written client, or Node by itself; ×: Plexus against it, round by round';

function text(figures, judged) {
  return [tableText(figures), notes, promisesText(judged)].join('\n\n').trimEnd();
}

/** A client and its server want two cores to themselves. */
function warnIfBusy() {
  const [load] = loadavg();
  if (load > availableParallelism() / 2)
    console.error(`the machine is busy (load ${load.toFixed(1)}): believe the ratios more than the figures`);
}
