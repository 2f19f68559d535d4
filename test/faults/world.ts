// Owns a runtime in fake time with one server inside the host, and what must be true after every case: as in `harness.ts`,
// but without a process, a socket or a moment of real time.

import { expect } from 'vitest';
import type { Runtime, RuntimeEvent, RuntimeOptions, ServerStatus } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { InProcessLaunch } from '../../src/model/server.ts';
import { createFakeClock, type FakeClock } from '../../src/testing/testing.ts';
import { openRuntime } from '../runtime.ts';
import { eventually } from '../servers/processes.ts';
import { expectAccounted } from './harness.ts';
import { type Ending, Ledger } from './ledger.ts';

const NAME = 'peer';

export interface World {
  readonly clock: FakeClock;
  readonly runtime: Runtime;
  readonly events: readonly RuntimeEvent[];
  readonly ledger: Ledger;
  status(): ServerStatus;
  ending(tool: string, args: JsonObject): Promise<Ending>;
  /** A write with a text of its own. */
  write(): Promise<Ending>;
  /** Time goes on, second by second, until the promise has settled. */
  settled<Value>(promise: Promise<Value>): Promise<Value>;
  /** Time goes on, second by second, until it is so. */
  until(isSo: () => boolean): Promise<void>;
}

export interface WorldOptions {
  readonly serve: InProcessLaunch['serve'];
  /** For a server that sleeps itself. */
  readonly clock?: FakeClock;
  /** Of the server's entry. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly options?: RuntimeOptions;
  /** Every effect that writes really had, in order. */
  readonly effects: readonly string[];
}

const STEP_MS = 1_000;

/** Opens without moving time, acts, closes, and checks that every call was accounted for and no timer is left. */
export async function inWorld(given: WorldOptions, act: (world: World) => Promise<void>): Promise<void> {
  const { clock = createFakeClock(), effects } = given;
  const ledger = new Ledger();
  const until = async (isSo: () => boolean, stepMs = STEP_MS) => {
    await eventually(async () => {
      if (!isSo()) await clock.advance(stepMs);
      return isSo();
    });
  };
  const settled = async <Value>(promise: Promise<Value>, stepMs = STEP_MS) => {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    promise.then(settle, settle);
    await until(() => isSettled, stepMs);
    return promise;
  };
  const opening = openRuntime('/nowhere', {
    env: {},
    servers: { [NAME]: { serve: given.serve, ...given.settings } },
    clock,
    ...given.options,
  });
  // Files are looked for in real time meanwhile, so that only what is due now may happen.
  const runtime = await settled(opening, 0);
  const { events, errors } = runtime;
  const ending: World['ending'] = (tool, args) => {
    const effect = tool === 'write' ? String(args['text']) : undefined;
    return ledger.record(
      { what: `${tool} ${effect ?? ''}`, effect },
      runtime.turn().call(`mcp__${NAME}__${tool}`, args),
    );
  };
  let writes = 0;
  const status = () => {
    const [only] = runtime.status();
    return only ?? expect.fail('the server is not configured');
  };
  try {
    await act({
      clock,
      runtime,
      events,
      ledger,
      status,
      ending,
      settled,
      until,
      write: () => ending('write', { text: `w${++writes}` }),
    });
  } finally {
    await runtime.close();
    await clock.advance(0);
  }
  expectAccounted({ runtime, ledger, effects, events, errors });
  expect(clock.pending(), 'timers that are left').toBe(0);
}
