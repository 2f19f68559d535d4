// Owns one measure of one contestant in a fresh process, counted from its first line: `contestant.mjs FILE JOB OPTIONS`.
// FILE is the client's module. Loads nothing by itself; writes what it found to descriptor 3 as JSON.

const startedAt = performance.now();
const startedCpu = process.cpuUsage();
const [file, job, options] = process.argv.slice(2);

const client = await import(file);
const importMs = performance.now() - startedAt;
const { servers = {}, awaited = Object.keys(servers), ...given } = JSON.parse(options);

const cpuMs = (since = startedCpu) => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
};
const LOOK_MS = 5;
const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const jobs = {
  /** Until the tools of all awaited servers are listed; then a rest, so that deferred work is seen. */
  async list({ tools, restMs }) {
    const opened = await client.open(servers, awaited);
    const listed = { importMs, listedMs: performance.now() - startedAt, cpuMs: cpuMs() };
    if (opened.tools !== tools) throw new Error(`expected ${tools} tools, not ${opened.tools}`);
    if (restMs > 0) await rest(restMs);
    return { ...listed, restedCpuMs: cpuMs(), memoryMb: process.memoryUsage.rss() / 1_048_576 };
  },

  /** Connecting and closing again, once everything is loaded. */
  async cycle({ times }) {
    const tookMs = [];
    for (let time = 0; time <= times; time += 1) {
      const from = performance.now();
      const opened = await client.open(servers, awaited);
      await opened.close();
      if (time > 0) tookMs.push(performance.now() - from);
    }
    return { tookMs: medianOf(tookMs) };
  },

  /**
   * Keeps so many calls in flight, after a warm-up. Both last until the client has used so much CPU: on a busy machine a time by
   * the clock would measure code that is not compiled yet.
   */
  async call({ size, inFlight, warmUpCpuMs, forCpuMs }) {
    const { startInOwnSessions } = await import('./own-sessions.mjs');
    startInOwnSessions();
    const { call } = await client.open(servers, awaited);
    const callFor = async (wantedMs) => {
      const [from, cpu] = [performance.now(), process.cpuUsage()];
      let lookAt = from + LOOK_MS;
      let isOver = false;
      let calls = 0;
      const callOn = async () => {
        while (!isOver) {
          const text = await call({ text: 'how do you do?', size });
          if (text.length !== size) throw new Error(`the answer has ${text.length} characters, not ${size}`);
          calls += 1;
          const now = performance.now();
          if (now < lookAt) continue;
          lookAt = now + LOOK_MS;
          isOver = cpuMs(cpu) >= wantedMs;
        }
      };
      await Promise.all(Array.from({ length: inFlight }, callOn));
      return { perSecond: (calls * 1_000) / (performance.now() - from), cpuMicros: (cpuMs(cpu) * 1_000) / calls };
    };
    await callFor(warmUpCpuMs);
    return callFor(forCpuMs);
  },

  /** What a command line does with one server: list, call once, close. */
  async once() {
    const opened = await client.open(servers, awaited);
    await opened.call({ text: 'how do you do?', size: 5 });
    await opened.close();
    return { cpuMs: cpuMs() };
  },

  /** Until the tools of all configured servers can be used; loading the library is not counted. */
  async configured({ tools }) {
    const from = performance.now();
    const opened = await (client.openConfigured?.() ?? client.open(servers, awaited));
    const usableMs = performance.now() - from;
    if (opened.tools !== tools) throw new Error(`expected ${tools} tools, not ${opened.tools}`);
    return { usableMs };
  },

  /** How long servers that never answer hold up a start. */
  async stalled() {
    const from = performance.now();
    await client.openStalled(servers);
    return { tookMs: performance.now() - from };
  },

  /** How much heap each further connection adds. Code that is loaded once is loaded before the measurement. */
  async idle({ restMs }) {
    const heapWith = async (names, idleMs) => {
      const some = Object.fromEntries(names.map((name) => [name, servers[name]]));
      const opened = await client.open(some, names);
      await rest(idleMs);
      const bytes = await liveBytes();
      await opened.close();
      return bytes;
    };
    for (let time = 0; time < 2; time += 1) await heapWith(awaited, 0);
    const one = await heapWith(awaited.slice(0, 1), restMs);
    return { heapKb: ((await heapWith(awaited, restMs)) - one) / (awaited.length - 1) / 1_024 };
  },

  /** Measures that are modules of their own. */
  own: (how) => client.measure(how),
};

/** Collects several times, because one collection enables the next to free more. */
async function liveBytes() {
  for (let time = 0; time < 5; time += 1) {
    await rest(10);
    globalThis.gc();
  }
  return process.memoryUsage().heapUsed;
}

const medianOf = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

const found = await jobs[job](given);
const { writeSync } = await import('node:fs');
writeSync(3, JSON.stringify(found));
// Servers end with their input; a client that keeps something open must not keep the bench waiting.
process.exit();
