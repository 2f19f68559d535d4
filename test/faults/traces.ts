// Owns finding what is left behind: processes, sockets, timers, listeners and warnings, each told by name.
// Knows no test framework: the soak uses it too.

import { subscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type CancelTimer, type Clock, sleepOn, systemClock } from '../../src/kernel/clock.ts';
import { hostMark, MARK_VARIABLE } from '../../src/transport/mark.ts';
import { environmentOf, listProcesses, runningGroupOf } from '../../src/transport/proc.ts';

/** Also those that keep no process alive, which node itself does not count. */
const sockets = new Set<Socket>();

subscribe('net.client.socket', (message) => {
  const { socket } = message as { socket: Socket };
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
});

/** How many connections of this process to servers are open or being opened. */
export const openConnections = (): number => sockets.size;

export interface TracedClock extends Clock {
  /** Where each timer that still waits was asked for. */
  waiting(): string[];
  /** From now on it goes so many times as fast as real time; timers that wait already follow. */
  pace(speed: number): void;
}

interface TracedTimer {
  /** Holds the stack of whoever asked for it. */
  readonly origin: Error;
  /** When it fires, by this clock. */
  readonly due: number;
  readonly arm: (realMs: number) => CancelTimer;
  cancel: CancelTimer;
}

/** Real time, `speed` times as fast, so that a grace of seconds is one of moments; every timer is accounted for. */
export function createTracedClock(initial = 1): TracedClock {
  let speed = initial;
  let real = systemClock.now();
  let told = real;
  const timers = new Set<TracedTimer>();
  const exactNow = () => told + (systemClock.now() - real) * speed;
  const clock: TracedClock = {
    now: () => Math.round(exactNow()),
    pace(next) {
      told = exactNow();
      real = systemClock.now();
      speed = next;
      for (const timer of timers) {
        timer.cancel();
        timer.cancel = timer.arm(Math.max(0, timer.due - told) / speed);
      }
    },
    sleep: (ms, signal) => sleepOn(clock, ms, signal),
    after(ms, run, hold) {
      const fire = () => {
        timers.delete(timer);
        run();
      };
      const arm = (realMs: number) => systemClock.after(realMs, fire, hold);
      const timer = { origin: new Error(`a timer of ${ms} ms`), due: exactNow() + ms, arm, cancel: arm(ms / speed) };
      timers.add(timer);
      return () => {
        timers.delete(timer);
        timer.cancel();
      };
    },
    waiting: () =>
      [...timers].map(({ origin: { message, stack = '' } }) => {
        const callers = stack.split('\n').slice(2, 5);
        return `${message} ${callers.join(' ').trim()}`;
      }),
  };
  return clock;
}

/** So long that only what is really left is there at the end of it. */
const SETTLE_MS = 10_000;

/** Begins now; `left` tells what is there that was not there at the beginning. */
export class Traces {
  readonly clock: TracedClock;
  readonly #resources = tally(process.getActiveResourcesInfo());
  readonly #listeners = listenersOf(process);
  readonly #processes = new Set(listProcesses());
  readonly #sockets = new Set(sockets);
  readonly #warnings: string[] = [];
  readonly #onWarning = (warning: Error) => this.#warnings.push(`a warning: ${warning.message}`);

  constructor(clock = createTracedClock()) {
    this.clock = clock;
    process.on('warning', this.#onWarning);
  }

  /** Timers at once; what the system closes gets a moment. `known` are processes that may live on. */
  async left(...known: readonly (number | undefined)[]): Promise<string[]> {
    const timers = this.clock.waiting();
    this.end();
    for (const until = Date.now() + SETTLE_MS; this.#remains(known).length > 0 && Date.now() < until; ) await wait(5);
    return [...timers, ...this.#remains(known), ...this.#warnings];
  }

  /** Hears no more warnings. */
  end(): void {
    process.off('warning', this.#onWarning);
  }

  #remains(known: readonly (number | undefined)[]): string[] {
    return [
      ...listProcesses()
        .filter((pid) => !this.#processes.has(pid) && !known.includes(pid) && isDescendant(pid))
        .map((pid) => `the process ${pid}: ${commandOf(pid)}`),
      ...[...sockets].filter((each) => !this.#sockets.has(each)).map(describeSocket),
      ...more(this.#resources, tally(process.getActiveResourcesInfo())).map((each) => `an active resource: ${each}`),
      ...more(this.#listeners, listenersOf(process)).map((each) => `a listener of the process: ${each}`),
    ];
  }
}

function tally(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  // The test runner's own timers and immediates come and go; ours are seen by the clock.
  for (const name of names)
    if (name !== 'Timeout' && name !== 'Immediate') counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function listenersOf(emitter: NodeJS.EventEmitter): Map<string, number> {
  return new Map(emitter.eventNames().map((name) => [String(name), emitter.listenerCount(name)]));
}

function more(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): string[] {
  return [...after].flatMap(([name, count]) => {
    const extra = count - (before.get(name) ?? 0);
    return extra > 0 ? [`${extra} × ${name}`] : [];
  });
}

function describeSocket(socket: Socket): string {
  return `a socket to ${socket.remoteAddress ?? '?'}:${socket.remotePort ?? '?'}, ${socket.readyState}${socket.destroyed ? ', destroyed' : ''}`;
}

/** By parentage, or by the mark that servers hand on to whomever they start. A zombie does not count. */
function isDescendant(pid: number): boolean {
  const isMarked = () => environmentOf(pid).some((each) => each.startsWith(`${MARK_VARIABLE}=${hostMark}.`));
  return runningGroupOf(pid) !== undefined && (hasAncestor(pid) || isMarked());
}

function hasAncestor(pid: number): boolean {
  const parent = parentOf(pid);
  return parent !== undefined && parent > 0 && (parent === process.pid || hasAncestor(parent));
}

function parentOf(pid: number): number | undefined {
  const [, parent] = read(pid, 'stat').split(') ').at(-1)?.split(' ') ?? [];
  return parent === undefined ? undefined : Number(parent);
}

const commandOf = (pid: number) => read(pid, 'cmdline').replaceAll('\0', ' ').slice(0, 200);

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch (error) {
    // It has gone meanwhile.
    return error instanceof Error ? '' : String(error);
  }
}
