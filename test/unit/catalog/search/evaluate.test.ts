// Owns the proof that recall, NDCG and times of a search are measured as defined.

import { expect, test } from 'vitest';
import { evaluate } from '../../../../src/catalog/search/evaluate.ts';

const queries = [
  { id: 'one', query: 'a', groups: [['x']] },
  { id: 'two', query: 'b', groups: [['x', 'y'], ['z']] },
];

test('recall is the share of groups with a member among the first, and a second member of a group gains nothing', () => {
  const rankings: Record<string, readonly string[]> = { a: ['q', 'x'], b: ['y', 'x', 'q', 'q', 'q', 'q', 'z'] };
  const {
    recall,
    ndcg10,
    rankings: told,
    queries: count,
  } = evaluate(
    queries,
    (query) => rankings[query] ?? [],
    () => 0,
  );
  expect({ recall, count }).toEqual({ recall: { 1: 0.25, 5: 0.75, 10: 1, 20: 1 }, count: 2 });
  const first = 1 / Math.log2(3);
  const second = (1 + 1 / Math.log2(8)) / (1 + 1 / Math.log2(3));
  expect(ndcg10).toBeCloseTo((first + second) / 2, 12);
  expect(told).toEqual([
    { id: 'one', ranking: rankings['a'] },
    { id: 'two', ranking: rankings['b'] },
  ]);
});

test('times are those of the questions, without the first ones that warm up', () => {
  let time = 0;
  const durations = [1, 2];
  const asked: string[] = [];
  const search = (query: string) => {
    asked.push(query);
    time += durations[(asked.length - 1) % 2] ?? 0;
    return [];
  };
  const { p50Ms, p95Ms, recall } = evaluate(queries, search, () => time);
  expect({ p50Ms, p95Ms, asked, recall }).toEqual({
    p50Ms: 1,
    p95Ms: 2,
    asked: ['a', 'b', 'a', 'b'],
    recall: { 1: 0, 5: 0, 10: 0, 20: 0 },
  });
});

test('no questions are no division by nothing', () => {
  expect(
    evaluate(
      [],
      () => [],
      () => 0,
    ),
  ).toMatchObject({ queries: 0, ndcg10: 0, p95Ms: 0 });
});
