// Owns the proof that a search by numbers leaves out no process that was started meanwhile.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CirclePlace, mayBeNew, placeInCircle } from '../../../src/transport/pid-circle.ts';
import { verifies } from '../../verifies.ts';

const place = (last: number, started: number, tasks = 100): CirclePlace => ({ last, started, tasks, size: 32_768 });

/** The kernel's way: the next free number, from 300 on again behind the last. Some processes end at once, others stay. */
class Machine {
  readonly size: number;
  readonly running = new Set<number>();
  last = 0;
  started = 0;

  constructor(size: number) {
    this.size = size;
  }

  start(): number {
    do this.last = this.last + 1 >= this.size ? 300 : this.last + 1;
    while (this.running.has(this.last));
    this.started += 1;
    this.running.add(this.last);
    return this.last;
  }

  place(): CirclePlace {
    return { last: this.last, started: this.started, tasks: this.running.size, size: this.size };
  }
}

describe('the numbers of processes', () => {
  verifies('TDN-03', 'that were started since are never left out, however often the circle began anew', () => {
    const count = fc.integer({ min: 0, max: 900 });
    fc.assert(
      fc.property(fc.integer({ min: 320, max: 700 }), count, count, fc.nat(7), (size, before, since, lasting) => {
        const machine = new Machine(size);
        const start = (_: unknown, at: number) => {
          if (machine.running.size >= size - 310) machine.running.clear();
          const pid = machine.start();
          if (at % 7 >= lasting) machine.running.delete(pid);
          return pid;
        };
        Array.from({ length: before }, start);
        const then = machine.place();
        const fresh = Array.from({ length: since }, start);
        expect(fresh.filter((pid) => !mayBeNew(then, machine.place())(pid))).toEqual([]);
      }),
    );
  });

  test('that were there before are left out, on both sides of the place where the circle begins anew', () => {
    const ahead = mayBeNew(place(5_000, 10), place(5_040, 50));
    expect([4_999, 5_000, 5_001, 5_040, 5_041].filter(ahead)).toEqual([5_001, 5_040]);
    const around = mayBeNew(place(32_700, 10), place(340, 120));
    expect([340, 341, 32_700, 32_701].filter(around)).toEqual([340, 32_701]);
    const often = mayBeNew(place(5_000, 10), place(5_040, 30_000));
    expect([1, 32_000].filter(often)).toEqual([1, 32_000]);
    expect([1].filter(mayBeNew(undefined, place(5_040, 50)))).toEqual([1]);
  });

  test.runIf(process.platform === 'linux')('of this machine are read as they are', async () => {
    const then = placeInCircle();
    const child = spawn('sh', ['-c', 'read line']);
    const isNew = mayBeNew(then, placeInCircle());
    expect([isNew(Number(child.pid)), then !== undefined]).toEqual([true, true]);
    child.stdin.end();
    await once(child, 'exit');
  });
});
