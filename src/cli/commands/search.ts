// Owns `plexus search`: finds tools by what they do, among all servers or in a file, and measures the search on judged queries.

import { evaluate, type JudgedQuery, RANKING_DEPTH } from '../../catalog/search/evaluate.ts';
import { findable } from '../../catalog/search/search-window.ts';
import { type Findable, ToolIndex } from '../../catalog/search/tool-index.ts';
import { type Command, type CommandResult, type Context, UsageError } from '../command.ts';
import { emptyText, type Measured, measuredText, rankingsText, resultsText } from '../render/search.ts';
import { printable } from '../render/text.ts';
import { readQueries, readTools, type SearchableTool } from '../search-files.ts';
import {
  type NotReadyServer,
  serversWithoutTools,
  startupForTools,
  warnOfDiagnostics,
  warnOfNotReady,
  withRuntime,
} from '../with-runtime.ts';

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 1_000;
const SHOWN_WARNINGS = 20;

export const search: Command = {
  usage:
    'search QUERY [--limit N] [--live]\n  plexus search QUERY --tools FILE\n  plexus search --eval QUERIES [--tools FILE] [--rankings]',
  options: {
    limit: { type: 'string' },
    live: { type: 'boolean' },
    tools: { type: 'string' },
    eval: { type: 'string' },
    rankings: { type: 'boolean' },
  },
  help: {
    'limit N': `print at most N tools (${DEFAULT_LIMIT})`,
    live: 'connect to the servers, instead of searching their cached tools',
    'tools FILE':
      'search the tools of a file, without any server: JSON or JSON Lines, plain or gzipped; - for standard input',
    'eval QUERIES':
      'measure how well the tools are found: rows { id, query, gold: [tool id], goldGroups?: [[tool id]] }',
    rankings: `with --eval: also print the first ${RANKING_DEPTH} tools for each query`,
  },
  examples: [
    'search send a message',
    'search "read a pdf" --tools tools.jsonl',
    'search --tools tools.jsonl --eval queries.jsonl --json',
  ],
  async run(context) {
    const { tools: file, eval: queries } = readOptions(context);
    if (queries === undefined) return withTools(file, context, (found) => answer(found, context));
    if (file === '-' && queries === '-') throw new UsageError('only one of --tools and --eval can be standard input');
    const { items, warnings } = await readQueries(queries, context);
    if (items.length === 0)
      throw new UsageError(`${queries} holds no usable queries (${warnings[0] ?? 'it has no rows'})`);
    return withTools(file, context, (found) =>
      measure(items, { ...found, warnings: [...found.warnings, ...warnings] }, context),
    );
  },
};

function readOptions({ positionals, values }: Context) {
  const text = (name: string) => (typeof values[name] === 'string' ? values[name] : undefined);
  const [tools, queries] = [text('tools'), text('eval')];
  if (queries === undefined && positionals.join('').trim() === '') throw new UsageError('give the words to search for');
  if (queries !== undefined && positionals.length > 0)
    throw new UsageError('--eval reads its queries from its file; give no other words');
  if (queries === undefined && values['rankings'] === true) throw new UsageError('--rankings is for --eval');
  if (tools !== undefined && values['live'] === true)
    throw new UsageError('--tools searches a file; it cannot be combined with --live');
  return { tools, eval: queries };
}

function readLimit({ values: { limit } }: Context): number {
  if (limit === undefined) return DEFAULT_LIMIT;
  const count = Number(limit);
  if (!Number.isInteger(count) || count < 1 || count > MAX_LIMIT)
    throw new UsageError(`--limit takes a number from 1 to ${MAX_LIMIT}`);
  return count;
}

/** The tools to search, and what to print if there are none. */
interface SearchedTools {
  readonly tools: readonly SearchableTool[];
  readonly warnings: readonly string[];
  readonly nothing: string;
  /** Servers whose tools could not be searched; absent for a file. */
  readonly notReady?: readonly NotReadyServer[];
}

async function withTools(
  file: string | undefined,
  context: Context,
  use: (source: SearchedTools) => CommandResult,
): Promise<CommandResult> {
  readLimit(context);
  if (file === undefined) return withFleet(context, use);
  const { items, warnings } = await readTools(file, context);
  if (items.length === 0) throw new UsageError(`${file} holds no tools (${warnings[0] ?? 'its list is empty'})`);
  return use({ tools: items, warnings, nothing: '' });
}

/** The tools that `plexus tools` shows, under the names that models use. */
function withFleet(context: Context, use: (source: SearchedTools) => CommandResult): Promise<CommandResult> {
  return withRuntime(context, { startup: startupForTools(context) }, async (runtime, diagnostics) => {
    warnOfDiagnostics(diagnostics, context);
    const notReady = serversWithoutTools(runtime);
    warnOfNotReady(notReady, context);
    const tools = runtime.getTools().map((tool) => {
      const { name, description } = tool;
      return { ...findable(tool), key: name, label: name, description };
    });
    return use({
      tools,
      notReady,
      warnings: [],
      nothing: 'There are no tools to search. See which servers are up with: plexus list',
    });
  });
}

