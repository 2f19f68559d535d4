// Owns where the bench of the search has its tools and questions from, and asking the command line about them.

import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';

const TOOLS_OF_A_SERVER = 50;
const LONGEST_MS = 180_000;
const run = promisify(execFile);

/** Each folder that holds tools and queries, in the order of their names. */
export function setsIn(data) {
  return readdirSync(data, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({
      name,
      tools: join(data, name, 'tools.jsonl.gz'),
      queries: join(data, name, 'queries.jsonl.gz'),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

export async function askCli(program, { tools, queries }, options = []) {
  const words = ['search', '--tools', tools, '--eval', queries, '--json', ...options];
  const { stdout } = await run(process.execPath, [program, ...words], {
    timeout: LONGEST_MS,
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(stdout);
}

export async function readSet({ tools, queries }) {
  return { tools: await readRows(tools), queries: await readRows(queries) };
}

const readRows = async (file) =>
  gunzipSync(await readFile(file))
    .toString('utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

export async function writePool(folder, sets, size) {
  const all = sets.flatMap(({ tools }) => tools);
  const pool = Array.from({ length: size }, (_, at) => ({
    ...all[at % all.length],
    id: `${at}`,
    server: `${all[at % all.length].server} ${Math.floor(at / TOOLS_OF_A_SERVER)}`,
  }));
  const queries = sets.flatMap((each) => each.queries).map(({ query }, at) => ({ id: `${at}`, query, gold: ['0'] }));
  return { tools: await writeRows(folder, 'tools', pool), queries: await writeRows(folder, 'queries', queries) };
}

async function writeRows(folder, name, rows) {
  const file = join(folder, `${name}.jsonl`);
  await writeFile(file, rows.map((row) => JSON.stringify(row)).join('\n'));
  return file;
}
