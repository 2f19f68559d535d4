// Owns what the samples amount to: medians, ratios, and whether what was promised holds. Prints nothing.

/** Of `figure`, what Plexus needs in proportion to another, or in itself. Rates are promised from below, costs from above. */
const promises = [
  { figure: 'parallel.rate', against: 'sdk', atLeast: 2, goal: 2.6, text: '64 in flight, 1 KB: calls per second' },
  { figure: 'parallel-100k.rate', against: 'sdk', atLeast: 1, text: '64 in flight, 100 KB: calls per second' },
  { figure: 'sequential.rate', against: 'sdk', atLeast: 1, text: '1 in flight: calls per second' },
  { figure: 'result-8m.cpu', against: 'sdk', atMost: 0.5, text: '8 MB results: CPU a call' },
  { figure: 'http-json.rate', against: 'sdk', atLeast: 3, text: 'HTTP, 64 in flight: calls per second' },
  { figure: 'http-json.cpu', against: 'sdk', atMost: 0.35, text: 'HTTP: CPU a call' },
  { figure: 'http-events.rate', against: 'sdk', atLeast: 3, text: 'HTTP with events, 64 in flight: calls per second' },
  { figure: 'http-events.cpu', against: 'sdk', atMost: 0.35, text: 'HTTP with events: CPU a call' },
  {
    figure: 'fleet.connect',
    against: 'limit',
    atMost: 1.1,
    text: 'connecting 30 servers, against a hand-written client',
  },
  {
    figure: 'cached-start.usable',
    against: 'sdk',
    atMost: 0.15,
    text: '30 known servers: start to first turn',
  },
  // The gate is 250 ms; the rest is what a machine may take to come round to it.
  { figure: 'stalled.one', atMost: 500, text: 'start with 1 stalled server' },
  { figure: 'stalled.ten', atMost: 500, text: 'start with 10 stalled servers' },
  { figure: 'stalled.hundred', atMost: 500, text: 'start with 100 stalled servers' },
  { figure: 'catalog.snapshot', atMost: 50, text: '10,000 tools: a change of one server' },
  { figure: 'catalog.turn', atMost: 100, text: '10,000 tools: a turn without change' },
  { figure: 'idle.heap', atMost: 20, text: 'an idle connection over pipes: heap' },
  { figure: 'idle-http.heap', atMost: 20, text: 'an idle connection over HTTP: heap' },
  { figure: 'help.process', against: 'limit', atMost: 1.5, text: 'plexus --help, against node -e 0' },
  { figure: 'config.load', against: 'limit', atMost: 3, text: 'loading 200 servers, against parsing their files' },
  { figure: 'cli-cached.list', against: 'sdk', atMost: 1.5, text: 'plexus list, against importing the SDK' },
  { figure: 'cli-cached.tools', against: 'sdk', atMost: 1.5, text: 'plexus tools, against importing the SDK' },
  { figure: 'import.inside', against: 'sdk', atMost: 0.5, text: 'import' },
];

/** Adds the medians, and how Plexus compares. */
export function summarize({ samples, ...figure }) {
  const medians = Object.fromEntries(Object.entries(samples).map(([name, values]) => [name, quantile(values, 0.5)]));
  const { plexus, ...others } = samples;
  const ratios = Object.fromEntries(Object.entries(others).map(([name, values]) => [name, ratio(plexus, values)]));
  return { ...figure, medians, ratios, own: spread(plexus), samples };
}

/** Round by round, since what disturbs one round disturbs both sides of it. */
function ratio(ours, theirs) {
  return spread(ours.map((value, round) => value / theirs[round]));
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

/** Only of what was measured. */
export function judge(figures) {
  return promises
    .filter(({ figure }) => figures[figure] !== undefined)
    .map((promise) => {
      const { ratios, own, unit } = figures[promise.figure];
      const { against, atLeast = 0, atMost = Number.POSITIVE_INFINITY } = promise;
      const found = against === undefined ? { ...own, unit } : ratios[against];
      return { ...promise, found, kept: found.median >= atLeast && found.median <= atMost };
    });
}

export function tableText(figures) {
  const head = ['', '', 'plexus', 'SDK', 'limit', '× SDK', '× limit'];
  const rows = Object.values(figures).map(({ title, unit, medians, ratios }) => [
    title,
    unit,
    ...[medians.plexus, medians.sdk, medians.limit].map(amount),
    ...[ratios.sdk?.median, ratios.limit?.median].map(proportion),
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column].length)));
  const drawn = [head, ...rows].map((row) =>
    row.map((cell, at) => (at < 2 ? cell.padEnd(widths[at]) : cell.padStart(widths[at] + 1))).join(' '),
  );
  return drawn.map((line) => line.trimEnd()).join('\n');
}

export function promisesText(judged) {
  return judged.map((promise) => `${promise.kept ? 'ok    ' : 'MISSED'} ${promiseText(promise)}`).join('\n');
}

function promiseText({ text, against, atLeast, atMost, goal, found }) {
  const whose = against === 'sdk' ? " × the SDK's" : ` ${found.unit ?? '×'}`;
  const promised = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`;
  const hoped = goal === undefined ? '' : `, goal ${goal}`;
  const between = `${proportion(found.low)}–${proportion(found.high)}`;
  return `${text}: ${proportion(found.median)}${whose} (${between}); promised ${promised}${hoped}`;
}

/** Three digits: the fourth is noise. */
const amount = (value) => (value === undefined ? '' : value.toLocaleString('en', { maximumSignificantDigits: 3 }));
const proportion = (value) => (value === undefined ? '' : value.toFixed(2));
