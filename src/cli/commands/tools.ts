// Owns `plexus tools`: the catalog, and what it costs a model to read it.

import type { Runtime } from '../../api.ts';
import { costOfAll, reportCost } from '../../catalog/exposure/cost.ts';
import { SEARCH_TOOL } from '../../model/builtin.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Tool } from '../../model/tool.ts';
import { createToolPins } from '../../trust/tool-pins.ts';
import { type Command, type Context, type Paint, UsageError } from '../command.ts';
import { costText, type WindowCost } from '../render/cost.ts';
import { firstLine, table } from '../render/text.ts';
import {
  asLive,
  complainOf,
  complainOfAbsent,
  complainOfProblems,
  problemsOf,
  requireServer,
  startupFor,
  toollessFrom,
  withRuntime,
} from '../with-runtime.ts';

const NONE = 'No tools. See which servers are up with: plexus list';

export const tools: Command = {
  usage: 'tools [SERVER] [--live] [--frozen] [--cost [--window TOKENS]]',
  options: {
    ...{ live: { type: 'boolean' }, frozen: { type: 'boolean' } },
    ...{ cost: { type: 'boolean' }, window: { type: 'string' } },
  },
  help: {
    live: 'connect to the servers, instead of showing what is known of their tools',
    frozen: 'the same, and fail if any tool is not exactly as plexus.lock holds it',
    cost: 'show what the tools of each server cost a model, in tokens (estimated)',
    'window TOKENS': `with --cost: for a model with this context window, instead of ${limits.exposure.window}`,
  },
  examples: ['tools files', 'tools --cost --window 128000'],
  async run(given) {
    const context = given.values['frozen'] === true ? asLive(given) : given;
    const [server, extra] = context.positionals;
    if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many`);
    const contextWindow = readWindow(context);
    const options = { startup: startupFor(context), ...(server !== undefined && { only: [server] }) };
    return withRuntime(context, options, async (runtime, diagnostics) => {
      complainOf(diagnostics, context);
      const notReady = toollessFrom(runtime);
      complainOfAbsent(notReady, context);
      if (server !== undefined) requireServer(runtime, server);
      const problems = problemsOf(runtime);
      complainOfProblems(problems, context);
      const found = runtime.getTools();
      if (context.values['frozen'] === true) await requireLocked(found, context.cwd);
      const data = { tools: found.map(toolData), notReady, problems, diagnostics };
      if (context.values['cost'] !== true) return { data, text: (paint) => toolsText(found, paint) };
      const report = reportCost(found);
      const window = costInWindow(runtime, contextWindow);
      return {
        data: { ...data, cost: { ...report, window } },
        text: (paint) => (found.length === 0 ? NONE : costText(report, window, paint)),
      };
    });
  },
};

async function requireLocked(found: readonly Tool[], folder: string): Promise<void> {
  const { loadLock } = await import('../../trust/locked-tools.ts');
  const loaded = await loadLock(folder);
  if (loaded.kind === 'broken') throw loaded.error;
  const pins = createToolPins(loaded);
  for (const { id, definition } of found) {
    const changes = pins.drift(id, definition, true);
    if (changes) throw new RuntimeError('TOOL_DRIFTED', { ...id, changes });
  }
}

function readWindow({ values }: Context): number {
  const { window, cost } = values;
  if (window === undefined) return limits.exposure.window;
  if (cost !== true) throw new UsageError('--window is for --cost');
  const tokens = Number(window);
  if (!Number.isSafeInteger(tokens) || tokens <= 0)
    throw new UsageError('--window takes a number of tokens, such as 128000');
  return tokens;
}

/** Asked of a turn, so that it is what a model would really get. */
function costInWindow(runtime: Runtime, contextWindow: number): WindowCost {
  const offered = runtime.child({ model: { contextWindow } }).turn().tools;
  const own = new Set(runtime.getTools().map(({ name }) => name));
  const shown = offered.filter(({ name }) => own.has(name)).length;
  return {
    contextWindow,
    searches: offered.some(({ name }) => name === SEARCH_TOOL),
    shown,
    hidden: own.size - shown,
    tokens: costOfAll(offered).tokens,
  };
}

function toolsText(found: readonly Tool[], paint: Paint): string {
  if (found.length === 0) return NONE;
  return table(
    ['NAME', 'DESCRIPTION'],
    found.map(({ name, description }) => [{ text: name, paint: paint.bold }, { text: firstLine(description, 100) }]),
    paint,
  );
}

function toolData({ name, id, freshness, description, inputSchema, reduced, definition }: Tool) {
  const { outputSchema, annotations, title } = definition;
  return { name, ...id, freshness, title, description, inputSchema, outputSchema, annotations, reduced };
}
