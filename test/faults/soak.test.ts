// Owns the short soak: a few seconds of random faults over all transports, and some hundreds of connects and closes.
// The long one is run by hand: node test/faults/soak.mjs --minutes 10 --seed N

import { describe, expect, test } from 'vitest';
import { verifies } from '../verifies.ts';
import { cycle, soak } from './soak.ts';

const SEED = Number(process.env['PLEXUS_SOAK_SEED'] ?? 1);

verifies(
  ['REC-12', 'EXT-06', 'REC-15', 'TDN-04'],
  `random faults under continuous calls (seed ${SEED}) leave every call accounted for, and nothing behind`,
  async () => {
    const { counts, problems, faults } = await soak({ seed: SEED, ms: 5_000 });
    expect(problems).toEqual([]);
    expect(counts.answered + counts.failed + counts.unknown + counts.aborted).toBe(counts.started);
    expect(counts.answered).toBeGreaterThan(100);
    expect(faults).toBeGreaterThan(20);
  },
  { timeout: 120_000 },
);

describe('connecting and closing', () => {
  for (const [transport, cycles] of [
    ['stdio', 50],
    ['http', 200],
    ['sse', 50],
    ['ws', 50],
  ] as const) {
    test(`${cycles} times over ${transport} leaves nothing, and costs no memory`, { timeout: 120_000 }, async () => {
      const { problems, bytesPerCycle } = await cycle(transport, cycles);
      expect(problems).toEqual([]);
      expect(bytesPerCycle).toBeLessThan(20_000);
    });
  }
});
