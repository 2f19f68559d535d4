// Owns the answer of `plexus policy why`: what would be decided about a call, and by which rule. The code that decides about real
// calls is asked; no tool is called.

import type { Runtime } from '../api.ts';
import { approvalModeOf, type CallDecision, createDecider } from '../call/authorize/decide.ts';
import { Taint } from '../call/taint.ts';
import { createAliases } from '../catalog/aliases.ts';
import { canonicalName } from '../catalog/naming.ts';
import type { LoadedConfig } from '../config/load.ts';
import { Cancellation } from '../kernel/cancellation.ts';
import { systemClock } from '../kernel/clock.ts';
import type { JsonObject } from '../kernel/json.ts';
import { builtinNames } from '../model/builtin.ts';
import type { RuntimeError } from '../model/errors.ts';
import type { ServerName, ToolId } from '../model/names.ts';
import type { ApprovalMode } from '../model/server.ts';
import type { Tool, ToolAnnotations } from '../model/tool.ts';
import type { ExplainedRule } from '../policy/judge.ts';
import { reviewRules } from '../policy/review.ts';
import { parseRules } from '../policy/rule.ts';
import { ruleMatches } from '../policy/rule-match.ts';
import { isPattern } from '../policy/spellings.ts';
import { spellTool } from '../policy/tool-spellings.ts';
import type { JudgedConfig } from '../servers/judge-config.ts';
import { ServerRegistry } from '../servers/registry.ts';
import { LockedTools } from '../trust/locked-tools.ts';
import type { GrantState } from '../trust/tool-grants.ts';
import { type Context, UsageError } from './command.ts';
import { environmentOf, openTrust } from './load-config.ts';
import { rejectExtra } from './positionals.ts';
import { serverUnknown, toolUnknown } from './unknown-name.ts';

export interface CallExplanation {
  readonly id: ToolId;
  /** Absent if the tool is not known: then only the rules can be explained. */
  readonly tool?: Tool;
  readonly decision: CallDecision;
  readonly rules: readonly RuleFate[];
  readonly mode: ApprovalMode;
  readonly annotations: ToolAnnotations;
  readonly trustsAnnotations: boolean;
  readonly grant: GrantState;
}

/** Why a rule that matches the tool decides or not. `ignored`: the rule was loaded from a file that may not set it. */
export interface RuleFate extends Omit<ExplainedRule, 'fate'> {
  readonly fate: ExplainedRule['fate'] | 'ignored';
}

export interface CallExplanationDeps {
  readonly context: Context;
  readonly runtime: Runtime;
  /** With the line of each rule. */
  readonly config: JudgedConfig;
  readonly id: ToolId;
  /** `undefined`: any arguments. */
  readonly args: JsonObject | undefined;
}

export async function explainCall({
  context,
  runtime,
  config,
  id,
  args,
}: CallExplanationDeps): Promise<CallExplanation> {
  const registry = new ServerRegistry(environmentOf(context));
  registry.apply(config);
  const server = registry.definition(id.server);
  if (server === undefined) throw unusableServer(id.server, { runtime, config, context });
  const { gate, grants } = await openTrust(context);
  const { kind } = await gate.judge(server);
  if (kind === 'own' || kind === 'approved') registry.markApproved([id.server]);
  const known = runtime.getTools().find((each) => each.id.server === id.server && each.id.tool === id.tool);
  if (known === undefined && isListed(id.server, runtime) && !registry.isHidden(id)) requireBuiltin(id, runtime);
  const tool = known ?? unknownTool(id);
  const trustsAnnotations = registry.trustsAnnotations(tool);
  const refusal = registry.refusal(id.server);
  const rules = registry.rules.judge.explain(id, canonicalName(id), args);
  const isOpen = args === undefined && rules[0]?.fate === 'depends';
  const grant: GrantState = known ? await grants.judge(server, tool.definition) : { kind: 'unknown' };
  const decision = isOpen
    ? registry.rules.judge.judge(id, canonicalName(id), undefined)
    : granted(await decide(context, registry, tool, args ?? {}), grant);
  return {
    id,
    ...(known && { tool: known }),
    decision: refusal === undefined ? decision : refused(refusal),
    rules: [...rules.map((each) => withRemark(each, known)), ...ignored(context, config, id)],
    mode: approvalModeOf(registry, id),
    annotations: tool.definition.annotations ?? {},
    trustsAnnotations,
    grant,
  };
}

/** A lasting approval answers a decision to ask, unless the rule asks each time. */
function granted(decision: CallDecision, { kind }: GrantState): CallDecision {
  if (decision.verdict !== 'ask' || decision.isEveryTime || kind !== 'granted') return decision;
  const because = `you approved the tool; otherwise it would ask, because ${decision.because}`;
  return { ...decision, verdict: 'allow', because };
}

