// Owns what is measured and how. A measure gives rows; a row holds the samples of each contestant, round by round.
// Every sample comes from a fresh process. What it all amounts to is left to `report.mjs` and `promises.mjs`.

import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runContestant, timeNodeAndCpu, withHttpServer } from './children.mjs';
import { withConnect } from './connect.mjs';
import { cli, writeFleetHome } from './fleet-home.mjs';
import { httpServersOf, serversOf } from './servers.mjs';
import { measureServing } from './serving.mjs';

const KB = 1_024;
const MB = 1_024 * KB;
const handList = fileURLToPath(new URL('./hand-list.mjs', import.meta.url));
const REST_MS = 2_000;
const SETTLE_MS = 300;

export const measures = {
  one: listing('1 stdio server', { servers: serversOf('echo', 1), tools: 1, restMs: REST_MS }),
  ten: listing('10 stdio servers', { servers: serversOf('ordinary', 10), tools: 100 }),
  thirty: listing('30 light stdio servers', { servers: serversOf('light', 30), tools: 30, restMs: SETTLE_MS }),
  'http-ten': overHttp((origins) => listing('10 HTTP servers', { servers: answering(origins), tools: 10 })),
  'nine-of-ten': overHttp(nineOfTen),
  cycle,
  parallel: calls('64 in flight', { inFlight: 64, size: 5 }),
  sequential: calls('one at a time', { inFlight: 1, size: 5 }),
  'parallel-100k': calls('64 in flight, 100 KB', { inFlight: 64, size: 100 * KB }),
  'result-1m': calls('1 MB results', { inFlight: 1, size: MB }),
  'result-8m': calls('8 MB results', { inFlight: 1, size: 8 * MB }),
  http: overHttp(([origin]) => calls('HTTP, 64 in flight', { inFlight: 64, size: 5 }, answering([origin]))),
  'http-events': overHttp(([origin]) =>
    calls('HTTP with events, 64 in flight', { inFlight: 64, size: 5 }, { events: { url: `${origin}/events` } }),
  ),
  serving,
  agent: ownMeasure('./agent-loop.mjs', { cpu: ['a step of an agent, beyond model and tool: CPU', 'ms', 'stepMs'] }),
  'agent-500': ownMeasure(
    './agent-loop.mjs',
    { cpu: ['a step of an agent after 500 others: CPU', 'ms', 'stepMs'] },
    { before: 500 },
  ),
  cli: commands,
  connect: connectBeside,
  'cached-start': cachedStart,
  gate,
  catalog: ownMeasure('./large-catalog.mjs', {
    first: ['10,000 tools: start to first turn', 'ms', 'firstMs'],
    snapshot: ['10,000 tools: a server of 40 changes', 'ms', 'smallMs'],
    large: ['10,000 tools: a server of 1,245 changes', 'ms', 'largeMs'],
    next: ['10,000 tools: the turn after that', 'ms', 'nextTurnMs'],
    turn: ['10,000 tools: a turn without change', 'µs', 'turnMicros'],
  }),
  config,
  idle: idle('an idle connection over pipes', serversOf('light', 31), 0),
  // Waits until unused sockets have been closed.
  'idle-http': overHttp((origins) =>
    idle('an idle connection over HTTP', answering(Array.from({ length: 31 }, (_, at) => origins[at % 10])), 6_000),
  ),
};

/** What the short form leaves out: rows without a promise about the start or the calls. */
export const longMeasures = ['ten', 'http-events', 'cached-start', 'gate', 'catalog', 'config', 'idle', 'idle-http'];

