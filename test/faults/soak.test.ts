// Owns the soak of the tests: random faults over all transports, and many connects and closes. `.ci/run` does all of it,
// `npm test` a tenth. For longer ones: node test/faults/soak.mjs --minutes 10 --seed N

import { describe, expect, test } from 'vitest';
import { isLong, runs, seed } from '../effort.ts';
import { verifies } from '../verifies.ts';
import { cycle, soak } from './soak.ts';

const HUNG_MS = 1_200_000;

verifies(
  ['REC-12', 'EXT-06', 'REC-15', 'TDN-04'],
  `random faults under continuous calls (seed ${seed}) leave every call accounted for, and nothing behind`,
  async () => {
    const atLeast = { faults: runs(200), answered: runs(1_000) };
    const { counts, problems, faults } = await soak({ seed, ms: runs(30_000), atLeast });
    expect(problems.join('\n')).toBe('');
    expect(counts.answered + counts.failed + counts.unknown + counts.aborted).toBe(counts.started);
    expect(counts.answered).toBeGreaterThanOrEqual(atLeast.answered);
    expect(faults).toBeGreaterThanOrEqual(atLeast.faults);
  },
  { timeout: HUNG_MS },
);

describe('connecting and closing', () => {
  for (const [transport, cycles] of [
    ['stdio', runs(50)],
    ['http', runs(200)],
    ['sse', runs(50)],
    ['ws', runs(50)],
  ] as const) {
    test(`${cycles} times over ${transport} leaves nothing, and costs no memory`, { timeout: HUNG_MS }, async () => {
      const { problems, bytesPerCycle } = await cycle(transport, cycles);
      expect(problems.join('\n')).toBe('');
      // A few cycles are too few to tell a leak from chance.
      if (isLong) expect(bytesPerCycle).toBeLessThan(20_000);
    });
  }
});
