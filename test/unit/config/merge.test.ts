// Owns the proof that the strongest claim to a name wins and the losers are kept.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Claim, merge } from '../../../src/config/merge.ts';

const layersOf = fc
  .array(fc.array(fc.constantFrom('a', 'b', 'c', '__proto__', 'B', 'é'), { maxLength: 6 }), { maxLength: 6 })
  .map((layers) =>
    layers.map((names, layer) =>
      names.map((name, at): Claim => ({ name, provenance: { scope: 'project', key: [String(layer), String(at)] } })),
    ),
  );

describe('merging layers', () => {
  test('each name has one winner: its first claim', () => {
    fc.assert(
      fc.property(layersOf, (layers) => {
        const claims = layers.flat();
        const { winners } = merge(layers);
        expect(new Set(winners)).toEqual(
          new Set(claims.filter(({ name }, at) => claims.findIndex((each) => each.name === name) === at)),
        );
      }),
    );
  });

  test('nobody is lost: winners and losers together are all claims, and each loser names its winner', () => {
    fc.assert(
      fc.property(layersOf, (layers) => {
        const { winners, losers } = merge(layers);
        expect([...winners, ...losers].map(({ provenance }) => provenance.key.join()).sort()).toEqual(
          layers
            .flat()
            .map(({ provenance }) => provenance.key.join())
            .sort(),
        );
        for (const { name, lostTo } of losers)
          expect(winners.find((each) => each.name === name)?.provenance).toBe(lostTo);
      }),
    );
  });

  test('winners are sorted by name, and merging them again changes nothing', () => {
    fc.assert(
      fc.property(layersOf, (layers) => {
        const { winners } = merge(layers);
        expect(winners.map(({ name }) => name)).toEqual(winners.map(({ name }) => name).sort());
        expect(merge([winners])).toEqual({ winners, losers: [] });
      }),
    );
  });
});
