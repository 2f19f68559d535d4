// Owns the answer to "what would become of this call, and who says so": found out by what decides about real calls, and nothing
// is called.

import type { Runtime } from '../api.ts';
import type { CallDecision } from '../call/permission.ts';
import { Taint } from '../call/taint.ts';
import { createAliases } from '../catalog/aliases.ts';
import { canonicalName } from '../catalog/naming.ts';
import type { LoadedConfig } from '../config/load.ts';
import { Cancellation } from '../kernel/cancellation.ts';
import { systemClock } from '../kernel/clock.ts';
import type { JsonObject } from '../kernel/json.ts';
import { nearest } from '../kernel/nearest.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ToolId } from '../model/names.ts';
import type { ApprovalMode } from '../model/server.ts';
import type { Tool, ToolAnnotations } from '../model/tool.ts';
import { createDeciding, modeIn, Pins } from '../permitting.ts';
import type { Explained } from '../policy/judge.ts';
import { Standing } from '../standing.ts';
import type { GrantState } from '../trust/tool-grants.ts';
import { type Context, UsageError } from './command.ts';
import { openTrust, surroundingsOf } from './load-config.ts';

export interface Why {
  readonly id: ToolId;
  /** Absent where the tool is not known: then nothing but the rules is. */
  readonly tool?: Tool;
  readonly decision: CallDecision;
  readonly rules: readonly Explained[];
  readonly mode: ApprovalMode;
  readonly annotations: ToolAnnotations;
  readonly isBelieved: boolean;
  readonly grant: GrantState;
}

export interface WhyParts {
  readonly context: Context;
  readonly runtime: Runtime;
  /** Its rules with their lines. */
  readonly config: LoadedConfig;
  readonly id: ToolId;
  /** `undefined`: whatever they are. */
  readonly args: JsonObject | undefined;
}

export async function findWhy({ context, runtime, config, id, args }: WhyParts): Promise<Why> {
  const standing = new Standing(surroundingsOf(context));
  standing.apply(config);
  const server = standing.definition(id.server);
  if (server === undefined) throw unknownServer(id.server, config);
  const { gate, grants } = await openTrust(context);
  const { kind } = await gate.judge(server);
  if (kind === 'own' || kind === 'approved') standing.vouchFor([id.server]);
  const known = runtime.getTools().find((each) => each.id.server === id.server && each.id.tool === id.tool);
  const tool = known ?? unknownTool(id);
  const isBelieved = tool.freshness === 'live' && server.settings.trustHints;
  const refusal = standing.refusal(id.server);
  const rules = standing.judge().explain(id, canonicalName(id), args);
  const isOpen = args === undefined && rules[0]?.fate === 'depends';
  const decision = isOpen
    ? standing.judge().judge(id, canonicalName(id), undefined)
    : await decide(context, standing, { tool, args: args ?? {}, isBelieved });
  return {
    id,
    ...(known && { tool: known }),
    decision: refusal === undefined ? decision : refused(refusal),
    rules,
    mode: modeIn(standing, id),
    annotations: tool.definition.annotations ?? {},
    isBelieved,
    grant: known ? await grants.judge(server, tool.definition) : { kind: 'unknown' },
  };
}

const refused = (because: string): CallDecision => ({
  verdict: 'deny',
  because: `its server is not used: ${because}`,
  byRule: true,
});

interface Asked {
  readonly tool: Tool;
  readonly args: JsonObject;
  readonly isBelieved: boolean;
}

async function decide(context: Context, standing: Standing, { tool, args, isBelieved }: Asked): Promise<CallDecision> {
  const onError = (error: unknown) => {
    throw error;
  };
  const pins = new Pins({ folder: context.cwd, isFrozen: false, onError });
  await pins.read();
  const deciding = createDeciding({
    ...{ standing, pins, gate: undefined, clock: systemClock, onError },
    isBelieved: () => isBelieved,
    present: ({ definition }) => definition,
  });
  return deciding({
    ...{ callId: 'policy', name: tool.name, tool, arguments: args },
    among: { tools: [tool], isWhole: true },
    cancellation: new Cancellation(),
    onProgress: () => undefined,
    caller: { grants: new Set(), taint: new Taint(), inputs: {} },
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
    return own.find(({ id, name }) => id.tool === second || name === second)?.id ?? { server: first, tool: second };
  }
  const found = createAliases(tools).find(first);
  if (found === 'ambiguous') throw new UsageError(`"${first}" may mean more than one tool; write SERVER TOOL`);
  return found ?? readName(first, config) ?? unknownName(first, tools);
}

/** The name of a tool that nobody has seen, of a server that is configured. */
function readName(name: string, { definitions }: LoadedConfig): ToolId | undefined {
  const body = name.replace(/^mcp__/, '');
  const found = definitions.flatMap(({ name: server }) =>
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

function unknownServer(server: string, { definitions }: LoadedConfig): RuntimeError {
  const names = definitions.map(({ name }) => name);
  return new RuntimeError('SERVER_UNKNOWN', { server, nearest: nearest(server, names, limits.suggestions) });
}
