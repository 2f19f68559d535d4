// Owns one case of the fault matrix: a faulty server, a runtime on it, what happens, and what must be true after every case.
// Every call has settled and says what can be done; no write was made twice; the next call works when the server does;
// after `close` no process, socket, timer or listener is left.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { inspect } from 'node:util';
import { expect } from 'vitest';
import {
  type Runtime,
  RuntimeError,
  type RuntimeEvent,
  type RuntimeOptions,
  type ServerStatus,
} from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { removeFolder } from '../remove-folder.ts';
import { openRuntime, type Told } from '../runtime.ts';
import { eventually } from '../servers/processes.ts';
import { type Ending, Ledger } from './ledger.ts';
import { Peer, type Transport } from './peer.ts';
import { createTracedClock, Traces } from './traces.ts';

const NAME = 'peer';
const CLOSING_SPEED = 5;
const FLYING_SPEED = 200;

/** Real time enough for a slow machine. A case about a time limit lets time fly once the server has been struck. */
const patient = (speed: number) => ({
  startupTimeoutMs: PATIENT_MS * speed,
  toolTimeoutMs: PATIENT_MS * speed,
  reconnect: { delaysMs: [20, 20, 20], jitter: 0 },
});
const PATIENT_MS = 20_000;

export interface FaultCase {
  readonly transport: Transport;
  /** For the faulty server: see `test/servers/faulty.mjs`. */
  readonly flags?: readonly string[];
  /** Of the server's entry, over the patient ones. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly options?: RuntimeOptions;
  /** The runtime's time goes so many times as fast: a grace of seconds is one of moments. */
  readonly speed?: number;
  /** The server is not there when the runtime begins; only its address is. */
  readonly down?: boolean;
  /** When the next call works: without more ado, when the server is up by itself, when a person reconnects it, or never. */
  readonly next?: 'at once' | 'once ready' | 'after reconnect' | 'never';
}

export interface Scene {
  readonly runtime: Runtime;
  readonly peer: Peer;
  readonly events: readonly RuntimeEvent[];
  /** What the runtime told its host of things that went wrong in the background. */
  readonly errors: readonly unknown[];
  status(): ServerStatus;
  /** How long the runtime has been there, by its own clock. */
  now(): number;
  /** How a call ends, in one word: `answered`, or the code of its failure. */
  call(tool: string, args?: JsonObject): Promise<string>;
  /** The whole ending. */
  ending(tool: string, args?: JsonObject, signal?: AbortSignal): Promise<Ending>;
  /** A write with a text of its own; waits so long between its effect and its answer. */
  write(ms?: number): Promise<string>;
  /** Until the fault has struck its first request, so that nothing but time is waited for from now on. */
  struck(): Promise<void>;
  /** The runtime's time flies until `what` has happened: for limits, never while a server has to keep up. */
  whileTimeFlies<Value>(what: Promise<Value>): Promise<Value>;
  /** So much of the runtime's time flies by: whatever it meant to do by then, it has begun. */
  elapse(ms: number): Promise<void>;
  /** So many calls are answered, one after the other: whatever happens in a circle has gone round as often by then. */
  answers(calls: number): Promise<void>;
  /** A call that the fault leaves without an answer, until its time is up. */
  timedOut(tool?: string): Promise<Ending>;
  /** Time flies until the struck attempt is over; resolves when the server is asked again, or is usable although it was struck. */
  asksAgain(): Promise<void>;
  /** Until it is in that state. */
  until(state: ServerStatus['state']): Promise<ServerStatus>;
  /** Kills the server, wherever it runs; one that the runtime started, it has noticed by then. */
  kill(): Promise<void>;
  /** Starts it again where nobody else does, at the same address. */
  revive(flags?: readonly string[]): Promise<void>;
}

/** For `test` and `verifies`. */
export function faultCase(given: FaultCase, act: (scene: Scene) => void | Promise<void>): () => Promise<void> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plexus-fault-'));
    const peer = new Peer({ name: NAME, folder, transport: given.transport, flags: given.flags ?? [] });
    try {
      await peer.start();
      await perform(given, peer, act);
    } finally {
      await peer.kill();
      await removeFolder(folder);
    }
  };
}

async function perform(given: FaultCase, peer: Peer, act: (scene: Scene) => void | Promise<void>): Promise<void> {
  const traces = new Traces(createTracedClock(given.speed));
  // Only now: what its pipes cost was there before.
  if (given.down) await peer.kill();
  const ledger = new Ledger();
  const scene = await open(given, peer, ledger, traces);
  try {
    await act(scene);
    await checkNext(scene, given.next ?? 'at once');
  } finally {
    await scene.runtime.close();
    await nextTurn();
    traces.end();
  }
  expectAccounted({ ...scene, ledger, effects: peer.effects() });
  expect(await traces.left(peer.pid), 'what is left after close').toEqual([]);
}

/** What must be true after every case, over any transport, once the runtime is closed. */
export function expectAccounted(
  after: Told & { readonly runtime: Runtime; readonly ledger: Ledger; readonly effects: readonly string[] },
): void {
  expect(
    after.errors.filter(isBug).map((error) => inspect(error)),
    'what went wrong in the background',
  ).toEqual([]);
  expect(after.ledger.problems(after.effects), 'every call settles, and says the truth').toEqual([]);
  expect(unpaired(after.events), 'every call that was started is told to have finished').toEqual([]);
  expect(brokenChain(after.events), 'every change of state is one event').toEqual([]);
  expect(
    after.runtime.status().map(({ state }) => state),
    'its state after close',
  ).toEqual(['stopped']);
}

