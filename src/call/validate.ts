// Owns checking arguments against a tool's schema before its server is woken, in words the model can act on.

import { isObject, type JsonObject } from '../kernel/json.ts';
import { describe, problemsWith } from '../kernel/json-schema.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { type Stage, type ToolCall, toolOf } from './pipeline.ts';

/** Against the schema as the server sent it, whatever the model was shown of it. What cannot be decided here is left to the server, which checks its own arguments: the tool stays callable. */
export function validate(): Stage {
  return (next) => async (call) => {
    const problems = problemsOf(call, call.arguments);
    if (problems.length === 0) return next(call);
    const given = withoutEmptyOnes(call);
    if (given === undefined || problemsOf(call, given).length > 0)
      throw new RuntimeError('ARGUMENTS_BAD', { ...toolOf(call).id, problems });
    return next({ ...call, arguments: given });
  };
}

function problemsOf(call: ToolCall, args: unknown): readonly string[] {
  if (!isObject(args)) return [`they must be an object, not ${describe(args)}`];
  return problemsWith(args, toolOf(call).definition.inputSchema, limits.schemaCheck);
}

/** Models write null where they mean "not given"; where the schema knows no null and does not ask for it, that is what it is. */
function withoutEmptyOnes(call: ToolCall): JsonObject | undefined {
  const { arguments: args } = call;
  if (!isObject(args) || !Object.values(args).includes(null)) return undefined;
  const { required } = toolOf(call).definition.inputSchema;
  const isAsked = (name: string) => Array.isArray(required) && required.includes(name);
  const said = Object.entries(args).filter(([name, value]) => value !== null || isAsked(name));
  const bare = Object.fromEntries(said);
  // Beside it another null may be one that the schema takes, and mean what it says.
  const isTaken = (name: string) =>
    Object.hasOwn(bare, name) || problemsOf(call, { ...bare, [name]: null }).length === 0;
  return Object.fromEntries(Object.entries(args).filter(([name]) => isTaken(name)));
}
