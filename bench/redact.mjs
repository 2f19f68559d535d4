// Owns `npm run bench:redact`: how many secrets are taken out of text, how much else is touched and how fast that is, the
// first two measured with the built command line. A missed share fails; times fail only `--strict`. `redact-folds.mjs` measures
// what is found of providers that no rule knows.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { setUp } from '../scripts/setup.mjs';
import { foldsOf } from './redact-folds.mjs';
import { importSources } from './sources.mjs';

const LEAST_RECALL = 95;
const LEAST_LEFT_OUT = 85;
const MOST_FALSE = 2;
const LEAST_SPEED = 100;
const MOST_MS = 100;
const SPEED_CHARS = 8e6;
const RUNS = 7;

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: fileURLToPath(new URL('../../shared/data/secrets', import.meta.url)) },
    cli: { type: 'string' },
    json: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
    missed: { type: 'boolean', default: false },
  },
});

process.exitCode = await main(values);

async function main({ data, cli, json, strict, missed }) {
  if (!existsSync(data)) {
    console.error(`SKIPPED: NOTHING WAS MEASURED. There is no ${data}; give another folder with --data.`);
    return 0;
  }
  if (cli === undefined) setUp();
  const program = cli ?? fileURLToPath(new URL('../dist/cli.cjs', import.meta.url));
  const positive = readRows(join(data, 'positive.jsonl.gz'));
  const negative = readRows(join(data, 'negative.jsonl.gz'));
  const hidden = ask(program, positive).map(({ text }, at) => !text.includes(positive[at].secret));
  const touched = ask(program, negative).map(({ text }, at) => text !== negative[at].text);
  const figures = {
    recall: percent(hidden.filter(Boolean).length, positive.length),
    falseAlarms: percent(touched.filter(Boolean).length, negative.length),
    byContext: groups(positive, hidden, ({ context }) => context),
    byKind: groups(negative, touched, ({ kind }) => kind.split(':')[0]),
    ...(await withRedactor((redactor, finder) => ({
      folds: foldsOf(finder, positive, negative),
      speed: speedsOf(redactor, negative),
      worst: worstOf(redactor),
    }))),
  };
  const judged = judge(figures);
  console.log(json ? JSON.stringify({ ...figures, judged }, null, 2) : textOf(figures, judged));
  if (missed)
    for (const { rule, context, text } of positive.filter((_, at) => !hidden[at]))
      console.log(`missed ${rule} (${context}): ${text.slice(0, 160)}`);
  if (missed)
    for (const { kind, text } of negative.filter((_, at) => touched[at]))
      console.log(`touched ${kind}: ${text.slice(0, 160)}`);
  return judged.every(({ kept, binding }) => kept || !(binding || strict)) ? 0 : 1;
}

