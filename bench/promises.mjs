// Owns what Plexus promises about its speed, as ratios within one run, and whether a run kept it. Rates are promised from
// below, costs from above. `against` is a contestant, Node by itself (`node`), or the best of the other libraries (`rivals`);
// without it the row's own unit counts. `holds` belongs to a promise that is not kept yet: the figure of today with room for
// a machine's noise; with `holdsAgainst` it is a ratio to that contestant, for a promise in milliseconds: the machine of today may
// be half as fast as that of yesterday. It comes closer to the promise with each gain, and goes when the promise is kept, so that CI notices what gets
// worse in the meantime.

import { rivals as libraries } from './contestants.mjs';
import { ratioOf } from './report.mjs';

export const promises = [
  { row: 'one.cpu', against: 'sdk2', atMost: 0.35, holds: 0.55 },
  { row: 'one.rested', against: 'sdk2', atMost: 0.6, holds: 0.68 },
  { row: 'thirty.cpu', against: 'sdk2', atMost: 0.5, goal: 0.45, holds: 0.9 },
  { row: 'http-ten.cpu', against: 'sdk2', atMost: 0.5, goal: 0.4 },
  { row: 'thirty.memory', against: 'sdk2', atMost: 0.9 },
  { row: 'cycle.took', against: 'sdk2', atMost: 1.3, holds: 4.5 },
  { row: 'nine-of-ten.usable', against: 'sdk2', atMost: 0.6 },
  { row: 'parallel.rate', against: 'sdk2', atLeast: 2.4 },
  { row: 'parallel.cpu', against: 'sdk2', atMost: 0.45 },
  { row: 'sequential.rate', against: 'sdk2', atLeast: 1.4, holds: 1 },
  { row: 'parallel-100k.rate', against: 'sdk2', atLeast: 1, holds: 0.38 },
  { row: 'result-1m.cpu', against: 'sdk2', atMost: 0.6, holds: 0.8 },
  { row: 'result-8m.cpu', against: 'sdk2', atMost: 0.12, holds: 0.25 },
  { row: 'http.rate', against: 'sdk2', atLeast: 4 },
  { row: 'http-events.rate', against: 'sdk2', atLeast: 4 },
  { row: 'parallel.rate', against: 'rivals', atLeast: 1.15 },
  { row: 'sequential.rate', against: 'rivals', atLeast: 1 },
  { row: 'serving.rate', against: 'hand', atLeast: 0.8 },
  { row: 'serving.rate', against: 'sdk2', atLeast: 3 },
  { row: 'agent.cpu', atMost: 1 },
  { row: 'agent-500.cpu', atMost: 1 },
  { row: 'cli.list', against: 'node', atMost: 2.2, holds: 3.6 },
  { row: 'cli.help', against: 'node', atMost: 1.6 },
  { row: 'cli.call-extra', atMost: 70, holds: 6.6, holdsAgainst: 'node' },
  { row: 'connect.cpu', against: 'node', atMost: 1.6 },
  { row: 'connect.memory', atMost: 10 },
  { row: 'cached-start.usable', against: 'sdk2', atMost: 0.15 },
  // The gate is 250 ms; the rest is what a machine may take to come round to it.
  { row: 'gate.one', atMost: 500 },
  { row: 'gate.hundred', atMost: 500 },
  { row: 'catalog.snapshot', atMost: 50 },
  { row: 'catalog.turn', atMost: 100 },
  { row: 'config.load', against: 'node', atMost: 3 },
  { row: 'idle.heap', atMost: 20, holds: 23.5 },
  { row: 'idle-http.heap', atMost: 20, holds: 22.5 },
];

/** The short form has few rounds on a machine that may be busy: processor time and memory hardly notice that, elapsed time does. */
const MARGIN = 1.25;
const ELAPSED_MARGIN = 2;
const isElapsed = ({ row }) => !/\.(cpu|rested|memory|heap|call-extra)$/.test(row);

/** Only of what was measured. `kept`: the promise holds. `passed`: this run may go through. */
export function judge(rows, { isShort = false, table = promises, rivals = libraries } = {}) {
  return table.flatMap((promise) => {
    const row = rows[promise.row];
    const other = row && opponentIn(row, promise, rivals);
    if (row === undefined || (promise.against !== undefined && other === undefined)) return [];
    const found = other === undefined ? { ...row.own, unit: row.unit } : ratioOf(row, other);
    const kept = isWithin(found.median, promise, 1);
    const { holdsAgainst } = promise;
    const held = holdsAgainst === undefined ? found : ratioOf(row, holdsAgainst);
    const passed =
      kept || (isShort && isWithin(held.median, loosened(promise), isElapsed(promise) ? ELAPSED_MARGIN : MARGIN));
    return [{ ...promise, title: row.title, other, found, kept, passed }];
  });
}

/** The name of the contestant that the promise is about; among the rivals, the best at this row. */
function opponentIn({ medians }, { against, atMost }, rivals) {
  if (against !== 'rivals') return medians[against] === undefined ? undefined : against;
  // SDK v1 alone is measured in every run; it is a rival only among the others.
  const present = rivals.filter((name) => medians[name] !== undefined);
  if (present.length < rivals.length) return undefined;
  const better = atMost === undefined ? (a, b) => medians[b] - medians[a] : (a, b) => medians[a] - medians[b];
  return present.toSorted(better)[0];
}

function loosened({ atLeast, atMost, holds, holdsAgainst }) {
  if (holdsAgainst !== undefined) return { atMost: holds };
  return {
    atLeast: atLeast && Math.min(atLeast, holds ?? atLeast),
    atMost: atMost && Math.max(atMost, holds ?? atMost),
  };
}

const isWithin = (value, { atLeast = 0, atMost = Number.POSITIVE_INFINITY }, margin) =>
  value >= atLeast / margin && value <= atMost * margin;
