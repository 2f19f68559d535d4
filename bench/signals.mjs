// Owns `npm run bench:signals`: how many attacks are flagged, how often harmless texts are, and how fast. A false-alarm limit
// that is broken fails; goals and times fail only `--strict`.

import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { attackGroups, benignGroups, cleanText, hardTexts, hasRows, readRows } from './signals-data.mjs';
import { importSources } from './sources.mjs';

const FAST_MB_PER_S = 100;
const SLOWEST_MS = 100;
const ROUNDS = 30;

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: fileURLToPath(new URL('../../shared/data/injection', import.meta.url)) },
    families: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
  },
});

process.exitCode = await main(values);

async function main({ data, families, json, strict }) {
  if (!hasRows(data)) {
    console.error(`SKIPPED: NOTHING WAS MEASURED. There are no attacks in ${data}; give another folder with --data.`);
    return 0;
  }
  const { injection } = await importSources({ injection: 'shaping/injection.ts' });
  const { findSignals } = injection;
  const [attacks, benign] = [readRows(data, 'attacks'), readRows(data, 'benign')];
  const isFlagged = ({ text, surface }) => findSignals(text, surface).length > 0;
  const rows = [
    ...attackGroups.map((group) => ({ ...group, ...share(attacks.filter(group.has), isFlagged) })),
    ...benignGroups.map((group) => ({ ...group, ...share(benign.filter(group.has), isFlagged) })),
  ];
  const speed = measureSpeed(findSignals, cleanText(benign));
  const kinds = families ? byFamily(attacks, isFlagged) : [];
  console.log(
    json
      ? JSON.stringify({ rows, speed, kinds }, null, 2)
      : [tableText([...rows, ...kinds]), speedText(speed)].join('\n\n'),
  );
  const isBroken = rows.some(({ limit, percent }) => limit !== undefined && percent > limit);
  const isShort = rows.some(({ goal, percent }) => goal !== undefined && percent < goal) || !speed.kept;
  return isBroken || (strict && isShort) ? 1 : 0;
}

function share(rows, isFlagged) {
  const flagged = rows.filter(isFlagged).length;
  return { flagged, count: rows.length, percent: (100 * flagged) / rows.length };
}

function byFamily(attacks, isFlagged) {
  const kinds = [...new Set(attacks.map(({ kind }) => kind))].sort();
  return kinds.map((kind) => ({
    title: `  ${kind}`,
    ...share(
      attacks.filter((row) => row.kind === kind),
      isFlagged,
    ),
  }));
}

/** CPU time instead of wall-clock time, so that other work on the machine does not count. */
function timeOf(work) {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function measureSpeed(findSignals, clean) {
  const ascii = clean.replace(/[^\x20-\x7e\n\t]/g, ' ');
  const best = (text) => Math.min(...Array.from({ length: ROUNDS }, () => timeOf(() => findSignals(text))));
  const speeds = [
    { title: 'clean text, one byte a character', mbPerS: ascii.length / best(ascii) / 1000 },
    { title: 'clean text, two bytes a character', mbPerS: clean.length / best(clean) / 1000 },
  ];
  const slowest = hardTexts
    .map(({ title, text }) => ({ title, ms: timeOf(() => findSignals(text)) }))
    .sort((a, b) => b.ms - a.ms)
    .slice(0, 3);
  return { speeds, slowest, kept: speeds[0].mbPerS >= FAST_MB_PER_S && slowest[0].ms <= SLOWEST_MS };
}

function tableText(rows) {
  const cells = rows.map(({ title, flagged, count, percent, yardstick, goal, limit }) => [
    title,
    percent.toFixed(2),
    `${flagged}/${count}`,
    yardstick?.toFixed(1) ?? '',
    goal === undefined ? '' : `≥ ${goal}`,
    limit === undefined ? '' : `≤ ${limit}`,
    verdict({ percent, goal, limit }),
  ]);
  const all = [['flagged', '%', 'texts', 'yardstick', 'goal', 'limit', ''], ...cells];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)));
  return all
    .map((row) =>
      row
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at])))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function verdict({ percent, goal, limit }) {
  if (limit !== undefined) return percent <= limit ? 'ok' : 'BROKEN';
  if (goal !== undefined) return percent >= goal ? 'ok' : 'short';
  return '';
}

function speedText({ speeds, slowest }) {
  return [
    ...speeds.map(({ title, mbPerS }) => `${title}: ${mbPerS.toFixed(0)} MB/s (goal ≥ ${FAST_MB_PER_S})`),
    ...slowest.map(({ title, ms }) => `slowest megabyte, ${title}: ${ms.toFixed(1)} ms (goal ≤ ${SLOWEST_MS})`),
  ].join('\n');
}
