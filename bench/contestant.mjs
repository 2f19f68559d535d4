// Owns one contestant in a process of its own, so that its CPU time and heap are measured alone:
// `contestant.mjs plexus|sdk|hand`. Does what the parent asks for, one job after the other, and goes when the parent is gone.

import { setTimeout as sleep } from 'node:timers/promises';
import * as hand from './hand-client.mjs';
import * as plexus from './plexus-client.mjs';
import * as sdk from './sdk-client.mjs';

const client = { plexus, sdk, hand }[process.argv[2]];
const KB = 1_024;

let opened;

const jobs = {
  /** From the import to the first listed tool; over HTTP when there is an address. `isHeard`: a listener follows the events. */
  async open({ url, isHeard }) {
    const from = performance.now();
    opened = await client.open(url, isHeard);
    const tookMs = performance.now() - from;
    if (opened.tools.length !== 1) throw new Error(`expected one tool, not ${opened.tools.length}`);
    return { tookMs };
  },

  async close() {
    await opened.close();
    return {};
  },

  /** Keeps so many calls in flight for so long. */
  async call({ size, inFlight, forMs }) {
    let calls = 0;
    const cpu = process.cpuUsage();
    const from = performance.now();
    const callOn = async () => {
      while (performance.now() - from < forMs) {
        const { content } = await opened.call({ text: 'how do you do?', size });
        if (content[0].text.length !== size) throw new Error('the answer has the wrong size');
        calls += 1;
      }
    };
    await Promise.all(Array.from({ length: inFlight }, callOn));
    const seconds = (performance.now() - from) / 1_000;
    const { user, system } = process.cpuUsage(cpu);
    return { perSecond: calls / seconds, cpuMicros: (user + system) / calls };
  },

  /** Until the tools of so many servers are listed. */
  async fleet({ count, url }) {
    const from = performance.now();
    const fleet = await openFleet(count, url);
    const tookMs = performance.now() - from;
    await fleet.close();
    return { tookMs };
  },

  /** Until the tools of all configured servers can be used; loading the library is counted apart. */
  async configured({ servers, toolsOfEach }) {
    const from = performance.now();
    await client.load();
    const loaded = performance.now();
    const fleet = await client.openConfigured({ servers, toolsOfEach });
    const usable = performance.now();
    if (fleet.tools !== servers * toolsOfEach) throw new Error(`expected all tools, not ${fleet.tools}`);
    await fleet.close();
    return { usableMs: usable - loaded, wholeMs: usable - from };
  },

  /** How long servers that never answer hold up a start. */
  async stalled({ count }) {
    await client.load();
    const from = performance.now();
    const fleet = await client.openStalled(count);
    const tookMs = performance.now() - from;
    await fleet.close();
    return { tookMs };
  },

  /** How much heap each further connection adds. Code that is loaded once is loaded before the measurement. */
  async idle({ count, url, restMs }) {
    const heapWith = async (servers, idleMs) => {
      const fleet = await openFleet(servers, url);
      await sleep(idleMs);
      const bytes = await liveBytes();
      await fleet.close();
      return bytes;
    };
    for (let time = 0; time < 2; time += 1) await heapWith(count + 1, 0);
    const one = await heapWith(1, restMs);
    return { heapKb: ((await heapWith(count + 1, restMs)) - one) / count / KB };
  },
};

async function openFleet(count, url) {
  const fleet = await client.openFleet(count, url);
  if (fleet.tools !== count) throw new Error(`expected ${count} tools, not ${fleet.tools}`);
  return fleet;
}

/** Collects several times, because one collection enables the next to free more. */
async function liveBytes() {
  for (let time = 0; time < 5; time += 1) {
    await sleep(10);
    globalThis.gc();
  }
  return process.memoryUsage().heapUsed;
}

process.once('disconnect', () => process.exit());
process.on('message', async ({ job, ...options }) => process.send(await jobs[job](options)));
