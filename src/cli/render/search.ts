// Owns how search results, and measurements of the search, look to a person.

import type { Evaluation } from '../../catalog/search/evaluate.ts';
import type { Paint } from '../command.ts';
import { printable, table } from './text.ts';

export interface Measured extends Omit<Evaluation, 'rankings'> {
  readonly tools: number;
  readonly indexMs: number;
  /** Time to index one server's tools, 95th percentile. */
  readonly updateMs: number;
}

const DESCRIPTION_CHARS = 100;

export function resultsText(
  results: readonly { readonly id: string; readonly description: string }[],
  paint: Paint,
): string {
  return table(
    ['NAME', 'DESCRIPTION'],
    results.map(({ id, description }) => [
      { text: id, paint: paint.bold },
      { text: description, cut: DESCRIPTION_CHARS },
    ]),
    paint,
  );
}

/** Names the words that no tool has, so that the person can change the query. */
export function emptyText(
  query: string,
  missing: readonly { readonly word: string; readonly near: readonly string[] }[],
  isFleet: boolean,
): string {
  const others = isFleet ? 'Try other words, or see all tools with: plexus tools' : 'Try other words.';
  if (missing.length === 0) return printable(`"${query}" holds no word to search for. ${others}`);
  const words = missing.map(({ word, near }) => {
    const hint = near.length > 0 ? `; did you mean ${near.map((each) => `"${each}"`).join(' or ')}?` : '';
    return `  "${word}" is in no tool${hint}`;
  });
  return printable([`No tool has any of these words. ${others}`, ...words].join('\n'));
}

export function rankingsText(rankings: Evaluation['rankings'], paint: Paint): string {
  return table(
    ['QUERY', 'TOOLS, THE BEST FIRST'],
    rankings.map(({ id, ranking }) => [{ text: id, paint: paint.bold }, { text: ranking.join(' ') }]),
    paint,
  );
}

export function measuredText({ tools, queries, recall, ndcg10, ...times }: Measured, paint: Paint): string {
  const share = (value: number) => `${(value * 100).toFixed(1)} %`;
  const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
  const rows: readonly (readonly [string, string])[] = [
    ['tools', String(tools)],
    ['queries', String(queries)],
    ...Object.entries(recall).map(([depth, value]) => [`recall@${depth}`, share(value)] as const),
    ['NDCG@10', share(ndcg10)],
    ['query, half of them within', ms(times.p50Ms)],
    ['query, 95 of 100 within', ms(times.p95Ms)],
    ['indexing all tools', ms(times.indexMs)],
    ["indexing one server's, 95 of 100 within", ms(times.updateMs)],
  ];
  return table(
    ['FIGURE', 'VALUE'],
    rows.map(([name, value]) => [{ text: name }, { text: value }]),
    paint,
  );
}
