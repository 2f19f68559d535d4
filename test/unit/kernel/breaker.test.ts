// Owns the proof of the breaker as data: when it opens, whom it lets through, and what closes it.

import { expect, test } from 'vitest';
import { admit, type BreakerState, closedBreaker, record } from '../../../src/kernel/breaker.ts';

const breakerLimits = { failures: 3, openMs: 300_000 };
const after = (...outages: boolean[]): BreakerState =>
  outages.reduce<BreakerState>((state, outage, now) => record(state, outage, now, breakerLimits), closedBreaker);

const histories: Record<string, [outages: boolean[], state: BreakerState]> = {
  'nothing on record': [[], { kind: 'closed', failures: 0 }],
  'two outages are counted': [[true, true], { kind: 'closed', failures: 2 }],
  'the third in a row opens it, for five minutes from then': [[true, true, true], { kind: 'open', until: 300_002 }],
  'one success forgets what came before': [[true, true, false, true], { kind: 'closed', failures: 1 }],
  'an outage of a call that was already under way does not prolong it': [
    [true, true, true, true],
    { kind: 'open', until: 300_002 },
  ],
  'a success of a call that was already under way closes it': [
    [true, true, true, false],
    { kind: 'closed', failures: 0 },
  ],
};

test.each(Object.entries(histories))('%s', (_, [outages, state]) => {
  expect(after(...outages)).toEqual(state);
});

const admissions: Record<string, [state: BreakerState, now: number, admission: ReturnType<typeof admit>]> = {
  'a closed breaker lets everyone through': [
    { kind: 'closed', failures: 2 },
    5,
    { admitted: true, state: { kind: 'closed', failures: 2 } },
  ],
  'an open one says how long it stays open': [{ kind: 'open', until: 100 }, 40, { admitted: false, retryInMs: 60 }],
  'the first one after its time is on trial': [
    { kind: 'open', until: 100 },
    100,
    { admitted: true, state: { kind: 'trial' } },
  ],
  'while a trial runs, nobody else passes': [{ kind: 'trial' }, 1_000_000, { admitted: false, retryInMs: 0 }],
};

test.each(Object.entries(admissions))('%s', (_, [state, now, admission]) => {
  expect(admit(state, now)).toEqual(admission);
});

test('a trial that fails opens it anew, and one that succeeds closes it', () => {
  expect(record({ kind: 'trial' }, true, 50, breakerLimits)).toEqual({ kind: 'open', until: 300_050 });
  expect(record({ kind: 'trial' }, false, 50, breakerLimits)).toEqual(closedBreaker);
});
