// Owns long runs against a whole fleet: random faults while calls go on without a pause, and connecting and closing many
// times over. What is drawn follows from a seed. Knows no test framework: `soak.mjs` runs it by hand, for minutes.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Runtime } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { removeFolder } from '../remove-folder.ts';
import { openRuntime } from '../runtime.ts';
import { type Counts, Ledger } from './ledger.ts';
import { Peer, type Transport } from './peer.ts';
import { createTracedClock, Traces } from './traces.ts';

/** A small generator with a good spread: the same seed draws the same numbers everywhere. */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  const oneOf = <Value>(values: readonly Value[]): Value => {
    const value = values[below(values.length)];
    if (value === undefined) throw new Error('nothing to choose from');
    return value;
  };
  return { below, oneOf };
}

type Random = ReturnType<typeof createRandom>;

const fleet: readonly { readonly name: string; readonly transport: Transport; readonly flags: readonly string[] }[] = [
  { name: 'pipe', transport: 'stdio', flags: [] },
  { name: 'newpipe', transport: 'stdio', flags: ['--era', 'modern'] },
  { name: 'web', transport: 'http', flags: [] },
  { name: 'webstream', transport: 'http', flags: ['--reply', 'stream'] },
  { name: 'newweb', transport: 'http', flags: ['--era', 'modern', '--reply', 'stream'] },
  { name: 'events', transport: 'sse', flags: [] },
  { name: 'socket', transport: 'ws', flags: [] },
  { name: 'newsocket', transport: 'ws', flags: ['--era', 'modern'] },
];

const settings = {
  startupTimeoutMs: 6_000,
  toolTimeoutMs: 2_000,
  maxMessageBytes: 3_000_000,
  reconnect: { delaysMs: [20, 50, 100, 200, 400, 800], jitter: 0.2 },
};

const everywhere = ['hang', 'die', 'exit', 'half', 'unknown-ids', 'twice', 'no-id', 'both', 'neither', 'text'] as const;
const further = ['null-result', 'odd-error', 'batch', 'noise', 'junk', 'huge', 'drip', 'end', 'reset'] as const;
const overHttp = ['status', 'html', 'empty', 'drip-headers', 'not-http', 'big-headers', 'comments'] as const;

/** What can be planted, by transport. Over ws an upgrade has no more than a status. */
const plantable: Readonly<Record<Transport, readonly string[]>> = {
  stdio: [...everywhere, ...further],
  http: [...everywhere, ...further, ...overHttp, 'session-expires'],
  sse: [...everywhere, ...further, ...overHttp, 'session-expires'],
  ws: [...everywhere, ...further, 'not-http'],
};
/** Refusals come before anything was done; of the others a server may also have done it. */
const refusals = ['401', '403', '404', '429'];
const statuses = [...refusals, '500', '502', '503', '504'];
const eitherWay = new Set(['hang', 'die', 'exit', 'reset', 'end', 'drip-headers', 'not-http']);

export interface SoakOptions {
  readonly seed: number;
  readonly ms: number;
  /** Goes on until so much has happened, however slow the machine is. */
  readonly atLeast?: { readonly faults: number; readonly answered: number };
  /** Calls at a time, per server. */
  readonly callers?: number;
  readonly only?: readonly Transport[];
  readonly onProgress?: (line: string) => void;
}

export interface SoakReport {
  readonly counts: Counts;
  readonly codes: Record<string, number>;
  readonly faults: number;
  /** Per server: the longest time without one answer, in milliseconds. */
  readonly droughts: Record<string, number>;
  /** Servers that do not work once nothing is wrong any more; writes made twice; what is left; and so on. */
  readonly problems: readonly string[];
}

interface Ground {
  readonly runtime: Runtime;
  readonly peers: readonly Peer[];
  readonly ledger: Ledger;
  readonly random: Random;
  readonly isOver: () => boolean;
  readonly droughts: Map<string, { last: number; longestMs: number }>;
}

export async function soak(options: SoakOptions): Promise<SoakReport> {
  const folder = mkdtempSync(join(tmpdir(), 'plexus-soak-'));
  const chosen = fleet.filter(({ transport }) => options.only?.includes(transport) ?? true);
  const peers = chosen.map((each) => new Peer({ ...each, folder }));
  try {
    await Promise.all(peers.map((peer) => peer.start()));
    return await run(options, peers, folder);
  } finally {
    await Promise.all(peers.map((peer) => peer.kill()));
    await removeFolder(folder);
  }
}

