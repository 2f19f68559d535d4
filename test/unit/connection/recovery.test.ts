// Owns the proof that a lost connection is retried exactly as its entry says: by one of five presets, a list or a rule.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { reconnectPolicy } from '../../../src/config/reconnect.ts';
import { reconnectSchema } from '../../../src/config/schema.ts';
import { createRecovery } from '../../../src/connection/recovery.ts';
import { verifies } from '../../verifies.ts';

type Written = Parameters<typeof reconnectPolicy>[0];

const middle = () => 0.5;
const complete = (written: object): Written => reconnectSchema.parse(written);

/** The delays before each further attempt, then those in the background, in milliseconds. */
function waits(written: Written, { isRemote = true, random = middle, background = 7 } = {}) {
  const { delayFor, backgroundDelayFor } = createRecovery(reconnectPolicy(written), isRemote, random);
  const schedule: number[] = [];
  for (let delay = delayFor(1); delay !== undefined; delay = delayFor(schedule.length + 1)) schedule.push(delay);
  const later = Array.from({ length: background }, (_, at) => backgroundDelayFor(schedule.length + 1 + at));
  return { schedule, later: later.filter((delay) => delay !== undefined) };
}

const inTheBackground = [15_000, 30_000, 60_000, 120_000, 240_000, 300_000, 300_000];

verifies('REC-01', 'doubling waits 1, 2 and 4 s, and no more', () => {
  expect(waits('doubling')).toEqual({ schedule: [1_000, 2_000, 4_000], later: [] });
});

verifies('REC-02', 'quick waits 100, 200, 400, 800 and 1600 ms', () => {
  expect(waits('quick')).toEqual({ schedule: [100, 200, 400, 800, 1_600], later: [] });
});

verifies(
  ['REC-01', 'REC-02'],
  'no chance lifts a wait of a preset over what it waits at most, however often it is tried',
  () => {
    const most = { doubling: 30_000, quick: 10_000 } as const;
    for (const preset of ['doubling', 'quick'] as const) {
      const { schedule } = reconnectPolicy(preset);
      const { delayFor } = createRecovery(
        { schedule: { ...schedule, maxAttempts: 20 } as typeof schedule },
        false,
        () => 1,
      );
      const delays = Array.from({ length: 20 }, (_, at) => delayFor(at + 1) ?? 0);
      expect([Math.max(...delays), delays.at(-1)]).toEqual([most[preset], most[preset]]);
    }
  },
);

verifies('REC-03', 'steady waits 500, 1000, 2000 and 4000 ms, then a remote server is tried from 15 s to 5 min', () => {
  expect(waits('steady')).toEqual({ schedule: [500, 1_000, 2_000, 4_000], later: inTheBackground });
  expect(waits('steady', { isRemote: false })).toEqual({ schedule: [500, 1_000, 2_000, 4_000], later: [] });
});

verifies('REC-04', 'patient waits 2, 5 and 15 s, and no more', () => {
  expect(waits('patient')).toEqual({ schedule: [2_000, 5_000, 15_000], later: [] });
});

verifies('REC-05', 'none does not wait at all', () => {
  expect(waits('none')).toEqual({ schedule: [], later: [] });
});

const written: Record<string, [written: object, schedule: number[], later: number[]]> = {
  'a list': [{ delaysMs: [1, 20, 300] }, [1, 20, 300], []],
  'an empty list': [{ delaysMs: [] }, [], []],
  'a rule, its missing parts as in doubling': [{ initialMs: 10 }, [10, 20, 40], []],
  'a rule with a ceiling': [
    { initialMs: 1_000, multiplier: 3, maxMs: 5_000, maxAttempts: 4 },
    [1_000, 3_000, 5_000, 5_000],
    [],
  ],
  'nothing but the background': [{ background: {} }, [500, 1_000, 2_000, 4_000], inTheBackground],
  'a background of its own': [
    { delaysMs: [5], background: { baseMs: 100, maxMs: 350 } },
    [5],
    [100, 200, 350, 350, 350, 350, 350],
  ],
  'no background': [{ delaysMs: [5], background: false }, [5], []],
};

for (const [what, [entry, schedule, later]] of Object.entries(written)) {
  verifies('REC-06', `${what} is what is waited for`, () => {
    expect(waits(complete(entry))).toEqual({ schedule, later });
    expect(waits(complete(entry), { isRemote: false }), 'a local server has no background').toEqual({
      schedule,
      later: [],
    });
  });
}

verifies('REC-06', 'without jitter, chance moves nothing', () => {
  expect(waits(complete({ delaysMs: [1_000], jitter: 0 }), { random: () => 0.99 }).schedule).toEqual([1_000]);
});

verifies('REC-06', 'chance moves every wait by a fifth at most, to both sides', () => {
  const anyRandom = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const exact = waits('steady');
  const isNear = (wait: number, meant = Number.NaN) => Math.abs(wait - meant) <= meant / 5 + 0.5;
  fc.assert(
    fc.property(anyRandom, (random) => {
      const { schedule, later } = waits('steady', { random: () => random });
      expect(schedule.every((wait, at) => isNear(wait, exact.schedule[at]))).toBe(true);
      expect(later.every((wait, at) => isNear(wait, exact.later[at]))).toBe(true);
    }),
  );
  expect(waits('patient', { random: () => 0 }).schedule).toEqual([1_600, 4_000, 12_000]);
  expect(waits('patient', { random: () => 1 }).schedule).toEqual([2_400, 6_000, 18_000]);
});

test('chance is the machine’s own unless a test brings another', () => {
  const { delayFor } = createRecovery(reconnectPolicy('steady'), true);
  const seen = new Set(Array.from({ length: 50 }, () => delayFor(4)));
  expect(seen.size).toBeGreaterThan(1);
});
