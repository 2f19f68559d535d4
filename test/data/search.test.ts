// Owns the proof that tools are found better than by the yardstick on the shared data, read where it lies. The figures in full
// are what `npm run bench:search` prints.

import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { evaluate } from '../../src/catalog/search/evaluate.ts';
import { ToolIndex } from '../../src/catalog/search/tool-index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';

const data = new URL('../../../shared/data/retrieval/', import.meta.url);
const isThere = existsSync(data);
if (!isThere) console.warn(`SKIPPED: no search was measured, there is no ${data.pathname}`);

/** Recall@10 of plain BM25F with weights set by hand, from the README of the data. */
const yardsticks = { livemcpbench: 0.737, metatool: 0.618, bfcl_pool: 0.803, sealtools: 0.954 };
const AVERAGE_GAIN = 0.03;

interface ToolRow {
  readonly id: string;
  readonly server: string;
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonObject;
}

interface QueryRow {
  readonly id: string;
  readonly query: string;
  readonly gold: readonly string[];
  readonly goldGroups?: readonly (readonly string[])[];
}

function readRows<Row>(file: string): readonly Row[] {
  const text = gunzipSync(readFileSync(new URL(file, data))).toString('utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function recallAt10(set: string): number {
  const index = new ToolIndex();
  const rows = readRows<ToolRow>(`${set}/tools.jsonl.gz`);
  for (const server of new Set(rows.map((row) => row.server))) {
    const own = rows.filter((row) => row.server === server);
    index.replace(
      server,
      own.map(({ id, name, description = '', inputSchema = {} }) => ({ key: id, server, name, description, inputSchema })),
    );
  }
  const queries = readRows<QueryRow>(`${set}/queries.jsonl.gz`).map(({ id, query, gold, goldGroups }) => ({
    ...{ id, query },
    groups: goldGroups ?? gold.map((each) => [each]),
  }));
  return evaluate(queries, (query) => index.search(query).map(({ key }) => key), () => 0).recall[10];
}

describe.skipIf(!isThere)('recall@10', () => {
  test('is above the yardstick on every set, and by three points on average', () => {
    const gains = Object.entries(yardsticks).map(([set, yardstick]) => ({ set, gain: recallAt10(set) - yardstick }));
    expect(gains.filter(({ gain }) => gain <= 0)).toEqual([]);
    expect(gains.reduce((sum, { gain }) => sum + gain, 0) / gains.length).toBeGreaterThanOrEqual(AVERAGE_GAIN);
  });
});