async function open(given: FaultCase, peer: Peer, ledger: Ledger, { clock }: Traces): Promise<Scene> {
  const { folder } = peer.options;
  const { speed = 1 } = given;
  const began = clock.now();
  const created = await openRuntime(folder, {
    servers: { [NAME]: { ...peer.entry, ...patient(speed), ...given.settings } },
    clock,
    startup: { waitMs: PATIENT_MS * speed },
    ...given.options,
  });
  const { events, errors } = created;
  const runtime: Runtime = {
    ...created,
    close: () => {
      // Processes need real time to end; what they get for it must not shrink to a moment.
      clock.pace(Math.min(speed, CLOSING_SPEED));
      return created.close();
    },
  };
  let writes = 0;
  const status = () => {
    const [only] = runtime.status();
    if (only === undefined) throw new Error('the server is not configured');
    return only;
  };
  const ending = (tool: string, args: JsonObject = {}, signal?: AbortSignal) => {
    const effect = tool === 'write' ? String(args['text']) : undefined;
    const call = runtime.turn().call(`mcp__${NAME}__${tool}`, args, signal && { signal });
    return ledger.record({ what: `${tool} ${effect ?? ''}`, effect, signal }, call);
  };
  const call: Scene['call'] = async (tool, args) => endOf(await ending(tool, args));
  const struck: Scene['struck'] = async () => {
    await eventually(() => peer.sinceStrike());
  };
  const whileTimeFlies: Scene['whileTimeFlies'] = async (what) => {
    clock.pace(FLYING_SPEED);
    try {
      return await what;
    } finally {
      clock.pace(speed);
    }
  };
  const nextText = () => `w${++writes}`;
  return {
    runtime,
    peer,
    events,
    errors,
    status,
    ending,
    call,
    struck,
    whileTimeFlies,
    now: () => clock.now() - began,
    write: (ms = 0) => call('write', { text: nextText(), ms }),
    elapse: (ms) => whileTimeFlies(clock.sleep(ms)),
    async answers(calls) {
      for (let done = 0; done < calls; done++) expect(await call('echo', { text: 'on' })).toBe('answered');
    },
    async timedOut(tool = 'write') {
      const work = ending(tool, { text: nextText() });
      await struck();
      return whileTimeFlies(work);
    },
    async asksAgain() {
      await struck();
      const isAskedAgain = () => peer.sinceStrike()?.some((line) => /^(initialize|server|tools\/list)\b/.test(line));
      const isDone = () => isAskedAgain() || isUsable(status());
      const hasFailed = () => events.some((event) => event.type === 'connection.changed' && event.to === 'waiting');
      await whileTimeFlies(eventually(() => isDone() || hasFailed()));
      // At its own pace again: the next process must have its whole time to start, on any machine.
      await eventually(isDone);
    },
    until: (state) =>
      eventually(() => {
        const now = status();
        return now.state === state && now;
      }),
    async kill() {
      const { pid } = status();
      if (peer.options.transport !== 'stdio') await peer.kill();
      else if (pid !== undefined) {
        process.kill(pid, 'SIGKILL');
        await eventually(() => status().pid !== pid);
      }
    },
    revive: (flags) => peer.restart(flags),
  };
}

/** A disk that is full is told too, and is nobody's bug. */
const isBug = (error: unknown) => !(error instanceof RuntimeError) || error.remedy === 'report-bug';

/** In one word: `answered`, or the code of its failure. */
export const endOf = (ending: Ending) => ('error' in ending ? ending.error.code : ending.kind);

async function checkNext(scene: Scene, next: NonNullable<FaultCase['next']>): Promise<void> {
  if (next === 'never') return;
  if (next === 'after reconnect') void scene.runtime.reconnect(NAME);
  if (next !== 'at once') await untilUsable(scene);
  const ending = await scene.ending('echo', { text: 'still there' });
  if (ending.kind !== 'answered') {
    throw new Error(`the next call does not work: ${endOf(ending)}`, { cause: 'error' in ending && ending.error });
  }
  expect(ending.outcome.content, 'the next call').toEqual([{ type: 'text', text: 'still there' }]);
}

const isUsable = ({ state, toolCount }: ServerStatus) => state === 'connected' && toolCount > 0;

async function untilUsable({ status }: Scene): Promise<void> {
  await eventually(() => isUsable(status())).catch((error: unknown) => {
    const { state, toolCount } = status();
    const why = status().error?.message ?? 'without an error';
    throw new Error(`it does not become usable: it is ${state} with ${toolCount} tools, ${why}`, { cause: error });
  });
}

function unpaired(events: readonly RuntimeEvent[]): string[] {
  const idsOf = (type: 'call.started' | 'call.finished') =>
    events.flatMap((event) => (event.type === type ? [event.callId] : []));
  const finished = idsOf('call.finished');
  return [...idsOf('call.started').filter((id) => finished.filter((each) => each === id).length !== 1)];
}

function brokenChain(events: readonly RuntimeEvent[]): string[] {
  const changes = events.flatMap((event) => (event.type === 'connection.changed' ? [event] : []));
  return changes.flatMap(({ from, to }, index) => {
    const before = index === 0 ? 'idle' : changes[index - 1]?.to;
    return from === before ? [] : [`${before}, then ${from} → ${to}`];
  });
}
