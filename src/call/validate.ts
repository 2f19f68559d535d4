// Owns checking arguments against a tool's schema before its server is woken, in words the model can act on.

import { isObject } from '../kernel/json.ts';
import { describe, problemsWith } from '../kernel/json-schema.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { type Stage, type ToolCall, toolOf } from './pipeline.ts';

/** What cannot be decided here is left to the server, which checks its own arguments: the tool stays callable. */
export function validate(): Stage {
  return (next) => async (call) => {
    const problems = problemsOf(call);
    if (problems.length > 0) throw new RuntimeError('ARGUMENTS_BAD', { ...toolOf(call).id, problems });
    return next(call);
  };
}

function problemsOf(call: ToolCall): readonly string[] {
  const args: unknown = call.arguments;
  if (!isObject(args)) return [`they must be an object, not ${describe(args)}`];
  return problemsWith(args, toolOf(call).inputSchema, limits.schemaCheck);
}
