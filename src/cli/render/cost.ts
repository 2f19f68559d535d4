// Owns the table of what tools cost a model in tokens: by server, in all, and the part that a model is really shown.

import type { CostReport } from '../../catalog/exposure/cost.ts';
import { thousands } from '../../kernel/thousands.ts';
import type { Paint } from '../command.ts';
import { type Cell, table } from './text.ts';

/** What a model with a context window of this size is shown. */
export interface WindowCost {
  readonly contextWindow: number;
  /** The model gets the search tool, to find hidden tools. */
  readonly searches: boolean;
  readonly shown: number;
  readonly hidden: number;
  /** Of all shown tools, Plexus's built-in tools included, and of the system prompt. */
  readonly tokens: number;
}

export function costText(report: CostReport, window: WindowCost, paint: Paint): string {
  const rows = [
    ...report.servers.map(({ server, tools, tokens, share }) => [
      server,
      thousands(tools),
      thousands(tokens),
      percent(share),
    ]),
    ['all', thousands(report.tools), thousands(report.tokens), percent(1)],
  ];
  const head = ['SERVER', 'TOOLS', 'TOKENS', 'SHARE'];
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const aligned = (text: string, at: number) => (at === 0 ? text : text.padStart(widths[at] ?? 0));
  const cells = rows.map((row, index) =>
    row.map(
      (text, at): Cell =>
        index === rows.length - 1 || at === 0
          ? { text: aligned(text, at), paint: paint.bold }
          : { text: aligned(text, at) },
    ),
  );
  return `${table(head.map(aligned), cells, paint)}\n\n${windowText(report, window)}`;
}

function windowText({ tools, tokens: allTokens }: CostReport, window: WindowCost): string {
  const { contextWindow, searches, shown, hidden, tokens } = window;
  const model = `A model with a context window of ${thousands(contextWindow)} tokens`;
  if (hidden === 0) return `${model} is shown all of them: about ${percent(allTokens / contextWindow)} of it.`;
  const others = shown === 0 ? 'them' : `the other ${thousands(hidden)}`;
  const rest = searches ? `searches for ${others}` : `does not get ${others}, because it cannot search`;
  const some = shown === 0 ? `none of ${thousands(tools)}` : `${thousands(shown)} of ${thousands(tools)}`;
  return `${model} is shown ${some} and ${rest}: about ${thousands(tokens)} tokens instead of ${thousands(allTokens)}.`;
}

function percent(share: number): string {
  const value = share * 100;
  return `${value > 0 && value < 0.1 ? '< 0.1' : value.toFixed(1)} %`;
}
