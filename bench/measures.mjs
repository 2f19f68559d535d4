// Owns what is measured and how. A measure gives figures; a figure holds the samples of each contestant, round by round.
// `limit` is the least that can be: the hand-written client, or Node itself. What it all amounts to is left to `report.mjs`.

import { fileURLToPath } from 'node:url';
import { timeNode, timeNodeAndCpu, withContestant, withHttpServer } from './children.mjs';
import { parseAll, writeConfigFiles } from './config-files.mjs';
import { cli, writeFleetHome } from './fleet-home.mjs';
import { LARGE, SMALL, withLargeCatalog } from './large-catalog.mjs';

const fileOf = (path) => fileURLToPath(new URL(path, import.meta.url));
const KB = 1_024;
const MB = 1_024 * KB;

export const measures = {
  start,
  sequential: calls('1 in flight, 1 KB', { inFlight: 1, size: KB }),
  parallel: calls('64 in flight, 1 KB', { inFlight: 64, size: KB }),
  'parallel-100k': calls('64 in flight, 100 KB', { inFlight: 64, size: 100 * KB }),
  'parallel-heard': calls('64 in flight, 1 KB, events heard', { inFlight: 64, size: KB }, { isHeard: true }),
  'result-1m': calls('1 in flight, 1 MB', { inFlight: 1, size: MB }),
  'result-8m': calls('1 in flight, 8 MB', { inFlight: 1, size: 8 * MB }),
  'http-json': httpCalls('HTTP, 64 in flight, 1 KB', '/json'),
  'http-events': httpCalls('HTTP with events, 64 in flight, 1 KB', '/events'),
  fleet,
  'cached-start': cachedStart,
  stalled,
  catalog,
  idle: idle('an idle connection over pipes'),
  'idle-http': idle('an idle connection over HTTP', '/json'),
  config,
  import: importing,
  help,
  'cli-cached': cliCached,
};

/** A fresh process each time: its first start pays for loading the library, its second only for the server. */
async function start(bench) {
  const opened = (kind) => () =>
    withContestant(kind, bench, async (ask) => {
      const cold = await ask('open');
      await ask('close');
      const warm = await ask('open');
      await ask('close');
      return { cold: cold.tookMs, warm: warm.tookMs };
    });
  const runs = { plexus: opened('plexus'), sdk: opened('sdk'), limit: opened('hand') };
  const samples = await interleave(runs, bench.rounds.start);
  return {
    cold: figure('start-up: import to first tool', 'ms', samples, 'cold'),
    warm: figure('start-up: library already loaded', 'ms', samples, 'warm'),
  };
}

function calls(title, load, address) {
  return (bench) => withContestants(allKinds, bench, (asks) => callRates(title, { asks, load, bench, address }));
}

/** All contestants use the same server, which is a child of none of them. */
function httpCalls(title, path) {
  const load = { inFlight: 64, size: KB };
  return (bench) =>
    withHttpServer(bench, (origin) =>
      withContestants(httpKinds, bench, (asks) =>
        callRates(title, { asks, load, bench, address: { url: `${origin}${path}` } }),
      ),
    );
}

async function callRates(title, { asks, load, bench, address }) {
  const lasting = (forMs) => mapValues(asks, (ask) => () => ask('call', { ...load, forMs }));
  for (const ask of Object.values(asks)) await ask('open', address);
  // Compilers and heaps come to rest first.
  await interleave(lasting(bench.warmUpMs), 2);
  const samples = await interleave(lasting(bench.sliceMs), bench.rounds.calls);
  return {
    rate: figure(`${title}: calls`, '/s', samples, 'perSecond'),
    cpu: figure(`${title}: CPU a call`, 'µs', samples, 'cpuMicros'),
  };
}

const httpKinds = { plexus: 'plexus', sdk: 'sdk' };
const allKinds = { ...httpKinds, limit: 'hand' };

