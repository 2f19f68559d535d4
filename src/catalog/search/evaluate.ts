// Owns measuring search on queries with known answers: how often the right tools are among the first, and how fast.

export interface JudgedQuery {
  readonly id: string;
  readonly query: string;
  /** Each group is one need; any of its tools fulfils it. */
  readonly groups: readonly (readonly string[])[];
}

export interface Ranking {
  readonly id: string;
  readonly ranking: readonly string[];
}

export interface Evaluation {
  readonly queries: number;
  /** The share of needs fulfilled among the first 1, 5, 10 and 20 tools, averaged over the queries. */
  readonly recall: Readonly<Record<(typeof depths)[number], number>>;
  /** The same for the first ten, with earlier places counting more. */
  readonly ndcg10: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly rankings: readonly Ranking[];
}

const depths = [1, 5, 10, 20] as const;
/** How many tools a search must return to be measured. */
export const RANKING_DEPTH = 20;

/** The first queries of a process pay for loading and compiling, so they are run once before measuring. */
const WARM_UP = 20;

/** `search` gives the keys of tools, the best first; `now` gives the time in milliseconds. */
export function evaluate(
  queries: readonly JudgedQuery[],
  search: (query: string) => readonly string[],
  now: () => number,
): Evaluation {
  for (const { query } of queries.slice(0, WARM_UP)) search(query);
  const times: number[] = [];
  const rankings = queries.map(({ id, query }) => {
    const start = now();
    const ranking = search(query);
    times.push(now() - start);
    return { id, ranking };
  });
  const average = (judge: (groups: JudgedQuery['groups'], ranking: readonly string[]) => number) =>
    queries.reduce((sum, { groups }, at) => sum + judge(groups, rankings[at]?.ranking ?? []), 0) /
    (queries.length || 1);
  const recall = (depth: number) => average((groups, ranking) => recallAt(depth, groups, ranking));
  times.sort((a, b) => a - b);
  return {
    queries: queries.length,
    recall: { 1: recall(1), 5: recall(5), 10: recall(10), 20: recall(20) },
    ndcg10: average(ndcgAt10),
    p50Ms: quantile(times, 0.5),
    p95Ms: quantile(times, 0.95),
    rankings,
  };
}

function recallAt(depth: number, groups: JudgedQuery['groups'], ranking: readonly string[]): number {
  const first = new Set(ranking.slice(0, depth));
  return groups.filter((group) => group.some((tool) => first.has(tool))).length / groups.length;
}

/** A need is fulfilled once: a second tool of its group gains nothing. */
function ndcgAt10(groups: JudgedQuery['groups'], ranking: readonly string[]): number {
  const open = new Set(groups);
  let gained = 0;
  ranking.slice(0, 10).forEach((tool, place) => {
    const group = [...open].find((each) => each.includes(tool));
    if (group === undefined) return;
    open.delete(group);
    gained += gain(place);
  });
  const best = Array.from({ length: Math.min(10, groups.length) }, (_, place) => gain(place));
  return gained / best.reduce((sum, each) => sum + each, 0);
}

const gain = (place: number) => 1 / Math.log2(place + 2);

/** The smallest value that is not exceeded by the given share of the values. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
