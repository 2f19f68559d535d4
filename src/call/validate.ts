// Owns checking arguments before a server is woken: that they are JSON, and that they fit the tool's schema, in words the
// model can act on.

import { isObject } from '../kernel/json.ts';
import { problemsWith } from '../kernel/json-schema.ts';
import { copyJson } from '../kernel/plain-json.ts';
import { describe } from '../kernel/schema-words.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { type Stage, type ToolCall, toolOf } from './pipeline.ts';
import { withoutPlaceholders } from './placeholders.ts';

/** Against the schema as the server sent it, whatever the model was shown of it. What cannot be decided here is left to the server, which checks its own arguments: the tool stays callable. */
export function validate(): Stage {
  return (next) => (call) => next(checked(call));
}

/** From here on with arguments that nobody else can change. */
function checked(call: ToolCall): ToolCall {
  const { id, definition } = toolOf(call);
  const copied = copyJson(call.arguments, limits.arguments);
  if (!copied.ok) throw new RuntimeError('ARGUMENTS_BAD', { ...id, problems: [copied.problem] });
  const args = copied.value;
  // The host's code passes what it likes, and a model's output is not typed.
  if (!isObject(args)) throw new RuntimeError('ARGUMENTS_BAD', { ...id, problems: [notAnObject(args)] });
  const problems = problemsWith(args, definition.inputSchema, limits.schemaCheck);
  if (problems.length === 0) return { ...call, arguments: args };
  const given = withoutPlaceholders(args, definition.inputSchema);
  if (given === undefined) throw new RuntimeError('ARGUMENTS_BAD', { ...id, problems });
  return { ...call, arguments: given };
}

const notAnObject = (args: unknown) => `they must be an object, not ${describe(args)}`;