/** From the first line of a fresh process to listed tools. */
function listing(title, job) {
  return async (bench) => {
    const samples = await compare(bench, 'list', job);
    const { servers, restMs = 0 } = job;
    const count = Object.keys(servers).length;
    const rows = {
      ...(restMs === REST_MS && { import: row('import', 'ms', samples, 'importMs') }),
      listed: row(`${title} listed, import included`, 'ms', samples, 'listedMs'),
      cpu: row(`${title} listed: CPU`, 'ms', samples, 'cpuMs'),
    };
    if (restMs === REST_MS) rows.rested = row(`${title}: CPU after 2 s of rest`, 'ms', samples, 'restedCpuMs');
    if (restMs === SETTLE_MS) rows.memory = row(`memory with ${count} connections`, 'MB', samples, 'memoryMb');
    return rows;
  };
}

const answering = (origins) => httpServersOf(origins.map((origin) => `${origin}/json`));

/** Until a host can use nine of ten servers, of which one never answers. */
function nineOfTen(origins) {
  const STALLED = 3;
  const servers = httpServersOf(origins.map((origin, at) => (at === STALLED ? `${origin}/stalled` : `${origin}/json`)));
  const awaited = Object.keys(servers).filter((_, at) => at !== STALLED);
  return async (bench) => {
    const samples = await compare(bench, 'list', { servers, awaited, tools: awaited.length });
    return { usable: row('9 of 10 HTTP servers usable while one stalls', 'ms', samples, 'listedMs') };
  };
}

async function cycle(bench) {
  const samples = await compare(bench, 'cycle', { servers: serversOf('light', 1), times: bench.cycles });
  return { took: row('connect and close again', 'ms', samples, 'tookMs') };
}

function calls(title, load, servers = serversOf('echo', 1)) {
  return async (bench) => {
    const { warmUpCpuMs, forCpuMs } = bench;
    const samples = await compare(bench, 'call', { servers, ...load, warmUpCpuMs, forCpuMs });
    return {
      rate: row(`${title}: calls`, '/s', samples, 'perSecond'),
      cpu: row(`${title}: CPU a call`, 'µs', samples, 'cpuMicros'),
    };
  };
}

/** All contestants use the same HTTP server, which is a child of none of them. */
function overHttp(measureOf) {
  return (bench) => withHttpServer(bench, (origins) => measureOf(origins)(bench));
}

const KNOWN = { servers: 30, toolsOfEach: 10 };

/** The command line with everything cached, also Node's compile cache, against Node by itself. */
async function commands(bench) {
  const place = await writeFleetHome(bench, KNOWN);
  const command = (...words) => timeNodeAndCpu([cli, ...words], { ...bench, place });
  const call = () => command('call', 'ordinary-0', 'get_issue_0', 'id=1', '--yes');
  const servers = serversOf('ordinary', 1);
  await call();
  const runs = {
    node: () => timeNodeAndCpu(['-e', '0'], bench),
    help: () => command('--help'),
    list: () => command('list'),
    handList: () => timeNodeAndCpu([handList], { ...bench, place }),
    tools: () => command('tools'),
    call,
    hand: () => runContestant('./hand-client.mjs', 'once', { servers }, bench),
  };
  const samples = await interleave(runs, bench.rounds);
  const told = (name, title, field, others = {}) =>
    row(title, 'ms', { plexus: samples[name], node: samples.node, ...others }, field);
  const listed = { hand: samples.handList };
  const extra = samples.call.map(({ cpuMs }, at) => ({
    cpuMs: cpuMs - samples.node[at].cpuMs - samples.hand[at].cpuMs,
  }));
  return {
    help: told('help', 'plexus --help', 'wallMs'),
    'help-cpu': told('help', 'plexus --help: CPU', 'cpuMs'),
    list: told('list', 'plexus list of 30 known servers', 'wallMs', listed),
    'list-cpu': told('list', 'plexus list of 30 known servers: CPU', 'cpuMs', listed),
    tools: told('tools', 'plexus tools of 30 known servers', 'wallMs'),
    call: told('call', 'plexus call: CPU', 'cpuMs'),
    'call-extra': row(
      'plexus call: CPU beyond node -e 0 and a hand-written client',
      'ms',
      { plexus: extra, node: samples.node },
      'cpuMs',
    ),
  };
}

