// Owns the faults that need a long time, in fake time: a server that flaps for ten minutes, and one that is lost fifty
// times in a minute. A real process cannot live in fake time, so the server is one inside the host.

import { afterEach, beforeEach, describe, expect } from 'vitest';
import { createMemoryStore, createRuntime, type Runtime, type RuntimeEvent } from '../../src/index.ts';
import { createFakeClock, createFakeServer, type FakeClock, type FakeServer } from '../../src/testing/testing.ts';
import { verifies } from '../verifies.ts';
import { type Ending, Ledger } from './ledger.ts';

interface World {
  readonly clock: FakeClock;
  readonly runtime: Runtime;
  readonly server: FakeServer;
  readonly effects: string[];
  readonly events: RuntimeEvent[];
  readonly ledger: Ledger;
  starts: number;
  /** Refuses to start while it is true. */
  isDown: boolean;
  write(): Promise<Ending>;
}

let world: World;

beforeEach(async () => {
  const clock = createFakeClock();
  const effects: string[] = [];
  const events: RuntimeEvent[] = [];
  const ledger = new Ledger();
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
  const serve: FakeServer['entry']['serve'] = async (channel) => {
    world.starts += 1;
    if (world.isDown) throw new Error('it is down');
    await server.entry.serve(channel);
  };
  world = { starts: 0, isDown: false } as World;
  const runtime = await createRuntime({
    discover: false,
    cwd: '/nowhere',
    home: '/nowhere',
    env: {},
    servers: { peer: { serve } },
    permissions: [{ tool: 'mcp__*', action: 'allow' }],
    store: createMemoryStore(clock),
    clock,
    interactive: false,
    onEvent: (event) => events.push(event),
    onError: () => undefined,
  });
  let writes = 0;
  const write = () => {
    const text = `w${++writes}`;
    return ledger.record({ what: `write ${text}`, effect: text }, runtime.turn().call('mcp__peer__write', { text }));
  };
  Object.assign(world, { clock, runtime, server, effects, events, ledger, write });
});

/** As after every case of the matrix. */
afterEach(async () => {
  const { runtime, clock, ledger, effects } = world;
  await runtime.close();
  await clock.advance(0);
  expect(ledger.problems(effects)).toEqual([]);
  expect(clock.pending(), 'timers that are left').toBe(0);
});

const stateNow = () => world.runtime.status()[0]?.state;

describe('a server that flaps', () => {
  verifies(
    ['REC-07', 'REC-14', 'REC-21'],
    'for ten minutes is given up after its attempts, and comes back by hand',
    async () => {
      const { clock, server, runtime } = world;
      for (let second = 0; second < 600; second++) {
        await server.crash();
        await clock.advance(1_000);
      }
      expect(stateNow()).toBe('failed');
      // It never did anything, so its schedule was not begun anew: the first start and four more.
      expect(world.starts).toBe(5);
      runtime.reconnect('peer');
      await clock.advance(0);
      const call = world.write();
      await clock.advance(200);
      expect((await call).kind).toBe('answered');
    },
  );

  verifies(
    ['REC-12', 'REC-18', 'REC-19', 'EXT-06'],
    'for ten minutes while it is called all the time is started within bounds, and every call is accounted for',
    async () => {
      const { clock, server, ledger } = world;
      const calls: Promise<Ending>[] = [];
      for (let second = 0; second < 600; second++) {
        calls.push(world.write());
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
      expect(world.starts).toBeLessThan(100);
    },
  );

  verifies(['REC-07', 'ERR-06'], 'and works in between serves every call made while it is up', async () => {
    const { clock, server } = world;
    for (let round = 0; round < 20; round++) {
      const call = world.write();
      await clock.advance(31_000);
      expect((await call).kind).toBe('answered');
      await server.crash();
      await clock.advance(1_000);
      expect(stateNow()).toBe('connected');
    }
    expect(world.starts).toBe(21);
  });
});

describe('a server that is lost 50 times in a minute', () => {
  verifies(['REC-07', 'REC-12', 'REC-15'], 'settles every call and leaves no timer', async () => {
    const { clock, server, ledger } = world;
    const calls: Promise<Ending>[] = [];
    for (let death = 0; death < 50; death++) {
      calls.push(world.write());
      await clock.advance(200);
      await server.crash();
      await clock.advance(1_000);
    }
    await clock.advance(60_000);
    await Promise.all(calls);
    const { started, answered, failed, unknown } = ledger.counts;
    expect(answered + failed + unknown).toBe(started);
    expect(answered).toBe(50);
  });

  verifies(['REC-14', 'REC-19'], 'and cannot be started again says so, and is there when it can', async () => {
    const { clock, server, runtime } = world;
    world.isDown = true;
    await server.crash();
    for (let attempt = 0; attempt < 50; attempt++) {
      const ending = world.write();
      // A call waits for an attempt that is due.
      await clock.advance(6_000);
      expect(['failed', 'unknown']).toContain((await ending).kind);
    }
    expect(world.starts).toBeLessThan(60);
    world.isDown = false;
    runtime.reconnect('peer');
    const call = world.write();
    await clock.advance(200);
    expect((await call).kind).toBe('answered');
  });
});