function readRows(file) {
  const lines = gunzipSync(readFileSync(file)).toString('utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}

function percent(part, all) {
  return (100 * part) / all;
}

function ask(program, rows) {
  const input = rows.map(({ text }) => JSON.stringify({ text })).join('\n');
  return run(program, ['redact', '--jsonl'], input)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function run(program, words, input) {
  const { stdout, status, stderr } = spawnSync(process.execPath, [program, ...words], {
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(`plexus ${words.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}

function groups(rows, marks, nameOf) {
  const found = {};
  for (const [at, row] of rows.entries()) {
    const name = nameOf(row);
    found[name] ??= { rows: 0, hits: 0 };
    const group = found[name];
    group.rows++;
    if (marks[at]) group.hits++;
  }
  return found;
}

/** The redactor alone: the start of the program is no part of its speed. */
async function withRedactor(measure) {
  const { redact, find, shapes } = await importSources({
    redact: 'shaping/redact.ts',
    find: 'shaping/secrets/find.ts',
    shapes: 'model/secret-shapes.ts',
  });
  return measure(redact.createRedactor(new redact.KnownSecrets()), {
    createFinder: find.createFinder,
    shapes: shapes.readTokenShapes(),
    services: shapes.serviceNames,
  });
}

/** Of processor time, the best of several: other work on the machine does not count. */
function timeOf(redactor, text) {
  const runs = Array.from({ length: RUNS }, () => {
    const before = process.cpuUsage();
    redactor.text(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...runs);
}

function filled(piece, chars) {
  return piece.repeat(Math.ceil(chars / piece.length)).slice(0, chars);
}

function speedsOf(redactor, negative) {
  const textsOf = (wanted) => negative.filter(({ kind }) => kind === wanted).map(({ text }) => text);
  const pieces = {
    prose:
      'The committee met on Tuesday, read the minutes of the last meeting and agreed on the plan for the spring.\n',
    arguments: textsOf('real_tool_arguments').join('\n'),
    hashes: textsOf('integrity_hash').join('\n'),
  };
  const speed = (piece) => SPEED_CHARS / 1_000 / timeOf(redactor, filled(piece, SPEED_CHARS));
  return Object.fromEntries(Object.entries(pieces).map(([name, piece]) => [name, speed(piece)]));
}

/** One megabyte of nothing but beginnings of secrets. */
function worstOf(redactor) {
  const words = [
    ...['password=', 'api_key=a1', 'token: ', 'AGE-SECRET-KEY-1=', 'eyJ-', 'xoxb-1-', 'curl -u a:b '],
    ...['://a:b', 'sk-', 'key', 'a=q7Xk2Lp9Zt4Vb8Nw ', 'ab_pat_q7Xk2Lp9Zt4Vb8Nw '],
  ];
  return Object.fromEntries(words.map((word) => [word, timeOf(redactor, filled(word, 1e6))]));
}

function judge({ recall, falseAlarms, folds, speed, worst }) {
  const leftOut = percent(folds.leftOut.hits, folds.leftOut.rows);
  const slowest = Math.min(...Object.values(speed));
  const longest = Math.max(...Object.values(worst));
  return [
    { text: 'secrets hidden (%)', found: recall, atLeast: LEAST_RECALL, kept: recall >= LEAST_RECALL, binding: true },
    {
      text: 'secrets hidden without their own rules (%)',
      found: leftOut,
      atLeast: LEAST_LEFT_OUT,
      kept: leftOut >= LEAST_LEFT_OUT,
      binding: true,
    },
    {
      text: 'other texts touched (%)',
      found: falseAlarms,
      atMost: MOST_FALSE,
      kept: falseAlarms <= MOST_FALSE,
      binding: true,
    },
    { text: 'clean text (MB/s)', found: slowest, atLeast: LEAST_SPEED, kept: slowest >= LEAST_SPEED, binding: false },
    { text: 'the worst megabyte (ms)', found: longest, atMost: MOST_MS, kept: longest <= MOST_MS, binding: false },
  ];
}

function incomplete(folds) {
  return Object.fromEntries(Object.entries(folds).filter(([, { rows, hits }]) => hits < rows));
}

function textOf({ byContext, byKind, folds, speed, worst }, judged) {
  const share = ({ rows, hits }) => `${percent(hits, rows).toFixed(1).padStart(6)} % of ${rows}`;
  const section = (title, entries, cell) => [
    title,
    ...Object.entries(entries).map(([name, each]) => `  ${name.padEnd(24)}${cell(each)}`),
    '',
  ];
  return [
    ...section('secrets hidden, by where they stand', byContext, share),
    ...section('other texts touched', byKind, share),
    ...section('rules left out: folds of which not all is hidden', incomplete(folds.byRule), share),
    ...section('all folds', { 'own rules left out': folds.leftOut, 'no table at all': folds.general }, share),
    ...section(
      'halves of the data',
      folds.halves,
      ({ hidden, leftOut, touched }) =>
        `hidden ${share(hidden)}, own rules left out ${share(leftOut)}, touched ${share(touched)}`,
    ),
    ...section('clean text', speed, (each) => `${each.toFixed(0).padStart(6)} MB/s`),
    ...section('one megabyte of', worst, (each) => `${each.toFixed(0).padStart(6)} ms`),
    ...judged.map(({ text, found, atLeast, atMost, kept, binding }) => {
      const mark = kept ? 'ok    ' : binding ? 'MISSED' : 'short ';
      return `${mark} ${text}: ${found.toFixed(1)} (${atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`}${binding ? '' : ', a goal'})`;
    }),
  ].join('\n');
}
