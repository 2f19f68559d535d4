// Owns finding the tool that a person names, by its server's name or by one name for both, in any spelling that a call would take.

import type { Runtime } from '../api.ts';
import { type FailureData, RuntimeError } from '../model/errors.ts';
import type { Tool } from '../model/tool.ts';
import type { Turn } from '../turn.ts';
import { type Context, UsageError } from './command.ts';
import { shellWord } from './render/text.ts';
import { toolUnknown } from './unknown-name.ts';
import { requireServer, waitForAll } from './with-runtime.ts';

export interface ToolTarget {
  readonly server?: string;
  readonly tool: string;
}

export interface FoundTool {
  readonly turn: Turn;
  /** The name to call; `turn` explains why there is no tool of this name. */
  readonly name: string;
  readonly tool: Tool | undefined;
}

export async function findTool(runtime: Runtime, { server, tool }: ToolTarget, context: Context): Promise<FoundTool> {
  if (server === undefined) return findByName(runtime, tool, context);
  requireServer(runtime, server, context);
  const turn = runtime.turn();
  const own = offeredBy(runtime, server);
  const exact = own.find((each) => each.id.tool === tool || each.name === tool);
  const spelled = turn.find(`mcp__${server}__${tool}`);
  const found = exact ?? (spelled?.id.server === server ? spelled : undefined);
  return { turn, name: found?.name ?? `mcp__${server}__${tool}`, tool: found };
}

/** A slow server may still bring the name. */
async function findByName(runtime: Runtime, name: string, context: Context): Promise<FoundTool> {
  const find = (turn = runtime.turn()): FoundTool => ({ turn, name, tool: turn.find(name) });
  const found = find();
  if (found.tool) return found;
  if (runtime.status().some((each) => each.name === name))
    throw new UsageError(`also name a tool of server "${name}"; see them with: plexus tools ${shellWord(name)}`);
  await waitForAll(runtime, context);
  return find();
}

const offeredBy = (runtime: Runtime, server: string) => runtime.getTools().filter(({ id }) => id.server === server);

/** The person named the server, so the error suggests names as that server spells them. */
export function unknownOn(runtime: Runtime, { server, tool }: ToolTarget, listWith: string, error: unknown): unknown {
  if (server === undefined || !(error instanceof RuntimeError) || error.code !== 'TOOL_UNKNOWN') return error;
  const { because = `server "${server}" does not offer it` } = error.data as FailureData<'TOOL_UNKNOWN'>;
  const names = offeredBy(runtime, server).map(({ id }) => id.tool);
  return toolUnknown(tool, names, { because, listWith });
}
