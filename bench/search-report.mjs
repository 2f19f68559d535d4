// Owns what the figures of the search amount to: the table beside the yardsticks, and whether what was promised holds.

/** Plain BM25F with weights set by hand, recall@10 in %, and the goals beyond it. From the README of the data. */
const yardsticks = {
  livemcpbench: { title: 'LiveMCPBench steps', r10: 73.7, goals: { 5: 78, 10: 84 } },
  metatool: { title: 'MetaTool', r10: 61.8, goals: { 10: 82 } },
  bfcl_pool: { title: 'BFCL pool', r10: 80.3, goals: { 10: 89 } },
  sealtools: { title: 'Seal-Tools', r10: 95.4, goals: { 10: 97 } },
};
const AVERAGE_GAIN = 3;
const speedGoals = [
  { figure: 'p95Ms', text: 'a query, 95 of 100', atMost: 2 },
  { figure: 'indexMs', text: 'indexing all tools', atMost: 300 },
  { figure: 'updateMs', text: "indexing one server's tools, 95 of 100", atMost: 10 },
];

export function judge(sets, speed) {
  const known = Object.entries(sets).filter(([name]) => Object.hasOwn(yardsticks, name));
  const gains = known.map(([name, { recall }]) => percent(recall[10]) - yardsticks[name].r10);
  const average = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
  return [
    ...known.flatMap(([name, figures]) => judgeSet(yardsticks[name], figures)),
    ...(gains.length === 0
      ? []
      : [
          {
            text: 'average gain in R@10',
            found: average,
            atLeast: AVERAGE_GAIN,
            kept: average >= AVERAGE_GAIN,
            binding: true,
          },
        ]),
    ...speedGoals.map(({ figure, text, atMost }) => ({
      ...{ text: `${speed.tools} tools: ${text} (ms)`, found: speed[figure], atMost },
      ...{ kept: speed[figure] <= atMost, binding: false },
    })),
  ];
}

function judgeSet({ title, r10, goals }, { recall }) {
  const found = percent(recall[10]);
  return [
    { text: `${title}: R@10 against the yardstick`, found, atLeast: r10, kept: found > r10, binding: true },
    ...Object.entries(goals).map(([depth, atLeast]) => ({
      ...{ text: `${title}: goal for R@${depth}`, found: percent(recall[depth]), atLeast },
      ...{ kept: percent(recall[depth]) >= atLeast, binding: false },
    })),
  ];
}

export function tableText(sets) {
  const head = [
    'set',
    'tools',
    'queries',
    'R@1',
    'R@5',
    'R@10',
    'R@20',
    'NDCG@10',
    'p50 ms',
    'p95 ms',
    'index ms',
    'yardstick R@10',
  ];
  const rows = Object.entries(sets).map(([name, { tools, queries, recall, ndcg10, p50Ms, p95Ms, indexMs }]) => [
    yardsticks[name]?.title ?? name,
    ...[tools, queries].map((count) => count.toLocaleString('en')),
    ...[recall[1], recall[5], recall[10], recall[20], ndcg10].map((share) => percent(share).toFixed(1)),
    ...[p50Ms, p95Ms].map((ms) => ms.toFixed(2)),
    indexMs.toFixed(0),
    yardsticks[name]?.r10.toFixed(1) ?? '',
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column].length)));
  return [head, ...rows]
    .map((row) => row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join('  '))
    .join('\n');
}

export function foldsText(sets) {
  const rows = Object.entries(sets).map(([name, { folds }]) => {
    const figures = folds.map((share) => percent(share).toFixed(1).padStart(5)).join('  ');
    return `${(yardsticks[name]?.title ?? name).padEnd(18)}  ${figures}`;
  });
  return ['R@10 in five folds by server', ...rows].join('\n');
}

export function speedText({ tools, queries, p50Ms, p95Ms, indexMs, updateMs }) {
  const query = `${queries} queries, p50 ${p50Ms.toFixed(2)} ms, p95 ${p95Ms.toFixed(2)} ms`;
  return `${tools} tools: ${query}; index ${indexMs.toFixed(0)} ms; one server's slice p95 ${updateMs.toFixed(1)} ms`;
}

export function verdictText(judged) {
  return judged
    .map(({ text, found, atLeast, atMost, kept, binding }) => {
      const mark = kept ? 'ok    ' : binding ? 'MISSED' : 'short ';
      return `${mark} ${text}: ${found.toFixed(1)} (${atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`}${binding ? '' : ', a goal'})`;
    })
    .join('\n');
}

const percent = (share) => share * 100;
