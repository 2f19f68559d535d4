// Owns the proof of the breaker as data: when it opens, whom it lets through, and what closes it.

import { expect, test } from 'vitest';
import { admit, type BreakerState, type CallEnd, closedBreaker, record } from '../../../src/kernel/breaker.ts';

const breakerLimits = { failures: 3, openMs: 300_000 };
const after = (...ends: CallEnd[]): BreakerState =>
  ends.reduce<BreakerState>((state, end, now) => record(state, end, now, breakerLimits), closedBreaker);

const histories: Record<string, [ends: CallEnd[], state: BreakerState]> = {
  'nothing on record': [[], { kind: 'closed', failures: 0 }],
  'two outages are counted': [['outage', 'outage'], { kind: 'closed', failures: 2 }],
  'the third in a row opens it, for five minutes from then': [
    ['outage', 'outage', 'outage'],
    { kind: 'open', until: 300_002 },
  ],
  'one success forgets what came before': [['outage', 'outage', 'answered', 'outage'], { kind: 'closed', failures: 1 }],
  'an outage of a call that was already under way does not prolong it': [
    ['outage', 'outage', 'outage', 'outage'],
    { kind: 'open', until: 300_002 },
  ],
  'a success of a call that was already under way closes it': [
    ['outage', 'outage', 'outage', 'answered'],
    { kind: 'closed', failures: 0 },
  ],
};

test.each(Object.entries(histories))('%s', (_, [ends, state]) => {
  expect(after(...ends)).toEqual(state);
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
  expect(record({ kind: 'trial' }, 'outage', 50, breakerLimits)).toEqual({ kind: 'open', until: 300_050 });
  expect(record({ kind: 'trial' }, 'answered', 50, breakerLimits)).toEqual(closedBreaker);
});

test('an end that proves nothing changes nothing, but a trial goes to the next call', () => {
  expect(after('outage', 'outage', 'unknown')).toEqual({ kind: 'closed', failures: 2 });
  expect(record({ kind: 'open', until: 90 }, 'unknown', 50, breakerLimits)).toEqual({ kind: 'open', until: 90 });
  expect(record({ kind: 'trial' }, 'unknown', 50, breakerLimits)).toEqual({ kind: 'open', until: 50 });
});
