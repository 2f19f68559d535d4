// Owns `plexus tools`: the catalog of tools, and how many tokens they cost a model.

import type { Runtime } from '../../api.ts';
import { costOfAll, reportCost } from '../../catalog/exposure/cost.ts';
import { SEARCH_TOOL } from '../../model/builtin.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Tool } from '../../model/tool.ts';
import { createToolPins } from '../../trust/tool-pins.ts';
import { type Command, type Context, type Paint, UsageError } from '../command.ts';
import { environmentOf } from '../load-config.ts';
import { rejectExtra } from '../positionals.ts';
import { costText, type WindowCost } from '../render/cost.ts';
import { firstLine, table } from '../render/text.ts';
import {
  asLive,
  problemsOf,
  requireServer,
  serversWithoutTools,
  startupForTools,
  warnOfDiagnostics,
  warnOfNotReady,
  warnOfProblems,
  withRuntime,
} from '../with-runtime.ts';

const NO_TOOLS = 'No tools. See which servers are up with: plexus list';

export const tools: Command = {
  usage: 'tools [SERVER] [--live] [--frozen] [--cost [--window TOKENS]]',
  options: {
    live: { type: 'boolean' },
    frozen: { type: 'boolean' },
    cost: { type: 'boolean' },
    window: { type: 'string' },
  },
  help: {
    live: 'connect to the servers, instead of showing cached tools',
    frozen: 'connect, and fail if a tool is not exactly as plexus.lock records it',
    cost: 'show how many tokens the tools of each server cost a model (estimated)',
    'window TOKENS': `with --cost: the context window of the model (${limits.exposure.window})`,
  },
  examples: ['tools files', 'tools --cost --window 128000'],
  async run(original) {
    const context = original.values['frozen'] === true ? asLive(original) : original;
    const [server, extra] = context.positionals;
    rejectExtra(extra);
    const contextWindow = readWindow(context);
    const options = { startup: startupForTools(context), ...(server !== undefined && { only: [server] }) };
    return withRuntime(context, options, async (runtime, diagnostics) => {
      warnOfDiagnostics(diagnostics, context);
      const notReady = serversWithoutTools(runtime);
      warnOfNotReady(notReady, context);
      if (server !== undefined) requireServer(runtime, server);
      const problems = problemsOf(runtime);
      warnOfProblems(problems, context);
      const found = runtime.getTools();
      if (context.values['frozen'] === true) await requireLocked(found, environmentOf(context).cwd);
      const data = { tools: found.map(toolData), notReady, problems, diagnostics };
      if (context.values['cost'] !== true) return { data, text: (paint) => toolsText(found, paint) };
      const report = reportCost(found);
      const window = costInWindow(runtime, contextWindow);
      return {
        data: { ...data, cost: { ...report, window } },
        text: (paint) => (found.length === 0 ? NO_TOOLS : costText(report, window, paint)),
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

/** Measured on a turn, so that it is what a model would really get. */
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
  if (found.length === 0) return NO_TOOLS;
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