async function run(
  { seed, ms, atLeast = { faults: 0, answered: 0 }, callers = 3, onProgress }: SoakOptions,
  peers: Peer[],
  folder: string,
): Promise<SoakReport> {
  const traces = new Traces(createTracedClock());
  const ledger = new Ledger();
  const random = createRandom(seed);
  const rejections: string[] = [];
  const onRejection = (error: unknown) => rejections.push(`an unhandled rejection: ${error}`);
  process.on('unhandledRejection', onRejection);
  const servers = Object.fromEntries(peers.map((peer) => [peer.options.name, { ...peer.entry, ...settings }]));
  const runtime = await openRuntime(folder, {
    servers,
    clock: traces.clock,
    // Too many to keep.
    onEvent: () => undefined,
    onError: (error) => rejections.push(`told in the background: ${error}`),
  });
  const started = Date.now();
  const droughts = new Map(peers.map(({ options }) => [options.name, { last: started, longestMs: 0 }]));
  let faults = 0;
  const isOver = () =>
    Date.now() >= started + ms && faults >= atLeast.faults && ledger.counts.answered >= atLeast.answered;
  const ground: Ground = { runtime, peers, ledger, random, isOver, droughts };
  const report = () => {
    const { counts } = ledger;
    const megabytes = Math.round(process.memoryUsage().rss / 2 ** 20);
    const seconds = Math.round((Date.now() - started) / 1_000);
    onProgress?.(
      `${seconds} s: ${counts.started} calls, ${counts.answered} answered, ${counts.failed} failed, ${counts.unknown} unknown, ${counts.aborted} aborted; ${faults} faults; ${megabytes} MB`,
    );
  };
  const reporting = setInterval(report, 10_000);
  const problems: string[] = [];
  try {
    await Promise.all([
      ...peers.flatMap((peer) => Array.from({ length: callers }, () => callOn(ground, peer))),
      ...peers.map((peer) => disturb(ground, peer, () => faults++)),
      mend(ground),
    ]);
    problems.push(...(await recover(ground)));
  } finally {
    clearInterval(reporting);
    await runtime.close();
  }
  report();
  process.off('unhandledRejection', onRejection);
  const effects = peers.flatMap((peer) => peer.effects());
  problems.push(...rejections, ...ledger.problems(effects), ...(await traces.left(...peers.map(({ pid }) => pid))));
  const longest = [...droughts].map(([name, { longestMs }]) => [name, longestMs] as const);
  return { counts: ledger.counts, codes: ledger.codes, faults, droughts: Object.fromEntries(longest), problems };
}

let lastText = 0;

/** One after the other, without a pause but a moment after a failure. */
async function callOn(
  { runtime, ledger, random, isOver, droughts }: Ground,
  { options: { name } }: Peer,
): Promise<void> {
  while (!isOver()) {
    const text = `${name}-${++lastText}`;
    const [tool, args] = random.oneOf<readonly [string, JsonObject]>([
      ['echo', { text }],
      ['write', { text }],
      ['write', { text, ms: random.below(100) }],
      ['put', { text }],
      ['sleep', { ms: random.below(100), text }],
      ['big', { bytes: 200_000 }],
    ]);
    const aborting = random.below(50) === 0 ? new AbortController() : undefined;
    if (aborting) void wait(random.below(50)).then(() => aborting.abort());
    const ending = await ledger.record(
      { what: `${tool} ${text}`, effect: tool === 'write' ? text : undefined, signal: aborting?.signal },
      runtime.turn().call(`mcp__${name}__${tool}`, args, aborting && { signal: aborting.signal }),
    );
    if (ending.kind === 'answered') noteAnswer(droughts.get(name));
    await wait(ending.kind === 'answered' ? random.below(5) : 20 + random.below(50));
  }
}

function noteAnswer(drought: { last: number; longestMs: number } | undefined): void {
  if (drought === undefined) return;
  const now = Date.now();
  drought.longestMs = Math.max(drought.longestMs, now - drought.last);
  drought.last = now;
}

/** Kills, freezes, plants, or asks for a fresh start, every so often. */
async function disturb({ runtime, random, isOver }: Ground, peer: Peer, count: () => void): Promise<void> {
  const { name, transport } = peer.options;
  const pidNow = () => peer.pid ?? runtime.status().find((each) => each.name === name)?.pid;
  while (!isOver()) {
    await wait(100 + random.below(700));
    count();
    const deed = random.below(10);
    if (deed === 0) await kill(peer, pidNow(), random.below(300));
    else if (deed === 1) await freeze(pidNow(), 50 + random.below(1_500));
    else if (deed === 2) runtime.reconnect(name);
    else {
      const stage = random.oneOf(['initialize', 'list', 'call', 'call', 'call']);
      const fault = random.oneOf(plantable[transport]);
      const status = random.oneOf(statuses);
      const isEitherWay = eitherWay.has(fault) || (fault === 'status' && !refusals.includes(status));
      peer.plant(fault, stage, {
        status,
        bytes: '4000000',
        ...(isEitherWay && { when: random.oneOf(['before', 'after']) }),
        ...(random.below(3) === 0 && { 'retry-after': '1' }),
      });
      // A network server does not come back by itself.
      await wait(200);
      if (peer.isGone) await peer.start();
    }
  }
}

