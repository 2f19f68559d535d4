// Owns the proof that prompt caches stay valid: unchanged tools are byte for byte the same, whatever happened in between.

import fc from 'fast-check';
import { expect } from 'vitest';
import { Catalog } from '../../../src/catalog/catalog.ts';
import type { ToolListing } from '../../../src/catalog/listing.ts';
import { createStoredLists } from '../../../src/catalog/tool-cache.ts';
import { createMemoryStore } from '../../../src/kernel/store.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { runs } from '../../effort.ts';
import { verifies } from '../../verifies.ts';
import { definitionOf } from '../session.ts';
import { createSession } from './session.ts';

const word = fc.stringMatching(/^[a-z_]{1,8}$/);
const schema = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    fc.record({ type: fc.constantFrom('string', 'number', 'boolean'), description: fc.string({ maxLength: 20 }) }),
    fc.record({ enum: fc.uniqueArray(word, { minLength: 1, maxLength: 4 }), default: word }),
    fc.record({ type: fc.constant('array'), items: tie('any') }),
    fc.record({ type: fc.constant('object'), properties: fc.dictionary(word, tie('any'), { maxKeys: 4 }) }),
  ),
})).any;
const anyTool = fc.record({
  name: fc.oneof(word, fc.string({ minLength: 1, maxLength: 12 })),
  description: fc.string({ maxLength: 60, unit: 'binary' }),
  title: word,
  inputSchema: fc.record({
    type: fc.constant('object'),
    properties: fc.dictionary(word, schema, { maxKeys: 5 }),
    additionalProperties: fc.boolean(),
  }),
  annotations: fc.record({ readOnlyHint: fc.boolean(), destructiveHint: fc.boolean() }),
  _meta: fc.dictionary(word, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }),
});
const anyFleet = fc.dictionary(
  fc.stringMatching(/^[a-zA-Z. ]{1,6}$/),
  fc.uniqueArray(anyTool, { selector: ({ name }) => name, minLength: 1, maxLength: 5 }),
  { minKeys: 1, maxKeys: 4 },
);

/** The same value, its keys in another order at every depth; lists stay as they are. */
function shuffled<Value>(value: Value, random: () => number): Value {
  if (Array.isArray(value)) return value.map((each) => shuffled(each, random)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, shuffled(each, random)] as const);
  return Object.fromEntries(turned(entries, random)) as Value;
}

const turned = <Item>(items: readonly Item[], random: () => number): Item[] =>
  items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const bytesOf = (catalog: Catalog) =>
  JSON.stringify(catalog.snapshot().tools.map(({ freshness: _freshness, ...tool }) => tool));

verifies(
  ['EXT-12', 'NAM-12', 'REC-09'],
  'over many reconnects, reorders and restarts from memory, not a byte moves and nothing is news',
  async () => {
    const fleets = fc.sample(anyFleet, { numRuns: runs(20), seed: 5 });
    const random = generator(7);
    for (const fleet of fleets) {
      const clock = createFakeClock();
      const store = createMemoryStore(clock);
      const kept: Promise<void>[] = [];
      const events: unknown[] = [];
      const create = () => {
        const known = createStoredLists(store);
        const catalog = new Catalog({
          clock,
          emit: (event) => event.type === 'catalog.changed' && events.push(event),
          onListed: ({ name }, listing) => kept.push(known.write(name, listing)),
        });
        return { known, catalog };
      };
      const listAll = async (catalog: Catalog) => {
        for (const [name, tools] of turned(Object.entries(fleet), random)) {
          const sent = turned(tools, random).map((tool) => shuffled(tool, random));
          const session = createSession(() => ({ kind: 'result', result: { tools: sent } }));
          await catalog.list(definitionOf(name), session);
        }
      };
      let { catalog } = create();
      await listAll(catalog);
      const [bytes, { revision }] = [bytesOf(catalog), catalog.snapshot()];
      for (let round = 0; round < 50; round++) {
        events.length = 0;
        if (random() < 0.3) {
          await Promise.all(kept);
          const next = create();
          const recalled = await Promise.all(
            Object.keys(fleet).map(async (name) => [definitionOf(name), await next.known.read(name)] as const),
          );
          catalog = next.catalog;
          catalog.adopt(turned(recalled, random) as (readonly [ReturnType<typeof definitionOf>, ToolListing])[]);
          expect(events.length, 'a start is told once').toBe(1);
          events.length = 0;
        }
        if (random() < 0.5) for (const name of Object.keys(fleet)) catalog.stale(name);
        if (random() < 0.8) await listAll(catalog);
        expect(catalog.snapshot().revision).toBe(revision);
        expect(bytesOf(catalog)).toBe(bytes);
        expect(events).toEqual([]);
      }
    }
  },
);
