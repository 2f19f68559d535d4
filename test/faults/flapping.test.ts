// Owns the faults that need a long time, in fake time: a server that flaps for ten minutes, and one that is lost fifty
// times in a minute. A real process cannot live in fake time, so the server is one inside the host.

import { describe, expect } from 'vitest';
import { createFakeClock, createFakeServer, type FakeServer } from '../../src/testing/testing.ts';
import { verifies } from '../verifies.ts';
import type { Ending } from './ledger.ts';
import { inWorld, type World } from './world.ts';

/** A server inside the host that takes a while for each write, and is brought down by hand. */
interface Flapping {
  readonly server: FakeServer;
  starts: number;
  /** Refuses to start while it is true. */
  isDown: boolean;
}

/** For `verifies`. */
function flapping(act: (world: World, life: Flapping) => Promise<void>): () => Promise<void> {
  return async () => {
    const clock = createFakeClock();
    const effects: string[] = [];
    const server = createFakeServer({
      write: {
        inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
        run: async ({ text }) => {
          effects.push(String(text));
          await clock.sleep(100);
          return `done: ${text}`;
        },
      },
    });
    const life: Flapping = { server, starts: 0, isDown: false };
    const serve: FakeServer['entry']['serve'] = async (channel) => {
      life.starts += 1;
      if (life.isDown) throw new Error('it is down');
      await server.entry.serve(channel);
    };
    await inWorld({ clock, effects, serve }, (world) => act(world, life));
  };
}

describe('a server that flaps', () => {
  verifies(
    ['REC-07', 'REC-14', 'REC-21'],
    'for ten minutes is given up after its attempts, and comes back by hand',
    flapping(async ({ clock, runtime, write, status }, life) => {
      const { server } = life;
      for (let second = 0; second < 600; second++) {
        await server.crash();
        await clock.advance(1_000);
      }
      expect(status().state).toBe('failed');
      // It never did anything, so its schedule was not begun anew: the first start and four more.
      expect(life.starts).toBe(5);
      runtime.reconnect('peer');
      await clock.advance(0);
      const call = write();
      await clock.advance(200);
      expect((await call).kind).toBe('answered');
    }),
  );

  verifies(
    ['REC-12', 'REC-18', 'REC-19', 'EXT-06'],
    'for ten minutes while it is called all the time is started within bounds, and every call is accounted for',
    flapping(async ({ clock, ledger, write }, life) => {
      const { server } = life;
      const calls: Promise<Ending>[] = [];
      for (let second = 0; second < 600; second++) {
        calls.push(write());
        await clock.advance(50);
        await server.crash();
        await clock.advance(950);
      }
      await clock.advance(600_000);
      await Promise.all(calls);
      const { started, answered, failed, unknown } = ledger.counts;
      expect(answered + failed + unknown).toBe(started);
      expect(started).toBe(600);
      // Each call would have it started again, were it not for the breaker and its schedule.
      expect(life.starts).toBeLessThan(100);
    }),
  );

  verifies(
    ['REC-07', 'ERR-06'],
    'and works in between serves every call made while it is up',
    flapping(async ({ clock, write, status }, life) => {
      const { server } = life;
      for (let round = 0; round < 20; round++) {
        const call = write();
        await clock.advance(31_000);
        expect((await call).kind).toBe('answered');
        await server.crash();
        await clock.advance(1_000);
        expect(status().state).toBe('connected');
      }
      expect(life.starts).toBe(21);
    }),
  );
});

describe('a server that is lost 50 times in a minute', () => {
  verifies(
    ['REC-07', 'REC-12', 'REC-15'],
    'settles every call and leaves no timer',
    flapping(async ({ clock, ledger, write }, life) => {
      const { server } = life;
      const calls: Promise<Ending>[] = [];
      for (let death = 0; death < 50; death++) {
        calls.push(write());
        await clock.advance(200);
        await server.crash();
        await clock.advance(1_000);
      }
      await clock.advance(60_000);
      await Promise.all(calls);
      const { started, answered, failed, unknown } = ledger.counts;
      expect(answered + failed + unknown).toBe(started);
      expect(answered).toBe(50);
    }),
  );

  verifies(
    ['REC-14', 'REC-19'],
    'and cannot be started again says so, and is there when it can',
    flapping(async ({ clock, runtime, write }, life) => {
      const { server } = life;
      life.isDown = true;
      await server.crash();
      for (let attempt = 0; attempt < 50; attempt++) {
        const ending = write();
        // A call waits for an attempt that is due.
        await clock.advance(6_000);
        expect(['failed', 'unknown']).toContain((await ending).kind);
      }
      expect(life.starts).toBeLessThan(60);
      life.isDown = false;
      runtime.reconnect('peer');
      const call = write();
      await clock.advance(200);
      expect((await call).kind).toBe('answered');
    }),
  );
});