/** What every agent of a machine starts and keeps, where a gateway runs. */
function connectBeside(bench) {
  return withConnect(bench, async (runs) => {
    const { plexus, node } = await interleave(runs, bench.rounds);
    const beyond = plexus.map(({ memoryMb }, at) => ({ memoryMb: memoryMb - node[at].memoryMb }));
    return {
      cpu: row('plexus connect: CPU', 'ms', { plexus, node }, 'cpuMs'),
      memory: row('plexus connect: memory beyond node -e 0', 'MB', { plexus: beyond }, 'memoryMb'),
    };
  });
}

/** The wait for a user whose servers are cached from an earlier run. A fresh process each time; the import is not counted. */
async function cachedStart(bench) {
  const { servers: count, toolsOfEach } = KNOWN;
  const place = await writeFleetHome(bench, KNOWN);
  const { plexus, sdk2 } = bench.field;
  const job = { servers: serversOf('ordinary', count), tools: count * toolsOfEach };
  const samples = await compare({ ...bench, place, field: { plexus, sdk2 } }, 'configured', job);
  return { usable: row(`${count} known servers: start to first turn`, 'ms', samples, 'usableMs') };
}

/** The wait that servers cause that never answer and are not cached. */
async function gate(bench) {
  const started = (count) => () =>
    runContestant('./plexus-client.mjs', 'stalled', { servers: serversOf('stalled', count) }, bench);
  const { one, hundred } = await interleave({ one: started(1), hundred: started(100) }, bench.rounds);
  return {
    one: row('start with 1 stalled server', 'ms', { plexus: one }, 'tookMs'),
    hundred: row('start with 100 stalled servers', 'ms', { plexus: hundred }, 'tookMs'),
  };
}

async function config(bench) {
  const run = async () =>
    runContestant('./config-files.mjs', 'own', { folder: await mkdtemp(join(bench.folder, 'c-')) }, bench);
  const { plexus } = await interleave({ plexus: run }, bench.rounds);
  const parsed = plexus.map(({ parseMs }) => ({ loadMs: parseMs }));
  return { load: row('loading 200 servers of 6 scopes', 'ms', { plexus, node: parsed }, 'loadMs') };
}

/** The cost of servers that are not used. */
function idle(title, servers, restMs) {
  return async (bench) => ({
    heap: row(`${title}: heap`, 'KB', await compare(bench, 'idle', { servers, restMs }), 'heapKb'),
  });
}

/** A measure of Plexus alone, which has a module of its own. */
function ownMeasure(file, rows, how = {}) {
  return async (bench) => {
    const samples = await interleave({ plexus: () => runContestant(file, 'own', how, bench) }, bench.rounds);
    return Object.fromEntries(
      Object.entries(rows).map(([name, [title, unit, field]]) => [name, row(title, unit, samples, field)]),
    );
  };
}

/** The same job for all contestants. */
function compare(bench, job, options) {
  return interleave(
    mapValues(
      bench.field,
      ({ file }) =>
        () =>
          runContestant(file, job, options, bench),
    ),
    bench.rounds,
  );
}

/** One after the other, each round begun by another: whatever else the machine does hits them all alike. */
export async function interleave(runs, rounds) {
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

/** An echo tool served over HTTP, against a server written by hand and the SDK's handler. */
async function serving(bench) {
  const { rate, cpu, memory } = await measureServing(bench);
  const title = 'served over HTTP, 32 in flight';
  return {
    rate: { title: `${title}: calls`, unit: '1/s', samples: rate },
    cpu: { title: `${title}: CPU of the server a call`, unit: 'µs', samples: cpu },
    memory: { title: `${title}: memory after the load`, unit: 'MB', samples: memory },
  };
}

export function row(title, unit, samples, field) {
  return { title, unit, samples: mapValues(samples, (rounds) => rounds.map((each) => each[field])) };
}

function mapValues(object, map) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}