/** If the tool can never meet a rule's condition, whatever the arguments, that is the reason to show. */
function withRemark(explained: ExplainedRule, tool: Tool | undefined): RuleFate {
  if (tool === undefined || (explained.fate !== 'unmet' && explained.fate !== 'depends')) return explained;
  const { server } = tool.id;
  const remarks = reviewRules([explained.rule], [server], { tools: new Map([[server, [tool]]]) });
  const why = remarks.find(({ kind }) => kind === 'argument')?.why;
  return why === undefined ? explained : { ...explained, why };
}

function ignored(context: Context, { idleRules, definitions, invalid }: LoadedConfig, id: ToolId): readonly RuleFate[] {
  const servers = [...definitions, ...invalid].map(({ name }) => name);
  const spelled = spellTool(id, canonicalName(id));
  return idleRules.flatMap((text): readonly RuleFate[] => {
    const [rule] = parseRules([text], servers, environmentOf(context));
    return rule && ruleMatches(rule, spelled) ? [{ rule, fate: 'ignored', why: text.idle }] : [];
  });
}

const isListed = (server: ServerName, runtime: Runtime) =>
  runtime.status().some(({ name, freshness }) => name === server && freshness !== undefined);

/** Calls of the runtime's built-in tools are judged as calls of the server that they reach. */
function requireBuiltin({ server, tool }: ToolId, runtime: Runtime): void {
  if (builtinNames.some((name) => name === tool)) return;
  const names = runtime.getTools().flatMap(({ id }) => (id.server === server ? id.tool : []));
  const because = `server "${server}" has none of that name`;
  throw toolUnknown(tool, names, { because });
}

const refused = (because: string): CallDecision => ({
  verdict: 'deny',
  because: `its server is not in use: ${because}`,
  byRule: true,
});

async function decide(context: Context, registry: ServerRegistry, tool: Tool, args: JsonObject): Promise<CallDecision> {
  const onError = (error: unknown) => {
    throw error;
  };
  const lock = new LockedTools({ folder: environmentOf(context).cwd, onError });
  await lock.read();
  const decider = createDecider({
    registry,
    lock,
    clock: systemClock,
    onError,
    currentDefinition: ({ definition }) => definition,
  });
  return decider.decide({
    callId: 'policy',
    name: tool.name,
    tool,
    arguments: args,
    visibleTools: { tools: [tool], isWhole: true },
    cancellation: new Cancellation(),
    onProgress: () => undefined,
    caller: { grants: new Set(), taint: new Taint(), handlers: {} },
  });
}

/** Stands for a tool that was never listed: rules can be explained before the server was ever connected. */
function unknownTool(id: ToolId): Tool {
  return {
    id,
    name: canonicalName(id),
    freshness: 'cached',
    label: '',
    source: '',
    description: '',
    inputSchema: { type: 'object' },
    meta: { server: id.server, annotations: {} },
    definition: { name: id.tool, inputSchema: {} },
  };
}

/** Reads `SERVER TOOL`, or one word in any spelling that names both. */
export function findTool(words: readonly string[], runtime: Runtime, config: LoadedConfig): ToolId {
  const [first, second, extra] = words;
  if (first === undefined) throw new UsageError('name a tool: plexus policy why NAME');
  rejectExtra(extra);
  const tools = runtime.getTools();
  if (second !== undefined) {
    const own = tools.filter(({ id }) => id.server === first);
    const named = own.find(({ id, name }) => id.tool === second || name === second);
    return named?.id ?? { server: first, tool: requireNoPattern(second) };
  }
  const found = createAliases(tools).find(first);
  if (found === 'ambiguous') throw new UsageError(`"${first}" names more than one tool; write SERVER TOOL`);
  return found ?? splitName(requireNoPattern(first), config) ?? unknownName(first, tools);
}

function requireNoPattern(word: string): string {
  if (isPattern(word)) throw new UsageError(`"${word}" is a pattern; name one tool: plexus policy why NAME`);
  return word;
}

/** Splits the name of a tool that was never listed, if exactly one configured server fits. */
function splitName(name: string, { definitions, invalid }: LoadedConfig): ToolId | undefined {
  const body = name.replace(/^mcp__/, '');
  const found = [...definitions, ...invalid].flatMap(({ name: server }) =>
    ['__', '.', '/', ':'].flatMap((separator) => {
      const tool = body.slice(server.length + separator.length);
      return body.startsWith(server + separator) && tool !== '' ? [{ server, tool }] : [];
    }),
  );
  return found.length === 1 ? found[0] : undefined;
}

function unknownName(name: string, tools: readonly Tool[]): never {
  throw toolUnknown(
    name,
    tools.map((each) => each.name),
  );
}

/** For an invalid entry, its own error; otherwise the server is not known. */
function unusableServer(
  server: string,
  { runtime, config: { definitions, invalid }, context }: Pick<CallExplanationDeps, 'runtime' | 'config' | 'context'>,
): RuntimeError {
  const error = runtime.status().find(({ name }) => name === server)?.error;
  if (error && invalid.some(({ name }) => name === server)) return error;
  const names = [...definitions, ...invalid].map(({ name }) => name);
  return serverUnknown(server, names, context);
}
