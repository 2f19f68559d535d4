// Owns `npm run bench:search`: how well and how fast tools are found, measured with the built command line.
// A set that falls behind its yardstick, or too small a gain over all of them, fails; goals and times fail only `--strict`.

import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setUp } from '../scripts/setup.mjs';
import { askCli, readSet, setsIn, writePool } from './search-data.mjs';
import { foldsOf } from './search-folds.mjs';
import { foldsText, judge, speedText, tableText, verdictText } from './search-report.mjs';

const POOL = 8_000;

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: fileURLToPath(new URL('../../shared/data/retrieval', import.meta.url)) },
    cli: { type: 'string' },
    json: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
  },
});

process.exitCode = await main(values);

async function main({ data, cli, json, strict }) {
  if (!existsSync(data)) {
    console.error(`SKIPPED: NOTHING WAS MEASURED. There is no ${data}; give another folder with --data.`);
    return 0;
  }
  if (cli === undefined) setUp();
  const program = cli ?? fileURLToPath(new URL('../dist/cli.cjs', import.meta.url));
  const sets = {};
  for (const set of setsIn(data)) {
    console.error(`measuring ${set.name} …`);
    const { rankings, ...figures } = await askCli(program, set, ['--rankings']);
    sets[set.name] = { ...figures, folds: foldsOf(await readSet(set), rankings) };
  }
  console.error(`measuring a pool of ${POOL} tools …`);
  const speed = await measurePool(program, data);
  const judged = judge(sets, speed);
  console.log(
    json
      ? JSON.stringify({ sets, speed, judged }, null, 2)
      : [tableText(sets), foldsText(sets), speedText(speed), verdictText(judged)].join('\n\n'),
  );
  return judged.every(({ kept, binding }) => kept || !(binding || strict)) ? 0 : 1;
}

/** All sets together, repeated under other names until there are so many; servers as large as real ones are. */
async function measurePool(program, data) {
  const folder = await mkdtemp(join(tmpdir(), 'plexus-search-'));
  try {
    const all = await Promise.all(setsIn(data).map(readSet));
    return await askCli(program, await writePool(folder, all, POOL));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