async function kill(peer: Peer, pid: number | undefined, pauseMs: number): Promise<void> {
  signal(pid, 'SIGKILL');
  await wait(pauseMs);
  if (peer.options.transport !== 'stdio') await peer.restart();
}

async function freeze(pid: number | undefined, ms: number): Promise<void> {
  signal(pid, 'SIGSTOP');
  await wait(ms);
  signal(pid, 'SIGCONT');
}

/** It may just have gone by itself. */
function signal(pid: number | undefined, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

const MENDING_MS = 500;

/** The person at the keyboard, who reconnects what has given up, now and then. */
async function mend({ runtime, isOver }: Ground): Promise<void> {
  while (!isOver()) {
    await wait(MENDING_MS);
    for (const { name, state, breaker } of runtime.status()) {
      if (state === 'failed' || state === 'needs-auth' || state === 'blocked' || breaker?.state === 'open')
        runtime.reconnect(name);
    }
  }
}

/** For a machine that has much else to do; an idle one needs a moment. */
const RECOVERY_MS = 180_000;

/** Nothing is wrong any more: every server has to work. */
async function recover({ runtime, peers, ledger }: Ground): Promise<string[]> {
  for (const peer of peers) {
    peer.defuse();
    if (peer.isGone) await peer.start();
  }
  const checks = peers.map(async ({ options: { name } }) => {
    const now = () => runtime.status().find((each) => each.name === name);
    const isUsable = () => now()?.state === 'connected' && now()?.toolCount !== 0;
    let why = 'it never connected';
    for (const late = Date.now() + RECOVERY_MS; Date.now() < late; ) {
      runtime.reconnect(name);
      for (const tired = Date.now() + settings.startupTimeoutMs; !isUsable() && Date.now() < tired; ) await wait(20);
      const ending = await ledger.record(
        { what: `last call on ${name}` },
        runtime.turn().call(`mcp__${name}__echo`, { text: 'last' }),
      );
      if (ending.kind === 'answered') return [];
      why = 'error' in ending ? ending.error.message : ending.kind;
    }
    return [`${name} does not work again, it is ${now()?.state}: ${why}`];
  });
  return (await Promise.all(checks)).flat();
}

export interface CycleReport {
  readonly cycles: number;
  readonly tookMs: number;
  /** How much the heap grew in the second half, per cycle: the first one fills what is filled once. */
  readonly bytesPerCycle: number;
  readonly problems: readonly string[];
}

/** Connects, calls once and closes, again and again. */
export async function cycle(
  transport: Transport,
  cycles: number,
  onProgress?: (line: string) => void,
): Promise<CycleReport> {
  const folder = mkdtempSync(join(tmpdir(), 'plexus-cycles-'));
  const peer = new Peer({ name: 'peer', transport, folder });
  const ledger = new Ledger();
  const started = Date.now();
  const errors: string[] = [];
  const told = (error: unknown) => errors.push(`told in the background: ${error}`);
  try {
    await peer.start();
    const once = async () => {
      const runtime = await openRuntime(folder, { servers: { peer: peer.entry }, onError: told });
      const text = `w${++lastText}`;
      await ledger.record({ what: `write ${text}`, effect: text }, runtime.turn().call('mcp__peer__write', { text }));
      await runtime.close();
    };
    // What is made once, whoever comes first, is no leak.
    await once();
    const traces = new Traces();
    const warmUp = Math.ceil(cycles / 2);
    for (let done = 0; done < warmUp; done++) await once();
    const before = heapBytes();
    for (let done = warmUp; done < cycles; done++) {
      await once();
      if (done % 100 === 0) onProgress?.(`${transport}: ${done} of ${cycles}`);
    }
    const bytesPerCycle = Math.round((heapBytes() - before) / Math.max(1, cycles - warmUp));
    const { answered } = ledger.counts;
    const problems = [
      ...errors,
      ...ledger.problems(peer.effects()),
      ...(await traces.left(peer.pid)),
      ...(answered === cycles + 1
        ? []
        : [`only ${answered} of ${cycles + 1} calls were answered: ${JSON.stringify(ledger.codes)}`]),
    ];
    return { cycles, tookMs: Date.now() - started, bytesPerCycle, problems };
  } finally {
    await peer.kill();
    await removeFolder(folder);
  }
}

/** What is really used, after everything that can go has gone. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
