// Owns `plexus tools`: the catalog of tools, and how many tokens they cost a model.

import type { Runtime } from '../../api.ts';
import { costOfAll, reportCost } from '../../catalog/exposure/cost.ts';
import { estimateTokens } from '../../kernel/tokens.ts';
import { SEARCH_TOOL } from '../../model/builtin.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Tool } from '../../model/tool.ts';
import { createToolPins } from '../../trust/tool-pins.ts';
import { callLine } from '../asked-tool.ts';
import { type Command, type Context, type Paint, UsageError } from '../command.ts';
import { createGatewayUse } from '../gateway-use.ts';
import { environmentOf } from '../load-config.ts';
import { readParameters } from '../parameters/parameters.ts';
import { rejectExtra } from '../positionals.ts';
import { costText, type WindowCost } from '../render/cost.ts';
import { table } from '../render/text.ts';
import { signaturesText, toolPageText } from '../render/tool-page.ts';
import { showTool } from '../show-tool.ts';
import { describeTool, signatureOf } from '../tool-page.ts';
import {
  type UnconfiguredServer,
  unconfiguredHelp,
  unconfiguredOptions,
  unconfiguredServer,
} from '../unconfigured-server.ts';
import {
  asLive,
  problemsOf,
  requireServer,
  serversWithoutTools,
  startupForTools,
  warnOfDiagnosticsFor,
  warnOfNotReady,
  warnOfProblems,
  withRuntime,
} from '../with-runtime.ts';

const NO_TOOLS = 'No tools. See which servers are up with: plexus list';

export const tools: Command = {
  usage:
    'tools [SERVER [TOOL]] [--signatures | --full] [--live] [--frozen] [--cost [--window TOKENS]]\n  plexus tools (--url ADDRESS | --stdio COMMAND) [TOOL]',
  options: {
    signatures: { type: 'boolean' },
    full: { type: 'boolean' },
    live: { type: 'boolean' },
    frozen: { type: 'boolean' },
    cost: { type: 'boolean' },
    window: { type: 'string' },
    ...unconfiguredOptions,
  },
  help: {
    signatures: 'show the parameters of each tool, with their types',
    full: 'show the whole page of each tool: description, parameters and a line to copy',
    live: 'connect to the servers, instead of showing cached tools',
    frozen: 'connect, and fail if a tool is not exactly as plexus.lock records it',
    cost: 'show how many tokens the tools of each server cost a model (estimated)',
    'window TOKENS': `with --cost: the context window of the model (${limits.exposure.window})`,
    ...unconfiguredHelp,
  },
  examples: [
    'tools files',
    'tools files read_text_file',
    'tools files --full',
    'tools --stdio "npx -y my-server"',
    'tools --cost --window 128000',
  ],
  async run(original) {
    const context = original.values['frozen'] === true ? asLive(original) : original;
    const unconfigured = await unconfiguredServer(context);
    const [server, tool, extra] = unconfigured ? [unconfigured.name, ...context.positionals] : context.positionals;
    rejectExtra(extra);
    const contextWindow = readWindow(context);
    const only = server === undefined ? {} : { only: [server] };
    const named = tool === undefined ? {} : { showUnapproved: true };
    const gateway = createGatewayUse(context, { isUnconfigured: unconfigured !== undefined });
    const options = { startup: startupForTools(context), ...named, ...only, ...unconfigured?.options, gateway };
    return withRuntime(context, options, async (runtime, diagnostics) => {
      if (!unconfigured) warnOfDiagnosticsFor(server, runtime, diagnostics, context);
      const notReady = serversWithoutTools(runtime).filter((each) => server === undefined || each.server === server);
      // The error of the one server that was named becomes the command's.
      if (server === undefined) warnOfNotReady(notReady, context);
      if (server !== undefined) requireServer(runtime, server, context);
      const problems = problemsOf(runtime);
      warnOfProblems(problems, context);
      const found = runtime.getTools();
      if (context.values['frozen'] === true) await requireLocked(found, environmentOf(context).cwd);
      if (server !== undefined && tool !== undefined) return showTool(runtime, { server, tool, unconfigured }, context);
      const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);
      if (context.values['full'] === true && found.length > 0) {
        const pages = [...found].sort(byName).map((each) => pageOf(each, unconfigured, context));
        const text = (paint: Paint) => pages.map((page) => toolPageText(page, paint)).join(`\n\n${RULE}\n\n`);
        return { data: { tools: pages, notReady, problems, diagnostics, ...gateway.field() }, text };
      }
      const shown = found.map((each) => shownTool(each, context, server !== undefined)).sort(byName);
      const entries = shown.map(({ entry }) => entry);
      const data = { tools: entries, notReady, problems, diagnostics, ...gateway.field() };
      if (found.length === 0) return { data, text: () => (unconfigured ? 'The server has no tools.' : NO_TOOLS) };
      if (context.values['cost'] !== true) return { data, text: (paint) => toolsText(shown, context, paint) };
      const report = reportCost(found);
      const window = costInWindow(runtime, contextWindow);
      return { data: { ...data, cost: { ...report, window } }, text: (paint) => costText(report, window, paint) };
    });
  },
};

const RULE = '–'.repeat(20);

const pageOf = (tool: Tool, unconfigured: UnconfiguredServer | undefined, context: Context) =>
  describeTool(tool, (words) => callLine({ ...tool.id, unconfigured }, words, context));

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
  const { tools: offered, systemPrompt } = runtime.view({ model: { contextWindow } }).turn();
  const own = new Set(runtime.getTools().map(({ name }) => name));
  const shown = offered.filter(({ name }) => own.has(name)).length;
  return {
    contextWindow,
    searches: offered.some(({ name }) => name === SEARCH_TOOL),
    shown,
    hidden: own.size - shown,
    tokens: costOfAll(offered).tokens + Math.ceil(estimateTokens(systemPrompt)),
  };
}

interface ListedTool {
  readonly entry: ReturnType<typeof toolData> & { readonly signature?: string };
  /** The name that the person types: the tool's own where the server is named. */
  readonly name: string;
  readonly description: string;
}

function shownTool(tool: Tool, { values }: Context, isServerNamed: boolean): ListedTool {
  const { id, name, description, definition } = tool;
  const { inputSchema, outputSchema } = definition;
  const entry = toolData(tool);
  const shown = { name: isServerNamed ? id.tool : name, description };
  if (values['signatures'] !== true) return { ...shown, entry };
  return {
    ...shown,
    entry: { ...entry, signature: signatureOf(shown.name, readParameters(inputSchema), outputSchema) },
  };
}

function toolsText(shown: readonly ListedTool[], { values }: Context, paint: Paint): string {
  if (values['signatures'] === true)
    return signaturesText(
      shown.map(({ entry: { signature = '' }, ...each }) => ({ ...each, signature })),
      paint,
    );
  return table(
    ['NAME', 'DESCRIPTION'],
    shown.map(({ entry, name, description }) => [
      { text: values['url'] || values['stdio'] ? name : entry.name, paint: paint.bold },
      { text: description, cut: 100 },
    ]),
    paint,
  );
}

function toolData({ name, id, freshness, description, inputSchema, reduced, definition }: Tool) {
  const { outputSchema, annotations, title } = definition;
  return { name, ...id, freshness, title, description, inputSchema, outputSchema, annotations, reduced };
}
