// Owns the proof that the state machine of a connection takes the arrows of docs/lifecycle.md, and no others.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { reconnectPolicy } from '../../../src/config/reconnect.ts';
import { createRecovery } from '../../../src/connection/recovery.ts';
import {
  arrows,
  type ConnectionEffect,
  type ConnectionInput,
  type ConnectionState,
  step,
} from '../../../src/connection/state.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import { runs } from '../../effort.ts';
import { verifies } from '../../verifies.ts';
import { outage } from '../session.ts';

const steady = (isRemote = false) => createRecovery(reconnectPolicy('steady'), isRemote, () => 0.5);
const login = new RuntimeError('AUTH_REQUIRED', { server: 's' });
const lost = (at: number, more: Partial<Extract<ConnectionInput, { kind: 'lost' }>> = {}): ConnectionInput => ({
  kind: 'lost',
  at,
  cause: outage,
  hasServed: false,
  restMs: 0,
  ...more,
});
const opened = (at: number): ConnectionInput => ({ kind: 'opened', at });
const call = (at = 0, restMs = 0): ConnectionInput => ({ kind: 'call', at, restMs });
const [wake, retry, unblock, reconnect, restart, retire, idleStop, close] = (
  ['wake', 'retry', 'unblock', 'reconnect', 'restart', 'retire', 'idle-stop', 'close'] as const
).map((kind) => ({ kind })) as [
  ConnectionInput,
  ConnectionInput,
  ConnectionInput,
  ConnectionInput,
  ConnectionInput,
  ConnectionInput,
  ConnectionInput,
  ConnectionInput,
];

function walk(handlers: readonly ConnectionInput[], recovery = steady()) {
  const states: ConnectionState[] = [];
  const effects: string[][] = [];
  let state: ConnectionState = { kind: 'idle' };
  for (const input of handlers) {
    const [next, ...todo] = step(state, input, recovery);
    states.push(next);
    effects.push(todo.map(({ kind }) => kind));
    state = next;
  }
  return { states, effects };
}

const kinds = (handlers: readonly ConnectionInput[]) => walk(handlers).states.map(({ kind }) => kind);

verifies(['LIF-01', 'LIF-03'], 'each input leads from each state to exactly one other', () => {
  const journeys: Record<string, [readonly ConnectionInput[], readonly string[]]> = {
    'a server that comes up': [
      [wake, opened(1)],
      ['connecting', 'ready'],
    ],
    'a login is not cured by waiting': [
      [wake, lost(1, { cause: login }), retry, call(), unblock],
      ['connecting', 'blocked', 'blocked', 'blocked', 'connecting'],
    ],
    'an outage is': [
      [wake, lost(1), retry, opened(2)],
      ['connecting', 'waiting', 'connecting', 'ready'],
    ],
    'an idle stop is not a loss, and a call wakes it': [
      [wake, opened(1), idleStop, lost(2), call()],
      ['connecting', 'ready', 'idle', 'idle', 'connecting'],
    ],
    'closed is the end': [
      [close, wake, call(), reconnect, lost(1), opened(2), retry, unblock, idleStop, close],
      Array.from({ length: 10 }, () => 'closed'),
    ],
    'a wake while it connects changes nothing': [
      [wake, wake, call(), opened(1), wake, call()],
      ['connecting', 'connecting', 'connecting', 'ready', 'ready', 'ready'],
    ],
    'a changed entry starts a server anew, and does not start one that is not up': [
      [restart, wake, restart, opened(1), restart, lost(2), restart, opened(3), retire],
      ['idle', 'connecting', 'connecting', 'ready', 'connecting', 'waiting', 'connecting', 'ready', 'closed'],
    ],
    'a person may start again from anywhere': [
      [wake, lost(1, { cause: login }), reconnect, opened(2), reconnect, lost(3), reconnect],
      ['connecting', 'blocked', 'connecting', 'ready', 'connecting', 'waiting', 'connecting'],
    ],
  };
  for (const [name, [handlers, expected]] of Object.entries(journeys)) expect(kinds(handlers), name).toEqual(expected);
});

