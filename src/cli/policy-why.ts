// Owns the answer to "what would become of this call, and who says so": found out by what decides about real calls, and nothing
// is called.

import type { Runtime } from '../api.ts';
import { approvalModeOf, type CallDecision, createDecider } from '../call/authorize/decide.ts';
import { Taint } from '../call/taint.ts';
import { createAliases } from '../catalog/aliases.ts';
import { canonicalName } from '../catalog/naming.ts';
import type { LoadedConfig } from '../config/load.ts';
import { Cancellation } from '../kernel/cancellation.ts';
import { systemClock } from '../kernel/clock.ts';
import type { JsonObject } from '../kernel/json.ts';
import { nearest } from '../kernel/nearest.ts';
import { builtinNames } from '../model/builtin.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName, ToolId } from '../model/names.ts';
import type { ApprovalMode } from '../model/server.ts';
import type { Tool, ToolAnnotations } from '../model/tool.ts';
import type { ExplainedRule } from '../policy/judge.ts';
import { reviewRules } from '../policy/review.ts';
import { parseRules } from '../policy/rule.ts';
import { ruleMatches } from '../policy/rule-match.ts';
import { isPattern } from '../policy/spellings.ts';
import { spellTool } from '../policy/tool-spellings.ts';
import { ServerRegistry } from '../servers/registry.ts';
import { LockedTools } from '../trust/locked-tools.ts';
import type { GrantState } from '../trust/tool-grants.ts';
import { type Context, UsageError } from './command.ts';
import { openTrust, surroundingsOf } from './load-config.ts';

export interface Why {
  readonly id: ToolId;
  /** Absent where the tool is not known: then nothing but the rules is. */
  readonly tool?: Tool;
  readonly decision: CallDecision;
  readonly rules: readonly Fate[];
  readonly mode: ApprovalMode;
  readonly annotations: ToolAnnotations;
  readonly trustsAnnotations: boolean;
  readonly grant: GrantState;
}

/** What became of a rule that speaks of the tool; `ignored`: it was read and does not count. */
export interface Fate extends Omit<ExplainedRule, 'fate'> {
  readonly fate: ExplainedRule['fate'] | 'ignored';
}

export interface WhyDeps {
  readonly context: Context;
  readonly runtime: Runtime;
  /** Its rules with their lines. */
  readonly config: LoadedConfig;
  readonly id: ToolId;
  /** `undefined`: whatever they are. */
  readonly args: JsonObject | undefined;
}

export async function findWhy({ context, runtime, config, id, args }: WhyDeps): Promise<Why> {
  const registry = new ServerRegistry(surroundingsOf(context));
  registry.apply(config);
  const server = registry.definition(id.server);
  if (server === undefined) throw unusableServer(id.server, runtime, config);
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

/** What was allowed for good answers what asks, unless that wants to be asked each time. */
function granted(decision: CallDecision, { kind }: GrantState): CallDecision {
  if (decision.verdict !== 'ask' || decision.isEveryTime || kind !== 'granted') return decision;
  const because = `you have allowed it for good; otherwise it would ask, because ${decision.because}`;
  return { ...decision, verdict: 'allow', because };
}

/** A condition that this tool can never meet is why the rule is silent, whatever the arguments are. */
function withRemark(explained: ExplainedRule, tool: Tool | undefined): Fate {
  if (tool === undefined || (explained.fate !== 'unmet' && explained.fate !== 'depends')) return explained;
  const { server } = tool.id;
  const remarks = reviewRules([explained.rule], [server], { tools: new Map([[server, [tool]]]) });
  const why = remarks.find(({ kind }) => kind === 'argument')?.why;
  return why === undefined ? explained : { ...explained, why };
}

function ignored(context: Context, { idleRules, definitions, invalid }: LoadedConfig, id: ToolId): readonly Fate[] {
  const servers = [...definitions, ...invalid].map(({ name }) => name);
  const asked = spellTool(id, canonicalName(id));
  return idleRules.flatMap((text): readonly Fate[] => {
    const [rule] = parseRules([text], servers, surroundingsOf(context));
    return rule && ruleMatches(rule, asked) ? [{ rule, fate: 'ignored', why: text.idle }] : [];
  });
}

const isListed = (server: ServerName, runtime: Runtime) =>
  runtime.status().some(({ name, freshness }) => name === server && freshness !== undefined);

/** The runtime's own tools are judged as those of the server that they reach. */
function requireBuiltin({ server, tool }: ToolId, runtime: Runtime): void {
  if (builtinNames.some((name) => name === tool)) return;
  const names = runtime.getTools().flatMap(({ id }) => (id.server === server ? id.tool : []));
  const because = `server "${server}" has none of that name`;
  throw new RuntimeError('TOOL_UNKNOWN', { name: tool, because, nearest: nearest(tool, names, limits.suggestions) });
}

const refused = (because: string): CallDecision => ({
  verdict: 'deny',
  because: `its server is not used: ${because}`,
  byRule: true,
});

async function decide(context: Context, registry: ServerRegistry, tool: Tool, args: JsonObject): Promise<CallDecision> {
  const onError = (error: unknown) => {
    throw error;
  };
  const lock = new LockedTools({ folder: context.cwd, onError });
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

/** A rule may be asked about before its server was ever up. */
function unknownTool(id: ToolId): Tool {
  return {
    id,
    name: canonicalName(id),
    ...{ freshness: 'cached', label: '', source: '', description: '', inputSchema: {} },
    meta: { server: id.server, annotations: {} },
    definition: { name: id.tool, inputSchema: {} },
  };
}

/** `SERVER TOOL`, or one word in any spelling that names both. */
export function findTool(words: readonly string[], runtime: Runtime, config: LoadedConfig): ToolId {
  const [first, second, extra] = words;
  if (first === undefined) throw new UsageError('name a tool: plexus policy why NAME');
  if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many`);
  const tools = runtime.getTools();
  if (second !== undefined) {
    const own = tools.filter(({ id }) => id.server === first);
    const named = own.find(({ id, name }) => id.tool === second || name === second);
    return named?.id ?? { server: first, tool: oneName(second) };
  }
  const found = createAliases(tools).find(first);
  if (found === 'ambiguous') throw new UsageError(`"${first}" may mean more than one tool; write SERVER TOOL`);
  return found ?? readName(oneName(first), config) ?? unknownName(first, tools);
}

function oneName(word: string): string {
  if (isPattern(word)) throw new UsageError(`"${word}" is a pattern; name one tool: plexus policy why NAME`);
  return word;
}

/** The name of a tool that nobody has seen, of a server that is configured. */
function readName(name: string, { definitions, invalid }: LoadedConfig): ToolId | undefined {
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
  const names = tools.map((each) => each.name);
  throw new RuntimeError('TOOL_UNKNOWN', { name, nearest: nearest(name, names, limits.suggestions) });
}

/** Of an entry that cannot be used, why it cannot is the answer. */
function unusableServer(server: string, runtime: Runtime, { definitions, invalid }: LoadedConfig): RuntimeError {
  const error = runtime.status().find(({ name }) => name === server)?.error;
  if (error && invalid.some(({ name }) => name === server)) return error;
  const names = [...definitions, ...invalid].map(({ name }) => name);
  return new RuntimeError('SERVER_UNKNOWN', { server, nearest: nearest(server, names, limits.suggestions) });
}
