// Owns what the samples amount to, and how it reads: medians, spreads, ratios, and the lines about the promises.

import { fields } from './contestants.mjs';
import { gateways } from './gateway/gateways.mjs';

const contestants = { ...fields.peers, ...gateways };
const titles = Object.fromEntries(Object.entries(contestants).map(([name, { title }]) => [name, title]));
const columns = { ...titles, node: 'Node alone' };
const compared = ['hand', 'sdk2', 'sdk1', 'node'];

/** Adds the medians, and the spread of Plexus's own samples. */
export function summarize({ samples, ...row }) {
  const medians = Object.fromEntries(Object.entries(samples).map(([name, values]) => [name, quantile(values, 0.5)]));
  return { ...row, medians, own: spread(samples.plexus), samples };
}

/** Round by round, since what disturbs one round disturbs both sides of it. */
export function ratioOf({ samples }, other) {
  return spread(samples.plexus.map((value, round) => value / samples[other][round]));
}

/** `low` to `high` is the middle half. */
function spread(rounds) {
  return { median: quantile(rounds, 0.5), low: quantile(rounds, 0.25), high: quantile(rounds, 0.75) };
}

function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)];
  return below + (sorted[Math.ceil(at)] - below) * (at % 1);
}

/** Medians, Plexus's middle half, and Plexus against the others; in Markdown, since `docs/performance.md` shows it. */
export function tableText(rows) {
  const all = Object.values(rows);
  const measured = Object.keys(columns).filter((name) => all.some(({ medians }) => medians[name] !== undefined));
  const ratios = compared.filter((name) => measured.includes(name));
  const head = [
    '',
    'unit',
    ...measured.map((name) => columns[name]),
    'middle half',
    ...ratios.map((name) => `× ${columns[name]}`),
  ];
  const lines = all.map((row) => [
    row.title,
    row.unit,
    ...measured.map((name) => amount(row.medians[name])),
    `${amount(row.own.low)}–${amount(row.own.high)}`,
    ...ratios.map((name) => (row.medians[name] === undefined ? '' : proportion(ratioOf(row, name).median))),
  ]);
  const widths = head.map((_, column) => Math.max(3, ...[head, ...lines].map((line) => line[column].length)));
  const drawn = (line) =>
    `| ${line.map((cell, at) => (at < 2 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join(' | ')} |`;
  const rule = `|${widths.map((width, at) => (at < 2 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [drawn(head), rule, ...lines.map(drawn)].join('\n');
}

/** A promise that is missed is named, also where the run goes through. */
export function promisesText(judged) {
  return judged.map((promise) => `${markOf(promise)} ${promiseText(promise)}`).join('\n');
}

const markOf = ({ kept, passed }) => {
  if (kept) return 'ok    ';
  return passed ? 'missed' : 'FAILED';
};

function promiseText({ row, title, other, atLeast, atMost, goal, holds, holdsAgainst, found }) {
  const whose = other === undefined ? found.unit : `× ${columns[other]}`;
  const promised = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`;
  const hoped = goal === undefined ? '' : `, goal ${goal}`;
  const unit = holdsAgainst === undefined ? '' : ` × ${columns[holdsAgainst]}`;
  const today = holds === undefined ? '' : `; not yet kept, holds ${holds}${unit}`;
  const between = `${proportion(found.low)}–${proportion(found.high)}`;
  return `${row}: ${title}: ${proportion(found.median)} ${whose} (${between}); promised ${promised}${hoped}${today}`;
}

/** Three digits: the fourth is noise. */
const amount = (value) => (value === undefined ? '' : value.toLocaleString('en', { maximumSignificantDigits: 3 }));
const proportion = (value) => value.toFixed(2);