/** Lends one contestant of each kind to `use`, all at once, by the names they have in the figures. */
function withContestants(kinds, bench, use) {
  const lend = ([first, ...others], asks) => {
    if (first === undefined) return use(asks);
    const [name, kind] = first;
    return withContestant(kind, bench, (ask) => lend(others, { ...asks, [name]: ask }));
  };
  return lend(Object.entries(kinds), {});
}

const FLEET = 30;

/** Many servers at the same concurrency: a fresh process each time, with the library loaded by a first server. */
async function fleet(bench) {
  const connected = (kind) => () =>
    withContestant(kind, bench, async (ask) => {
      await ask('open');
      await ask('close');
      return ask('fleet', { count: FLEET });
    });
  const runs = { plexus: connected('plexus'), limit: connected('hand') };
  const samples = await interleave(runs, bench.rounds.fleet);
  return { connect: figure(`connecting and listing ${FLEET} servers`, 'ms', samples, 'tookMs') };
}

const KNOWN = { servers: FLEET, toolsOfEach: 10 };

/** The wait for a user whose servers are cached from an earlier run. A fresh process each time; the import is not counted. */
async function cachedStart(bench) {
  const place = await writeFleetHome(bench, KNOWN);
  const started = (kind) => () => withContestant(kind, { ...bench, place }, (ask) => ask('configured', KNOWN));
  const samples = await interleave(mapValues(httpKinds, started), bench.rounds.fleet);
  return {
    usable: figure(`${FLEET} known servers: start to first turn`, 'ms', samples, 'usableMs'),
    whole: figure(`${FLEET} known servers: import to first turn`, 'ms', samples, 'wholeMs'),
  };
}

/** The wait that servers cause that never answer and are not cached; the limit is a start without any server. */
async function stalled(bench) {
  const started = (count) => () => withContestant('plexus', bench, (ask) => ask('stalled', { count }));
  const runs = { none: started(0), one: started(1), ten: started(10), hundred: started(100) };
  const { none, ...some } = await interleave(runs, bench.rounds.start);
  const told = (title, samples) => figure(`start with ${title}`, 'ms', { plexus: samples, limit: none }, 'tookMs');
  return {
    one: told('1 stalled server', some.one),
    ten: told('10 stalled servers', some.ten),
    hundred: told('100 stalled servers', some.hundred),
  };
}

/** In one process, warm: ten thousand tools, of which those of one server change. */
async function catalog({ rounds }) {
  return withLargeCatalog(async ({ mcp, firstMs, change }) => {
    const changes = (size) => interleave({ plexus: () => change(size) }, rounds.processes);
    // Compilers and heaps come to rest first.
    await changes('small');
    const small = await changes('small');
    const large = await changes('large');
    const turns = await interleave({ plexus: () => ({ micros: microsOf(() => mcp.turn()) }) }, rounds.processes);
    const title = (what) => `10,000 tools: ${what}`;
    return {
      first: figure(title('start to first turn'), 'ms', { plexus: [{ firstMs }] }, 'firstMs'),
      snapshot: figure(title(`a server of ${SMALL} changes`), 'ms', small, 'changedMs'),
      large: figure(title(`a server of ${LARGE} changes`), 'ms', large, 'changedMs'),
      next: figure(title('the turn after that'), 'ms', small, 'turnMs'),
      turn: figure(title('a turn without change'), 'µs', turns, 'micros'),
    };
  });
}

const TURNS = 1_000;

function microsOf(work) {
  const from = performance.now();
  for (let time = 0; time < TURNS; time += 1) work();
  return ((performance.now() - from) * 1_000) / TURNS;
}

/** The cost of servers that are not used. Waits first until unused sockets have been closed. */
function idle(title, path) {
  return (bench) =>
    withHttpServer(bench, async (origin) => {
      const load = path === undefined ? { restMs: 0 } : { restMs: 6_000, url: `${origin}${path}` };
      const each = (kind) => () => withContestant(kind, bench, (ask) => ask('idle', { count: FLEET, ...load }));
      const measure = path === undefined ? interleave : atOnce;
      const samples = await measure(mapValues(httpKinds, each), bench.rounds.idle);
      return { heap: figure(`${title}: heap`, 'KB', samples, 'heapKb') };
    });
}

