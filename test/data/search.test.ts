// Owns the proof that tools are found better than by the yardstick on the shared data, read where it lies. The figures in full
// are what `npm run bench:search` prints.

import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { effectOf } from '../../src/catalog/search/effect.ts';
import { evaluate } from '../../src/catalog/search/evaluate.ts';
import { type Findable, ToolIndex } from '../../src/catalog/search/tool-index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { ToolAnnotations } from '../../src/model/tool.ts';

const data = new URL('../../../shared/data/retrieval/', import.meta.url);
const isThere = existsSync(data);
if (!isThere) console.warn(`SKIPPED: no search was measured, there is no ${data.pathname}`);

/** Recall@10 of plain BM25F with weights set by hand, from the README of the data. */
const yardsticks = { livemcpbench: 0.737, metatool: 0.618, bfcl_pool: 0.803, sealtools: 0.954 };
const AVERAGE_GAIN = 0.09;

interface ToolRow {
  readonly id: string;
  readonly server: string;
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonObject;
}

interface ServerRow {
  readonly server: string;
  readonly tools: readonly (Omit<ToolRow, 'id' | 'server'> & { readonly annotations?: ToolAnnotations })[];
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
  test('is above the yardstick on every set, and by nine points on average', () => {
    const gains = Object.entries(yardsticks).map(([set, yardstick]) => ({ set, gain: recallAt10(set) - yardstick }));
    expect(gains.filter(({ gain }) => gain <= 0)).toEqual([]);
    expect(gains.reduce((sum, { gain }) => sum + gain, 0) / gains.length).toBeGreaterThanOrEqual(AVERAGE_GAIN);
  });
});

const serverTools = new URL('../server-tools/tools.jsonl.gz', data);
if (!existsSync(serverTools)) console.warn(`SKIPPED: real servers were not searched, there is no ${serverTools.pathname}`);

const readingQuestions = [
  'show me the tables of my database',
  'how many pods are running',
  'which branches are there',
  'what is in this folder',
  'who has access to the file',
  'list my mails',
  'do I have unread messages',
  'what is on my calendar',
  'which feature flags do we have',
  'how much storage is left',
];

describe.skipIf(!existsSync(serverTools))('the tools of 65 real servers', () => {
  test('a question that only reads ranks no tool that destroys above a matching one that reads', () => {
    const index = new ToolIndex();
    const effects = new Map<string, ReturnType<typeof effectOf>>();
    for (const { server, tools } of readRows<ServerRow>(serverTools.href)) {
      const findable = tools.map(
        ({ description = '', inputSchema = {}, ...tool }): Findable => ({
          ...{ ...tool, server, description, inputSchema },
          key: `${server}::${tool.name}`,
        }),
      );
      for (const each of findable) effects.set(each.key, effectOf(each));
      index.replace(server, findable);
    }
    for (const question of readingQuestions) {
      const order = index.search(question, { limit: effects.size }).map(({ key }) => effects.get(key));
      const first = order.indexOf('destroys');
      expect(order, question).toContain('reads');
      expect(first < 0 ? [] : order.slice(first), question).not.toContain('reads');
    }
  });
});
