// Owns the proof that `plexus search` finds tools of a fleet and of files, measures itself, and explains what it cannot do.

import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { faulty } from '../servers/faulty.ts';
import { Sandbox } from './plexus.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.remove());

const tools = [
  { id: 'T1', server: 'files', name: 'read_file', description: 'Read a file.\nAll of it.', inputSchema: {} },
  { id: 'T2', server: 'files', name: 'delete_file', description: 'Delete a file.' },
  { id: 'T3', server: 'sky', name: 'forecast', description: 'Weather of the next days.' },
];
const lines = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).join('\n');
const idsOf = ({ results }: { results: { id: string }[] }) => results.map(({ id }) => id);

test('the tools of the fleet are found by what they do, under the names that models use', async () => {
  const config = sandbox.write('fleet.json', { mcpServers: { well: faulty() } });
  const found = await sandbox.json('search', 'add', 'two', 'numbers', '--limit', '1', '--config', config);
  expect(found).toMatchObject({ results: [{ name: 'mcp__well__add', server: 'well', tool: 'add' }] });
  expect(found.results[0].score).toBeGreaterThan(0);
  const { code, out } = await sandbox.plexus('search', 'add', '--config', config);
  expect([code, out]).toEqual([0, expect.stringMatching(/^NAME +DESCRIPTION\nmcp__well__add /)]);
});