function answer({ tools, warnings, nothing, notReady }: SearchedTools, context: Context): CommandResult {
  warnOfRows(warnings, context);
  const query = context.positionals.join(' ');
  const index = new ToolIndex();
  fill(index, byServer(tools));
  const byKey = new Map(tools.map((tool) => [tool.key, tool]));
  const results = index.search(query, { limit: readLimit(context) }).flatMap(({ key, score }) => {
    const tool = byKey.get(key);
    return tool ? [resultOf(tool, score)] : [];
  });
  const missing = results.length === 0 ? index.missing(query) : [];
  return {
    data: {
      results,
      ...(results.length === 0 && { missing }),
      ...(notReady && { notReady }),
      ...(warnings.length > 0 && { warnings }),
    },
    text: (paint) =>
      results.length > 0
        ? resultsText(results, paint)
        : nothing !== '' && tools.length === 0
          ? nothing
          : emptyText(query, missing, notReady !== undefined),
  };
}

function resultOf({ key, label, server, name, title, description }: SearchableTool, score: number) {
  return { id: key, name: label, server, tool: name, score, title, description };
}

function measure(
  queries: readonly JudgedQuery[],
  { tools, warnings, notReady }: SearchedTools,
  context: Context,
): CommandResult {
  const unknown = missingGold(queries, tools);
  const all = unknown === undefined ? warnings : [...warnings, unknown];
  warnOfRows(all, context);
  const slices = byServer(tools);
  const now = () => performance.now();
  const { index, indexMs } = build(slices, now);
  const limit = Math.max(RANKING_DEPTH, context.values['limit'] === undefined ? 0 : readLimit(context));
  const { rankings, ...figures } = evaluate(
    queries,
    (query) => index.search(query, { limit }).map(({ key }) => key),
    now,
  );
  const wantsRankings = context.values['rankings'] === true;
  const measured: Measured = { tools: tools.length, ...figures, indexMs, updateMs: measureUpdates(index, slices, now) };
  return {
    data: {
      ...measured,
      ...(wantsRankings && { rankings }),
      ...(notReady && { notReady }),
      ...(all.length > 0 && { warnings: all }),
    },
    text: (paint) =>
      [measuredText(measured, paint), ...(wantsRankings ? [rankingsText(rankings, paint)] : [])].join('\n\n'),
  };
}

function missingGold(queries: readonly JudgedQuery[], tools: readonly Findable[]): string | undefined {
  const known = new Set(tools.map(({ key }) => key));
  const count = queries.filter(({ groups }) => groups.some((group) => !group.some((key) => known.has(key)))).length;
  return count === 0
    ? undefined
    : `${count} of ${queries.length} queries expect a tool that is not in the list; it counts as not found.`;
}

type Slices = ReadonlyMap<string, readonly Findable[]>;

function byServer(tools: readonly Findable[]): Slices {
  const slices = new Map<string, Findable[]>();
  for (const tool of tools) {
    const slice = slices.get(tool.server);
    if (slice) slice.push(tool);
    else slices.set(tool.server, [tool]);
  }
  return slices;
}

function fill(index: ToolIndex, slices: Slices): void {
  for (const [server, slice] of slices) index.replace(server, slice);
}

const BUILDS = 3;

/** The median of three times: the first includes the warm-up, which a long-lived process has behind it. */
function build(slices: Slices, now: () => number): { readonly index: ToolIndex; readonly indexMs: number } {
  const times: number[] = [];
  let index = new ToolIndex();
  for (let round = 0; round < BUILDS; round++) {
    index = new ToolIndex();
    const start = now();
    fill(index, slices);
    times.push(now() - start);
  }
  return { index, indexMs: times.sort((a, b) => a - b)[1] ?? 0 };
}

/** The time until one server's changed tools can be found, as the 95th percentile over all servers. */
function measureUpdates(index: ToolIndex, slices: Slices, now: () => number): number {
  const times = [...slices].map(([server, slice]) => {
    const start = now();
    index.replace(server, slice);
    return now() - start;
  });
  times.sort((a, b) => a - b);
  return times[Math.max(0, Math.ceil(times.length * 0.95) - 1)] ?? 0;
}

function warnOfRows(warnings: readonly string[], { warn }: Context): void {
  if (warnings.length === 0) return;
  const more = warnings.length - SHOWN_WARNINGS;
  const shown = [...warnings.slice(0, SHOWN_WARNINGS), ...(more > 0 ? [`${more} more like these.`] : [])];
  warn((paint) => shown.map((each) => `${paint.yellow('warning')} ${printable(each)}`).join('\n'));
}