/** In one process, warm: what a start or a reload pays for reading two hundred servers of six scopes. */
async function config({ folder, rounds }) {
  const { discoverMCPServers } = await import('plexus');
  const { around, files, servers } = await writeConfigFiles(folder);
  const timed = (work) => async () => {
    const from = performance.now();
    for (let time = 0; time < CONFIG_REPEATS; time += 1) await work();
    return { tookMs: (performance.now() - from) / CONFIG_REPEATS };
  };
  const load = async () => {
    const found = await discoverMCPServers({ ...around, env: {} });
    if (found.servers.length !== servers || found.diagnostics.length > 0)
      throw new Error('not every server was loaded');
  };
  const runs = { plexus: timed(load), limit: timed(() => parseAll(files)) };
  await interleave(runs, 5);
  return { load: figure('loading 200 servers of 6 scopes', 'ms', await interleave(runs, rounds.processes), 'tookMs') };
}

const CONFIG_REPEATS = 10;

async function importing(bench) {
  const imported =
    (...specifiers) =>
    async () => {
      const { wallMs, stdout } = await timeNode([fileOf('./import-time.mjs'), ...specifiers], bench);
      return { wallMs, importMs: Number(stdout) };
    };
  const runs = {
    plexus: imported('plexus'),
    sdk: imported('@modelcontextprotocol/client', '@modelcontextprotocol/client/stdio'),
    limit: imported(),
  };
  const samples = await interleave(runs, bench.rounds.processes);
  return {
    inside: figure('import', 'ms', samples, 'importMs'),
    process: figure('import: the whole process', 'ms', samples, 'wallMs'),
  };
}

async function help(bench) {
  const runs = {
    plexus: () => timeNode([cli, '--help'], bench),
    limit: () => timeNode(['-e', '0'], bench),
  };
  return { process: figure('plexus --help', 'ms', await interleave(runs, bench.rounds.processes), 'wallMs') };
}

/** Commands that are answered from the cache, compared with the time any program needs to import the SDK. */
async function cliCached(bench) {
  const place = await writeFleetHome(bench, KNOWN);
  const told = (command) => () => timeNodeAndCpu([cli, command], { ...bench, place });
  const imported = ['--eval', "import('@modelcontextprotocol/client')"];
  const sdk = () => timeNodeAndCpu(imported, { ...bench, place: { cwd: fileOf('.') } });
  const samples = await interleave({ list: told('list'), tools: told('tools'), sdk }, bench.rounds.processes);
  const against = (command) => ({ plexus: samples[command], sdk: samples.sdk });
  return {
    list: figure(`plexus list of ${FLEET} known servers`, 'ms', against('list'), 'wallMs'),
    'list-cpu': figure(`plexus list of ${FLEET} known servers: CPU`, 'ms', against('list'), 'cpuMs'),
    tools: figure(`plexus tools of ${FLEET} known servers`, 'ms', against('tools'), 'wallMs'),
    'tools-cpu': figure(`plexus tools of ${FLEET} known servers: CPU`, 'ms', against('tools'), 'cpuMs'),
  };
}

/** One after the other, each round begun by another: whatever else the machine does hits them all alike. */
async function interleave(runs, rounds) {
  const samples = mapValues(runs, () => []);
  const names = Object.keys(runs);
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < names.length; turn += 1) {
      const name = names[(round + turn) % names.length];
      samples[name].push(await runs[name]());
    }
  }
  return samples;
}

/** For figures that do not depend on how busy the machine is. */
async function atOnce(runs, rounds) {
  const each = async ([name, run]) => [name, await Promise.all(Array.from({ length: rounds }, run))];
  return Object.fromEntries(await Promise.all(Object.entries(runs).map(each)));
}

function figure(title, unit, samples, field) {
  return { title, unit, samples: mapValues(samples, (rounds) => rounds.map((each) => each[field])) };
}

function mapValues(object, map) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}
