// Owns the answer to a name that is not in the turn's catalog: what was probably meant, and why it may be missing.

import { nearest } from '../kernel/nearest.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { QualifiedName, ToolId } from '../model/names.ts';
import type { Tool } from '../model/tool.ts';
import type { Stage, ToolCall } from './pipeline.ts';

/** What is known about names that nobody can call right now: a server that is down, disabled, or not approved. */
export interface Directory {
  whyMissing(name: QualifiedName): string | undefined;
  /** By the filters as they are now. */
  isHidden(tool: ToolId): boolean;
  /** Whether the server of that name is another one than when the turn began. */
  isReplaced(tool: Tool): boolean;
}

export function resolve(directory: Directory): Stage {
  return (next) => (call) => {
    const { tool, builtin } = call;
    if (tool && !builtin && directory.isReplaced(tool)) throw replaced(tool);
    return tool && (builtin || !directory.isHidden(tool.id)) ? next(call) : unknown(call, directory);
  };
}

/** What the model saw of the former one says nothing about this one. */
export function replaced({ id, name }: Tool): RuntimeError {
  const because = `server "${id.server}" is gone, or another one now; begin a new turn`;
  return new RuntimeError('TOOL_UNKNOWN', { name, nearest: [], because });
}

/** What somebody agreed to was another form of it. */
export function changed({ name }: Tool): RuntimeError {
  const because = 'its definition has changed since it was approved; begin a new turn';
  return new RuntimeError('TOOL_UNKNOWN', { name, nearest: [], because });
}

async function unknown({ name, visibleTools }: ToolCall, directory: Directory): Promise<never> {
  const because = visibleTools.isWhole ? directory.whyMissing(name) : undefined;
  const others = visibleTools.tools.map((tool) => tool.name).filter((each) => each !== name);
  throw new RuntimeError('TOOL_UNKNOWN', {
    name,
    nearest: nearest(name, others, limits.suggestions),
    ...(because !== undefined && { because }),
    // A model cannot follow the advice that a person gets.
    ...(visibleTools.canSearch?.() && { searchWith: 'mcp_search' }),
  });
}