/** For every arrow, in the order of the table: the states and inputs that take it. */
const samples: Record<ConnectionState['kind'], ConnectionState[]> = {
  idle: [{ kind: 'idle' }],
  connecting: [1, 4, 5, limits.attemptsInAll].map((attempt) => ({ kind: 'connecting', attempt, hurried: false })),
  ready: [{ kind: 'ready', since: 0, attempt: 5 }],
  waiting: [true, false].map((hurried) => ({ kind: 'waiting', attempt: 1, retryAt: 500, cause: outage, hurried })),
  blocked: [{ kind: 'blocked', cause: login }],
  failed: [
    { kind: 'failed', attempt: 5, cause: outage },
    { kind: 'failed', attempt: 5, cause: outage, retryAt: 15_000 },
  ],
  closed: [{ kind: 'closed' }],
};
const handlers: ConnectionInput[] = [
  ...[wake, call(0), call(0, 100), opened(0), retry, unblock, reconnect, restart, retire, idleStop, close],
  ...[
    lost(1),
    lost(1, { hasServed: true }),
    lost(1, { restMs: 100 }),
    lost(1, { cause: login }),
    lost(limits.stableMs),
  ],
];

/** The arrow that a step takes, found by trying them in the order of the table. */
function arrowOf(state: ConnectionState, input: ConnectionInput, isRemote: boolean): number {
  return arrows.findIndex(
    ({ on, from, take }) => on === input.kind && from.includes(state.kind) && take(state, input, steady(isRemote)),
  );
}

