// Owns the answer to a name that is not in the turn's catalog: what was probably meant, and why it may be missing.

import { nearest } from '../kernel/nearest.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { QualifiedName, ToolId } from '../model/names.ts';
import type { Stage, ToolCall } from './pipeline.ts';

/** What is known about names that nobody can call right now: a server that is down, disabled, or not approved. */
export interface Directory {
  names(): Iterable<QualifiedName>;
  whyMissing(name: QualifiedName): string | undefined;
  /** By the filters as they are now. */
  isHidden(tool: ToolId): boolean;
}

export function resolve(directory: Directory): Stage {
  return (next) => (call) => (call.tool && !directory.isHidden(call.tool.id) ? next(call) : unknown(call, directory));
}

async function unknown({ name }: ToolCall, directory: Directory): Promise<never> {
  const because = directory.whyMissing(name);
  throw new RuntimeError('TOOL_UNKNOWN', {
    name,
    nearest: nearest(
      name,
      [...directory.names()].filter((each) => each !== name),
      limits.suggestions,
    ),
    ...(because !== undefined && { because }),
  });
}
