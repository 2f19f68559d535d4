// Owns how much redaction finds of providers that it does not know. For each `rule` of the data the rows of the table that hide
// its secrets, and the services that its texts name, are left out; the secrets of that rule are then searched for with the rest.
// The halves, by a hash of the text, tell what the general detectors were tuned on from the rest.

import { createHash } from 'node:crypto';

/** `finder` has `createFinder`, `shapes` and `services`; what it finds is the same that the command line takes out. */
export function foldsOf(finder, positive, negative) {
  const { createFinder, shapes, services } = finder;
  const whole = createFinder(shapes, services);
  const general = createFinder([], []);
  const folds = [...groupBy(positive, ({ rule }) => rule)].map(([rule, rows]) => {
    const spared = withoutRule(finder, whole, rows);
    return { rule, rows: rows.map((row) => ({ row, isHidden: isHidden(spared, row) })) };
  });
  const leftOut = new Map(folds.flatMap(({ rows }) => rows.map(({ row, isHidden }) => [row, isHidden])));
  return {
    byRule: Object.fromEntries(
      folds.map(({ rule, rows }) => [rule, { rows: rows.length, hits: rows.filter((each) => each.isHidden).length }]),
    ),
    leftOut: shareOf(positive, (row) => leftOut.get(row)),
    general: shareOf(positive, (row) => isHidden(general, row)),
    halves: Object.fromEntries(
      ['tuned on', 'looked at later'].map((name, half) => {
        const secrets = positive.filter(({ text }) => halfOf(text) === half);
        const others = negative.filter(({ text }) => halfOf(text) === half);
        return [
          name,
          {
            hidden: shareOf(secrets, (row) => isHidden(whole, row)),
            leftOut: shareOf(secrets, (row) => leftOut.get(row)),
            touched: shareOf(others, ({ text }) => whole(text).length > 0),
          },
        ];
      }),
    ),
  };
}

/** A finder that has never heard of the rule's provider. */
function withoutRule({ createFinder, shapes, services }, whole, rows) {
  const fired = new Set(rows.flatMap(({ text }) => whole(text).map(({ rule }) => rule)));
  const texts = rows.map(({ text }) => text.toLowerCase());
  return createFinder(
    shapes.filter(({ name }) => !fired.has(name)),
    services.filter((service) => !texts.some((text) => text.includes(service))),
  );
}

function isHidden(find, { text, secret }) {
  let rest = '';
  let from = 0;
  for (const { start, end } of find(text)) {
    rest += `${text.slice(from, start)}[redacted]`;
    from = end;
  }
  return !(rest + text.slice(from)).includes(secret);
}

const halfOf = (text) => createHash('sha256').update(text).digest()[0] % 2;

const shareOf = (rows, holds) => ({ rows: rows.length, hits: rows.filter(holds).length });

function groupBy(rows, nameOf) {
  const groups = new Map();
  for (const row of rows) groups.set(nameOf(row), [...(groups.get(nameOf(row)) ?? []), row]);
  return groups;
}
