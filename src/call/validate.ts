// Owns checking arguments before a server is woken: that they are JSON, and that they fit the tool's schema, in words the
// model can act on.

import { isObject } from '../kernel/json.ts';
import { problemsWith } from '../kernel/json-schema.ts';
import { whyNotJson } from '../kernel/plain-json.ts';
import { describe } from '../kernel/schema-words.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { type Stage, type ToolCall, toolOf } from './pipeline.ts';
import { withoutPlaceholders } from './placeholders.ts';

/** Against the schema as the server sent it, whatever the model was shown of it. What cannot be decided here is left to the server, which checks its own arguments: the tool stays callable. */
export function validate(): Stage {
  return (next) => (call) => next(checked(call));
}

function checked(call: ToolCall): ToolCall {
  const { id, definition } = toolOf(call);
  const { arguments: args } = call;
  const odd = whyNotArguments(args);
  if (odd !== undefined) throw new RuntimeError('ARGUMENTS_BAD', { ...id, problems: [odd] });
  const problems = problemsWith(args, definition.inputSchema, limits.schemaCheck);
  if (problems.length === 0) return call;
  const given = withoutPlaceholders(args, definition.inputSchema);
  if (given === undefined) throw new RuntimeError('ARGUMENTS_BAD', { ...id, problems });
  return { ...call, arguments: given };
}

/** The host's code passes what it likes, and a model's output is not typed. */
function whyNotArguments(args: unknown): string | undefined {
  const odd = whyNotJson(args, limits.arguments);
  if (odd !== undefined) return odd;
  return isObject(args) ? undefined : `they must be an object, not ${describe(args)}`;
}
