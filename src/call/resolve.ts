// Owns the answer to a name that is not in the turn's catalog: what was probably meant, and why it may be missing.

import { nearest } from '../kernel/nearest.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { QualifiedName, ToolId } from '../model/names.ts';
import type { Stage, ToolCall } from './pipeline.ts';

/** What is known about names that nobody can call right now: a server that is down, disabled, or not approved. */
export interface Directory {
  whyMissing(name: QualifiedName): string | undefined;
  /** By the filters as they are now. */
  isHidden(tool: ToolId): boolean;
}

export function resolve(directory: Directory): Stage {
  return (next) => (call) => {
    const { tool, builtin } = call;
    return tool && (builtin || !directory.isHidden(tool.id)) ? next(call) : unknown(call, directory);
  };
}

async function unknown({ name, among }: ToolCall, directory: Directory): Promise<never> {
  const because = among.isWhole ? directory.whyMissing(name) : undefined;
  const others = among.tools.map((tool) => tool.name).filter((each) => each !== name);
  throw new RuntimeError('TOOL_UNKNOWN', {
    name,
    nearest: nearest(name, others, limits.suggestions),
    ...(because !== undefined && { because }),
  });
}
