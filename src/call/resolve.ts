// Owns which tool a name stands for: `resolveTarget` finds it when the call object is made, since events name the tool from the
// start; the stage only refuses a call that has none, and explains why.

import type { CatalogSnapshot } from '../catalog/snapshot.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { nearest } from '../kernel/nearest.ts';
import { whyNotJson } from '../kernel/plain-json.ts';
import {
  type Builtin,
  type BuiltinContext,
  type BuiltinTool,
  builtinNames,
  CALL_TOOL,
  SEARCH_TOOL,
  unwrapCall,
} from '../model/builtin.ts';
import { RuntimeError, toolReplaced } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { QualifiedName, ServerName, ToolId } from '../model/names.ts';
import type { ServerRegistry } from '../servers/registry.ts';
import type { FleetStatus } from '../servers/status.ts';
import type { Stage, ToolCall } from './pipeline.ts';

/** What a name is looked up in: one turn's tools and the builtins beside them. */
export interface Resolvable {
  readonly snapshot: CatalogSnapshot;
  readonly builtins: ReadonlyMap<string, BuiltinTool>;
  /** Shows these tools from the next turn on. */
  readonly load: (tools: readonly ToolId[]) => void;
  readonly introduce: BuiltinContext['introduce'];
}

export type CallTarget = Pick<ToolCall, 'name' | 'tool' | 'arguments' | 'builtin'>;

/** The name is one of the catalog, of a builtin, or another agent's spelling of a tool. Tools that are not shown can be called too. */
export function resolveTarget(turnTools: Resolvable, name: QualifiedName, args: JsonObject): CallTarget {
  const { snapshot, builtins } = turnTools;
  const tool = snapshot.find(name);
  const own = tool ? undefined : builtins.get(name);
  // Arguments that are not plain JSON are read nowhere but in `validate`, which refuses them.
  const isReadable = own === undefined || whyNotJson(args, limits.arguments) === undefined;
  if (own && !isReadable) return bindBuiltin(turnTools, own, {}, args);
  if (own?.tool.name === CALL_TOOL) {
    const carried = unwrapCall(args);
    if (typeof carried !== 'string') return resolveTarget(turnTools, carried.name, carried.arguments);
  }
  if (own) return bindBuiltin(turnTools, own, args);
  // A builtin's name never stands for a server's tool, even where the builtin is not offered.
  const found = tool ?? (isReserved(name) ? undefined : snapshot.resolve(name));
  return { name: found?.name ?? name, tool: found, arguments: args };
}

const isReserved = (name: string) => builtinNames.some((each) => each === name);

/** A builtin that reaches a server counts as that server's tool: its rules, limits and breaker apply. */
function bindBuiltin(
  { snapshot, load, introduce }: Resolvable,
  { builtin, tool }: BuiltinTool,
  readable: JsonObject,
  args = readable,
): CallTarget {
  const { server, problem } = serverOf(builtin, readable);
  return {
    name: tool.name,
    tool: server === undefined ? tool : { ...tool, id: { server, tool: builtin.toolName ?? tool.id.tool } },
    arguments: args,
    builtin: {
      isLocal: server === undefined,
      isFreeByDefault: server === undefined || builtin.isFreeByDefault === true,
      perform: async (given, cancellation) => {
        if (problem !== undefined) throw problem;
        const own = { cancellation, ...(server !== undefined && { server }) };
        return builtin.perform(given, { ...own, tools: snapshot.tools, load, introduce });
      },
    },
  };
}

/** An unknown server is thrown when the builtin is performed, so that the failure is observed and counted like any other. */
function serverOf(
  { target }: Builtin,
  args: unknown,
): { readonly server?: ServerName | undefined; readonly problem?: unknown } {
  if (target === undefined || !isObject(args)) return {};
  try {
    return { server: target(args) };
  } catch (problem) {
    return { problem };
  }
}

export interface ResolveDeps {
  readonly registry: Pick<ServerRegistry, 'isHidden' | 'isReplaced'>;
  readonly status: Pick<FleetStatus, 'whyMissing'>;
}

export function resolve(deps: ResolveDeps): Stage {
  const { registry } = deps;
  return (next) => (call) => {
    const { tool, builtin } = call;
    if (tool && !builtin && registry.isReplaced(tool)) throw toolReplaced(tool);
    return tool && (builtin || !registry.isHidden(tool.id)) ? next(call) : refuseUnknownTool(call, deps);
  };
}

async function refuseUnknownTool({ name, visibleTools }: ToolCall, { status }: ResolveDeps): Promise<never> {
  const reason = visibleTools.isWhole ? status.whyMissing(name) : undefined;
  const others = visibleTools.tools.map((tool) => tool.name).filter((each) => each !== name);
  throw new RuntimeError('TOOL_UNKNOWN', {
    name,
    nearest: nearest(name, others, limits.suggestions),
    ...reason,
    // The advice for a person is of no use to a model; where it can search, tell it to.
    ...(visibleTools.canSearch?.() && { searchWith: SEARCH_TOOL }),
  });
}
