// Owns `npm run bench:large`: the longest time that one large result keeps the event loop from anything else, for every shape,
// size and transport, each in a fresh process. A block over the promise fails. What counts is the main thread's own time, where the
// system tells it, and the least of the rounds: whatever else the machine does can only add to it. `--built` measures `dist` as it is.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setUp } from '../scripts/setup.mjs';
import { shapes } from './large-shapes.mjs';

/** In ms, for messages of up to so many MB. */
const PROMISE = { ms: 250, mb: 16 };

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1,4,8,16,32,48' },
    transports: { type: 'string', default: 'stdio,http' },
    shapes: { type: 'string', default: Object.keys(shapes).join() },
    rounds: { type: 'string', default: '3' },
    built: { type: 'boolean', default: false },
  },
});

function main({ sizes, transports, shapes: names, rounds, built }) {
  if (!built) setUp();
  const missed = [];
  for (const transport of transports.split(','))
    for (const mb of sizes.split(',').map(Number))
      for (const shape of names.split(',')) {
        const best = least(Array.from({ length: Number(rounds) }, () => measure(transport, shape, mb)));
        const row = `${transport} ${mb} MB ${shape}`;
        const isMissed = best.failure !== undefined || (mb <= PROMISE.mb && blockOf(best) > PROMISE.ms);
        if (isMissed) missed.push(row);
        console.log(`${isMissed ? 'MISSED ' : ''}${row}: ${textOf(best)}`);
      }
  console.log(missed.length === 0 ? 'every promise holds' : `missed: ${missed.join(', ')}`);
  return missed.length === 0 ? 0 : 1;
}

function measure(transport, shape, mb) {
  const client = fileURLToPath(new URL('./large-client.mjs', import.meta.url));
  const { stdout, stderr } = spawnSync(process.execPath, [client, transport, shape, String(mb * 1024 * 1024)], {
    encoding: 'utf8',
  });
  try {
    return JSON.parse(stdout);
  } catch {
    return { ms: Number.POSITIVE_INFINITY, ranMs: 0, tookMs: 0, cpuMs: 0, memoryMb: 0, failure: stderr.slice(0, 500) };
  }
}

const blockOf = ({ ranMs, ms }) => ranMs || ms;

const least = (figures) => figures.reduce((best, each) => (blockOf(each) < blockOf(best) ? each : best));

const textOf = ({ ms, ranMs, tookMs, cpuMs, memoryMb, failure }) =>
  `blocked ${Math.round(ms)} ms (${Math.round(ranMs)} ms of its own), ${Math.round(tookMs)} ms in all, CPU ${Math.round(cpuMs)} ms, ` +
  `memory ${Math.round(memoryMb)} MB${failure === undefined ? '' : `: ${failure}`}`;

process.exitCode = main(values);