describe('a file of tools', () => {
  test.each([
    ['one row a line', lines(tools), 'T3'],
    ['an array', JSON.stringify(tools), 'T3'],
    [
      'the answer to tools/list',
      JSON.stringify({ tools: tools.map(({ name, description }) => ({ name, description })) }),
      'forecast',
    ],
    [
      'servers with their tools',
      lines([{ server: 'sky', package: 'p', tools: [{ name: 'forecast' }] }]),
      'sky::forecast',
    ],
    [
      'what plexus tools prints',
      JSON.stringify({ tools: [{ name: 'mcp__sky__forecast', server: 'sky', tool: 'forecast' }], diagnostics: [] }),
      'mcp__sky__forecast',
    ],
  ])('%s', async (_, text, id) => {
    const file = sandbox.write('tools', text);
    expect(idsOf(await sandbox.json('search', 'forecast', '--tools', file))[0]).toBe(id);
    writeFileSync(file, gzipSync(text));
    expect(idsOf(await sandbox.json('search', 'forecast', '--tools', file))[0]).toBe(id);
  });

  test('its hints count: a question that only reads shows what destroys last', async () => {
    const rows = [
      { id: 'T1', server: 'files', name: 'file_files', description: 'Files.', annotations: { destructiveHint: true } },
      { id: 'T2', server: 'files', name: 'overview', description: 'About files.', annotations: { readOnlyHint: true } },
    ];
    const file = sandbox.write('tools.jsonl', lines(rows));
    expect(idsOf(await sandbox.json('search', 'which', 'files', 'exist', '--tools', file))).toEqual(['T2', 'T1']);
  });

  test('may come from standard input, gzipped too', async () => {
    const input = gzipSync(lines(tools));
    const { out } = await sandbox.run(['search', 'rain', '--tools', '-', '--json'], { input });
    expect(idsOf(JSON.parse(out))).toEqual(['T3']);
  });

  test('bad rows are named and left out', async () => {
    const file = sandbox.write('tools.jsonl', `${lines(tools)}\n{ broken\n7\n{"name":5}\n${JSON.stringify(tools[0])}`);
    const { code, out, err } = await sandbox.plexus('search', 'delete', '--tools', file);
    expect([code, out]).toEqual([0, 'NAME  DESCRIPTION\nT2    Delete a file.\n']);
    expect(err.trim().split('\n')).toEqual([
      expect.stringMatching(/^warning Line 4 was left out: it is not valid JSON \(/),
      'warning Line 5 was left out: it is not a JSON object.',
      'warning Line 6 was left out: it has no "name".',
      'warning Line 7 was left out: an earlier row has the same id "T1".',
    ]);
    const { warnings } = await sandbox.json('search', 'delete', '--tools', file);
    expect(warnings).toHaveLength(4);
  });
});

test('an empty answer says which words are to blame', async () => {
  const file = sandbox.write('tools.jsonl', lines(tools));
  const { code, out } = await sandbox.plexus('search', 'xylophone', 'forexast', '--tools', file);
  expect([code, out]).toEqual([0, expect.stringMatching(/^NAME/)]);
  const none = await sandbox.plexus('search', 'xylophone', 'dxlexe', '--tools', file);
  expect(none.out).toBe(
    'No tool has any of these words. Try other words.\n  "xylophone" is in no tool\n  "dxlexe" is in no tool; did you mean "delete"?\n',
  );
  const wordless = await sandbox.plexus('search', '!!!', '--tools', file);
  expect(wordless.out).toBe('"!!!" holds no word to search for. Try other words.\n');
  const empty = await sandbox.plexus('search', 'xylophone', '--config', sandbox.write('none.json', { mcpServers: {} }));
  expect([empty.code, empty.out]).toEqual([
    0,
    'There are no tools to search. See which servers are up with: plexus list\n',
  ]);
});

test('it measures itself on judged questions, and tells each ranking when asked', async () => {
  const file = sandbox.write('tools.jsonl', lines(tools));
  const queries = sandbox.write(
    'queries.jsonl',
    lines([
      { id: 'q1', query: 'will it rain', gold: ['T3'] },
      { id: 'q2', query: 'read file', gold: ['T1', 'T3'], goldGroups: [['T1', 'T3']] },
      { id: 'q3', query: 'remove a file', gold: ['gone'] },
      { id: 'q4', query: '', gold: ['T1'] },
      { id: 'q5', query: 'x', gold: [] },
    ]),
  );
  const ranked = await sandbox.plexus('search', '--tools', file, '--eval', queries, '--rankings');
  expect(ranked.out).toMatch(/\n\nQUERY +TOOLS, THE BEST FIRST\nq1 +T3\nq2 +T1 T2\nq3 +T2 T1\n$/);
  const measured = await sandbox.json('search', '--tools', file, '--eval', queries, '--rankings');
  expect(measured).toMatchObject({
    ...{ tools: 3, queries: 3, recall: { 1: 2 / 3, 5: 2 / 3, 10: 2 / 3, 20: 2 / 3 }, ndcg10: 2 / 3 },
    rankings: [
      { id: 'q1', ranking: ['T3'] },
      { id: 'q2', ranking: ['T1', 'T2'] },
      { id: 'q3', ranking: ['T2', 'T1'] },
    ],
    warnings: [
      'Line 4 was left out: it has no "query".',
      'Line 5 was left out: it needs "gold" with the ids of the right tools.',
      '1 of 3 queries expect a tool that is not in the list; it counts as not found.',
    ],
  });
  for (const time of ['p50Ms', 'p95Ms', 'indexMs', 'updateMs']) expect(measured[time], time).toBeGreaterThan(0);
  const { out } = await sandbox.plexus('search', '--tools', file, '--eval', queries);
  expect(out).toMatch(/^FIGURE +VALUE\ntools +3\nqueries +3\nrecall@1 +66\.7 %\n/);
});

test('what cannot be done is said in one sentence, and what to do in another', async () => {
  const file = sandbox.write('tools.jsonl', lines(tools));
  const empty = sandbox.write('empty', '');
  const prose = sandbox.write('prose', 'no JSON\nat all');
  const broken = sandbox.path('broken.gz');
  writeFileSync(broken, gzipSync(lines(tools)).subarray(0, 40));
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /give the words to search for\. See: plexus search --help/],
    [['x', '--tools', sandbox.path('none')], /none cannot be read \(ENOENT\)/],
    [['x', '--tools', sandbox.workspace], /cannot be read \(EISDIR\)/],
    [['x', '--tools', empty], /empty is empty/],
    [['x', '--tools', prose], /is neither JSON nor one JSON object a line/],
    [['x', '--tools', broken], /looks gzipped, but cannot be unpacked/],
    [['x', '--tools', sandbox.write('list', '[]')], /holds no tools/],
    [['x', '--tools', file, '--limit', '0'], /--limit takes a number from 1 to 1000/],
    [['x', '--rankings'], /--rankings is for --eval/],
    [['x', '--eval', file], /--eval reads its queries from its file/],
    [['--eval', file, '--tools', file], /holds no usable queries \(Line 1 was left out: it has no "query"\.\)/],
  ];
  for (const [words, sentence] of cases) {
    const { code, err } = await sandbox.plexus('search', ...words);
    expect([words, code, err]).toEqual([words, 1, expect.stringMatching(sentence)]);
  }
});
