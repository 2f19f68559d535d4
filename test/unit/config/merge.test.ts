// Owns the proof that the strongest claim to a name wins, that weaker claims change nothing, and that shadowed claims are kept.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Claim, type DuplicateCheck, dropDuplicates, merge } from '../../../src/config/merge.ts';
import { scopeOrder } from '../../../src/model/server.ts';
import { verifies } from '../../verifies.ts';

/** A claim with the command that it starts. */
interface Entry extends Claim {
  readonly starts: string | undefined;
}

const entries = fc.array(
  fc.record({
    name: fc.constantFrom('a', 'b', 'c', '__proto__', 'B', 'é'),
    starts: fc.constantFrom('x', 'y', 'z', undefined),
  }),
  { maxLength: 6 },
);

/** Files of all scopes, strongest scope first; each claim is known by its file and its place in it. */
const filesOf = fc.array(fc.record({ scope: fc.constantFrom(...scopeOrder), entries }), { maxLength: 8 }).map((files) =>
  files
    .toSorted((one, other) => scopeOrder.indexOf(one.scope) - scopeOrder.indexOf(other.scope))
    .map((file, at) =>
      file.entries.map(({ name, starts }, place): Entry => {
        return { name, starts, provenance: { scope: file.scope, file: `${at}`, key: [place] } };
      }),
    ),
);

const idOf = ({ provenance }: Claim) => `${provenance.file}:${provenance.key.join()}`;
const idsOf = (claims: readonly Claim[]) => claims.map(idOf).sort();
const twins: DuplicateCheck<Entry> = {
  roughKey: ({ starts }) => (starts === undefined ? undefined : 'kin'),
  exactKey: ({ starts }) => starts ?? '',
};
const isBrought = ({ provenance }: Claim) => ['plugin', 'imported'].includes(provenance.scope);

describe('merging files', () => {
  verifies('CFG-02', 'each name has one winner: its first claim, which is one of the strongest scope', () => {
    fc.assert(
      fc.property(filesOf, (files) => {
        const claims = files.flat();
        const { winners } = merge(files);
        expect(idsOf(winners)).toEqual(
          idsOf(claims.filter(({ name }, at) => claims.findIndex((each) => each.name === name) === at)),
        );
        for (const { name, provenance } of winners) {
          const rivals = claims
            .filter((each) => each.name === name)
            .map((each) => scopeOrder.indexOf(each.provenance.scope));
          expect(scopeOrder.indexOf(provenance.scope)).toBe(Math.min(...rivals));
        }
      }),
    );
  });

  verifies(
    'CFG-02',
    'nobody is lost: winners and losers together are all claims, and each loser names its winner',
    () => {
      fc.assert(
        fc.property(filesOf, (files) => {
          const { winners, shadowed } = merge(files);
          expect(idsOf([...winners, ...shadowed])).toEqual(idsOf(files.flat()));
          for (const { name, lostTo } of shadowed)
            expect(winners.find((each) => each.name === name)?.provenance).toBe(lostTo);
        }),
      );
    },
  );

  verifies('CFG-02', 'the order of files in weaker scopes has no say in who wins a name', () => {
    fc.assert(
      fc.property(filesOf, fc.infiniteStream(fc.nat()), (files, order) => {
        const { winners } = merge(files);
        for (const winner of winners) {
          const isFixed = (file: readonly Entry[]) => file[0]?.provenance.scope === winner.provenance.scope;
          const strongest = files.findIndex(isFixed);
          const [stronger, same] = [files.slice(0, strongest), files.filter(isFixed)];
          const weaker = files.filter((file) => !stronger.includes(file) && !isFixed(file));
          const shuffled = weaker
            .map((file) => ({ file, at: order.next().value ?? 0 }))
            .toSorted((one, other) => one.at - other.at)
            .map(({ file }) => file);
          const again = merge([...stronger.toReversed(), ...same, ...shuffled]).winners;
          expect(again.find(({ name }) => name === winner.name)).toBe(winner);
        }
      }),
    );
  });

  test('winners are sorted by name, and merging them again changes nothing', () => {
    fc.assert(
      fc.property(filesOf, (files) => {
        const { winners } = merge(files);
        expect(winners.map(({ name }) => name)).toEqual(winners.map(({ name }) => name).sort());
        expect(merge([winners])).toEqual({ winners, shadowed: [] });
      }),
    );
  });
});

describe('dropping twins', () => {
  test('looks at each claim once, however many kin it has: a hostile fleet must not hold up the start', () => {
    fc.assert(
      fc.property(filesOf, (files) => {
        let looks = 0;
        const essenceOf = (claim: Entry) => {
          looks++;
          return idOf(claim);
        };
        const { winners } = merge(files);
        dropDuplicates({ winners, shadowed: [] }, { ...twins, exactKey: essenceOf });
        expect(looks).toBeLessThanOrEqual(winners.length);
      }),
    );
  });

  verifies('CFG-08', 'loses nobody, and only what others brought', () => {
    fc.assert(
      fc.property(filesOf, (files) => {
        const before = merge(files);
        const { winners, shadowed } = dropDuplicates(before, twins);
        expect(idsOf([...winners, ...shadowed])).toEqual(idsOf(files.flat()));
        expect(shadowed.slice(before.shadowed.length).every(isBrought)).toBe(true);
        expect(winners.filter((each) => !isBrought(each))).toEqual(before.winners.filter((each) => !isBrought(each)));
      }),
    );
  });

  verifies('CFG-08', 'leaves nothing that others brought and that is there already, from a scope as strong', () => {
    fc.assert(
      fc.property(filesOf, (files) => {
        const before = merge(files);
        const { winners, shadowed } = dropDuplicates(before, twins);
        for (const brought of winners.filter(isBrought)) {
          const same = winners.filter((each) => each.starts !== undefined && each.starts === brought.starts);
          expect(same.length <= 1).toBe(true);
        }
        for (const { provenance, lostTo, because } of shadowed.slice(before.shadowed.length)) {
          expect(scopeOrder.indexOf(lostTo.scope)).toBeLessThanOrEqual(scopeOrder.indexOf(provenance.scope));
          expect(because).toMatch(/^it is the same as "/);
        }
      }),
    );
  });
});
