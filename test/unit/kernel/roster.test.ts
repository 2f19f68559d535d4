// Owns the proof that a roster holds what was added and not yet removed, in order, whatever comes and goes.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Roster, type RosterEntry } from '../../../src/kernel/roster.ts';

test('a roster holds what a set would hold, in the same order', () => {
  const anyStep = fc.oneof(fc.constant('add' as const), fc.nat(20));
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
      const roster = new Roster<number>();
      const set = new Set<number>();
      const entries: RosterEntry<number>[] = [];
      for (const [item, step] of steps.entries()) {
        if (step === 'add') {
          entries.push(roster.add(item));
          set.add(item);
          continue;
        }
        const entry = entries[step];
        if (entry === undefined) continue;
        roster.remove(entry);
        set.delete(entry.item);
      }
      expect(roster.items()).toEqual([...set]);
      expect(roster.size).toBe(set.size);
    }),
  );
});
