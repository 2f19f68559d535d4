// Owns the proof of the breaker's states: when it opens, which calls pass, and what closes it.

import { expect, test } from 'vitest';
import { admit, type BreakerOutcome, type BreakerState, closedBreaker, record } from '../../../src/kernel/breaker.ts';

const breakerLimits = { outages: 3, openMs: 300_000 };
const after = (...ends: BreakerOutcome[]): BreakerState =>
  ends.reduce<BreakerState>((state, end, now) => record(state, end, now, breakerLimits), closedBreaker);

const histories: Record<string, [ends: BreakerOutcome[], state: BreakerState]> = {
  'nothing on record': [[], { kind: 'closed', outages: 0 }],
  'two outages are counted': [['outage', 'outage'], { kind: 'closed', outages: 2 }],
  'the third in a row opens it, for five minutes from then': [
    ['outage', 'outage', 'outage'],
    { kind: 'open', until: 300_002 },
  ],
  'one success forgets what came before': [['outage', 'outage', 'answered', 'outage'], { kind: 'closed', outages: 1 }],
  'an outage of a call that was already under way does not prolong it': [
    ['outage', 'outage', 'outage', 'outage'],
    { kind: 'open', until: 300_002 },
  ],
  'a success of a call that was already under way closes it': [
    ['outage', 'outage', 'outage', 'answered'],
    { kind: 'closed', outages: 0 },
  ],
};

test.each(Object.entries(histories))('%s', (_, [ends, state]) => {
  expect(after(...ends)).toEqual(state);
});

const admissions: Record<string, [state: BreakerState, now: number, admission: ReturnType<typeof admit>]> = {
  'a closed breaker lets everyone through': [
    { kind: 'closed', outages: 2 },
    5,
    { admitted: true, state: { kind: 'closed', outages: 2 } },
  ],
  'an open one says how long it stays open': [{ kind: 'open', until: 100 }, 40, { admitted: false, retryInMs: 60 }],
  'the first call after its time is a test, and the breaker half-open': [
    { kind: 'open', until: 100 },
    100,
    { admitted: true, state: { kind: 'half-open' } },
  ],
  'while it is half-open, no other call passes': [{ kind: 'half-open' }, 1_000_000, { admitted: false, retryInMs: 0 }],
};

test.each(Object.entries(admissions))('%s', (_, [state, now, admission]) => {
  expect(admit(state, now)).toEqual(admission);
});

test('half-open, an outage opens it anew and an answer closes it', () => {
  expect(record({ kind: 'half-open' }, 'outage', 50, breakerLimits)).toEqual({ kind: 'open', until: 300_050 });
  expect(record({ kind: 'half-open' }, 'answered', 50, breakerLimits)).toEqual(closedBreaker);
});

test('an outcome that proves nothing changes nothing, but the test goes to the next call', () => {
  expect(after('outage', 'outage', 'unknown')).toEqual({ kind: 'closed', outages: 2 });
  expect(record({ kind: 'open', until: 90 }, 'unknown', 50, breakerLimits)).toEqual({ kind: 'open', until: 90 });
  expect(record({ kind: 'half-open' }, 'unknown', 50, breakerLimits)).toEqual({ kind: 'open', until: 50 });
});