verifies(['LIF-01', 'LIF-03'], 'every arrow of the table can be taken, and leads where it says', () => {
  const taken = new Set<number>();
  const wrong: unknown[] = [];
  for (const state of Object.values(samples).flat()) {
    for (const input of handlers) {
      for (const isRemote of [true, false]) {
        const [next] = step(state, input, steady(isRemote));
        const at = arrowOf(state, input, isRemote);
        const expected = at < 0 ? state.kind : arrows[at]?.to;
        if (next.kind !== expected) wrong.push({ state, input, next });
        taken.add(at);
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(arrows.filter((_, at) => !taken.has(at)).map(({ from, on, to }) => ({ from, on, to }))).toEqual([]);
});

test('of two arrows from the same place only the last may always hold: none stands in the shadow of another', () => {
  const shadowed = arrows.filter((each, at) =>
    arrows
      .slice(0, at)
      .some(
        ({ from, on, when }) => when === undefined && on === each.on && from.some((kind) => each.from.includes(kind)),
      ),
  );
  expect(shadowed.map(({ from, on, to }) => ({ from, on, to }))).toEqual([]);
  expect(
    arrows.some(({ from }) => from.includes('closed')),
    'nothing leaves closed',
  ).toBe(false);
});

verifies(
  'REC-03',
  'a local server is tried after 500, 1000, 2000 and 4000 ms, then given up until a person reconnects',
  () => {
    const journey: ConnectionInput[] = [wake];
    for (let attempt = 1; attempt <= 5; attempt++) journey.push(lost(0), retry);
    const { states } = walk(journey.slice(0, -1));
    expect(states.flatMap((state) => (state.kind === 'waiting' ? state.retryAt : []))).toEqual([500, 1000, 2000, 4000]);
    expect(states.at(-1)).toEqual({ kind: 'failed', attempt: 5, cause: outage });
  },
);

verifies(['REC-03', 'REC-14'], 'a remote server is then tried on in the background, and says when next', () => {
  const journey: ConnectionInput[] = [wake];
  for (let attempt = 1; attempt <= 8; attempt++) journey.push(lost(0), retry);
  const { states, effects } = walk(journey.slice(0, -1), steady(true));
  expect(states.flatMap((state) => (state.kind === 'failed' ? state.retryAt : []))).toEqual([
    15_000, 30_000, 60_000, 120_000,
  ]);
  expect(effects.at(-1)).toEqual(['release', 'schedule-retry']);
});

test('so many attempts without one success, and only a person starts again, however patient the entry is', () => {
  const patient = createRecovery(
    { schedule: { initialMs: 1, multiplier: 1, maxMs: 1, maxAttempts: 10_000, jitter: 0 } },
    true,
  );
  for (const recovery of [steady(true), patient]) {
    let state: ConnectionState = { kind: 'connecting', attempt: limits.attemptsInAll - 1, hurried: false };
    [state] = step(state, lost(0), recovery);
    expect(state).toHaveProperty('retryAt');
    [state] = step(state, retry, recovery);
    [state] = step(state, lost(0), recovery);
    expect(state).toEqual({ kind: 'failed', attempt: limits.attemptsInAll, cause: outage });
    [state] = step(state, reconnect, recovery);
    expect(state).toEqual({ kind: 'connecting', attempt: 1, hurried: false });
  }
});

test('a server that dies soon after each start uses its attempts up; one that was stable, or did its work, does not', () => {
  const flap: ConnectionInput[] = [wake];
  for (let life = 0; life < 5; life++) flap.push(opened(0), lost(limits.stableMs - 1), retry);
  expect(walk(flap.slice(0, -1)).states.at(-1)?.kind).toBe('failed');

  for (const end of [lost(limits.stableMs), lost(1, { hasServed: true })]) {
    const good: ConnectionInput[] = [wake];
    for (let life = 0; life < 50; life++) good.push(opened(0), end, retry);
    expect(walk(good).states.at(-1)).toEqual({ kind: 'connecting', attempt: 2, hurried: false });
  }
});

verifies('REC-12', 'a call hurries a retry once in an outage; a server that came up starts a new one', () => {
  const { states } = walk([
    wake,
    lost(0),
    call(),
    lost(0),
    call(),
    retry,
    lost(0),
    call(),
    retry,
    opened(1),
    lost(2),
    call(),
  ]);
  expect(states.map((state) => [state.kind, 'hurried' in state && state.hurried])).toEqual([
    ['connecting', false],
    ['waiting', false],
    ['connecting', true],
    ['waiting', true],
    ['waiting', true],
    ['connecting', true],
    ['waiting', true],
    ['waiting', true],
    ['connecting', true],
    ['ready', false],
    ['waiting', false],
    ['connecting', true],
  ]);
});

test('a server that was started too often rests: calls wait for it, also after its schedule is used up', () => {
  const waiting: ConnectionState = { kind: 'waiting', attempt: 1, retryAt: 9, cause: outage, hurried: false };
  expect(step(waiting, call(0, 100), steady())).toEqual([waiting]);
  expect(step({ kind: 'connecting', attempt: 1, hurried: false }, lost(0, { restMs: 7_000 }), steady())).toEqual([
    { kind: 'waiting', attempt: 1, retryAt: 7_000, cause: outage, hurried: false },
    { kind: 'release' },
    { kind: 'schedule-retry', at: 7_000 },
  ]);
  expect(step({ kind: 'failed', attempt: 5, cause: outage }, call(10, 100), steady())).toEqual([
    { kind: 'waiting', attempt: 5, retryAt: 110, cause: outage, hurried: true },
    { kind: 'release' },
    { kind: 'schedule-retry', at: 110 },
  ]);
});

test('whatever is left behind is released on the way', () => {
  const { effects } = walk([wake, opened(1), lost(2), retry, close]);
  expect(effects).toEqual([['open'], [], ['release', 'schedule-retry'], ['open'], ['release']]);
});

const anyInput: fc.Arbitrary<ConnectionInput> = fc.oneof(
  fc.constantFrom(wake, retry, unblock, reconnect, idleStop, close),
  fc.record({ kind: fc.constant('call' as const), at: fc.nat(), restMs: fc.constantFrom(0, 0, 5_000) }),
  fc.record({ kind: fc.constant('opened' as const), at: fc.nat() }),
  fc.record({
    kind: fc.constant('lost' as const),
    at: fc.nat(),
    cause: fc.constantFrom(outage, outage, login),
    hasServed: fc.boolean(),
    restMs: fc.constantFrom(0, 5_000),
  }),
);

test('whatever happens: one opening at a time, a timer wherever a retry is due, and nothing left in a state of rest', () => {
  fc.assert(
    fc.property(fc.array(anyInput, { maxLength: 60 }), fc.boolean(), (happenings, isRemote) => {
      let state: ConnectionState = { kind: 'idle' };
      let [openings, isTimed] = [0, false];
      const perform = (effect: ConnectionEffect) => {
        if (effect.kind === 'release') [openings, isTimed] = [0, false];
        if (effect.kind === 'open') openings += 1;
        if (effect.kind === 'schedule-retry') isTimed = true;
      };
      for (const input of happenings) {
        // Only a pending timer can send `retry`, and only an opening in progress can end.
        if (input.kind === 'retry' && !isTimed) continue;
        if (input.kind === 'opened' && state.kind !== 'connecting') continue;
        if (input.kind === 'retry') isTimed = false;
        const [next, ...effects] = step(state, input, steady(isRemote));
        effects.forEach(perform);
        state = next;
        const isUp = state.kind === 'connecting' || state.kind === 'ready';
        expect({ openings, isTimed }).toEqual({
          openings: isUp ? 1 : 0,
          isTimed: 'retryAt' in state && state.retryAt !== undefined,
        });
        if (state.kind === 'closed') expect(step(state, input, steady(isRemote))).toEqual([state]);
      }
    }),
    { numRuns: runs(500) },
  );
});
