// Owns checking arguments before a server is woken: they must be JSON and fit the tool's schema. Problems are told in words that a
// model can act on.

import { isObject, type JsonObject } from '../kernel/json.ts';
import { problemsWith } from '../kernel/json-schema.ts';
import { copyJson } from '../kernel/plain-json.ts';
import { describe } from '../kernel/schema-words.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { type Stage, type ToolCall, toolOf } from './pipeline.ts';
import { withoutPlaceholders } from './placeholders.ts';

/** Checks against the schema as the server sent it. Keywords that cannot be decided here are left to the server, so the tool stays callable. */
export function validate(): Stage {
  return (next) => (call) => {
    check(call);
    return next(call);
  };
}

/** From here on the call has a copy of the arguments, which the caller can no longer change. */
function check(call: ToolCall): void {
  const { id, definition } = toolOf(call);
  const copied = copyJson(call.arguments, limits.arguments);
  call.meta = copiedMeta(call);
  if (!copied.ok) throw new RuntimeError('ARGUMENTS_BAD', { ...id, problems: [copied.problem] });
  const args = copied.value;
  // Neither a host's code nor a model's output is checked by the compiler.
  if (!isObject(args)) throw new RuntimeError('ARGUMENTS_BAD', { ...id, problems: [notAnObject(args)] });
  call.arguments = args;
  const problems = problemsWith(args, definition.inputSchema, limits.schemaCheck);
  if (problems.length === 0) return;
  const given = withoutPlaceholders(args, definition.inputSchema);
  if (given === undefined) throw new RuntimeError('ARGUMENTS_BAD', { ...id, problems });
  call.arguments = given;
}

function copiedMeta(call: ToolCall): JsonObject | undefined {
  if (call.meta === undefined) return undefined;
  const copied = copyJson(call.meta, limits.arguments);
  if (copied.ok && isObject(copied.value)) return copied.value;
  const problem = copied.ok ? notAnObject(copied.value) : copied.problem;
  throw new RuntimeError('ARGUMENTS_BAD', { ...toolOf(call).id, problems: [`of the option "meta": ${problem}`] });
}

const notAnObject = (args: unknown) => `they must be an object, not ${describe(args)}`;
