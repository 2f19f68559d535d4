// Owns checking arguments before a server is woken: they must be JSON and fit the tool's schema, if need be after a repair that
// `repair.ts` is sure of. Problems are told in words that a model can act on.

import { isObject } from '../kernel/json.ts';
import { problemsWith } from '../kernel/json-schema.ts';
import { copyJson } from '../kernel/plain-json.ts';
import { describe } from '../kernel/schema-words.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ArgumentRepair } from '../model/tool.ts';
import { type Stage, type ToolCall, toolOf } from './pipeline.ts';
import { repairArguments } from './repair.ts';

/**
 * Checks against the schema as the server sent it. Keywords that cannot be decided here are left to the server, so the tool stays
 * callable. Rules, people and the server see the arguments as they are behind this stage.
 */
export function validate(): Stage {
  return (next) => (call) => {
    // Arguments that a gateway passes on were read from JSON, and are their server's to check.
    if (call.relay?.isRaw && !call.builtin) return next(call);
    const checked = check(call);
    if (checked === FITTING) return next(call);
    const { problems, repairs } = checked;
    if (problems.length > 0) throw new RuntimeError('ARGUMENTS_BAD', { ...toolOf(call).id, problems });
    return next(call).then((outcome) => {
      outcome.meta.repaired = repairs;
      return outcome;
    });
  };
}

/** For a call that is only asked about: repairs its arguments as `validate` would, and leaves those that it would refuse as they are. */
export function repairCall(call: ToolCall): void {
  check(call);
}

interface Checked {
  readonly problems: readonly string[];
  readonly repairs: readonly ArgumentRepair[];
}

const FITTING: Checked = { problems: [], repairs: [] };
const refused = (...problems: readonly string[]): Checked => ({ problems, repairs: [] });

/** Unless they are refused, the call has a copy of the arguments from here on, which the caller can no longer change. */
function check(call: ToolCall): Checked {
  const copied = copyJson(call.arguments, limits.arguments);
  const metaProblem = copyMeta(call);
  if (metaProblem !== undefined) return refused(metaProblem);
  if (!copied.ok) return refused(copied.problem);
  const args = copied.value;
  // Neither a host's code nor a model's output is checked by the compiler.
  if (!isObject(args)) return refused(notAnObject(args));
  call.arguments = args;
  const { inputSchema } = toolOf(call).definition;
  const problems = problemsWith(args, inputSchema, limits.schemaCheck);
  if (problems.length === 0) return FITTING;
  const repaired = repairArguments(args, inputSchema);
  if (repaired === undefined) return { problems, repairs: [] };
  call.arguments = repaired.arguments;
  return { problems: [], repairs: repaired.repairs };
}

function copyMeta(call: ToolCall): string | undefined {
  if (call.meta === undefined) return undefined;
  const copied = copyJson(call.meta, limits.arguments);
  if (!copied.ok) return `of the option "meta": ${copied.problem}`;
  if (!isObject(copied.value)) return `of the option "meta": ${notAnObject(copied.value)}`;
  call.meta = copied.value;
  return undefined;
}

const notAnObject = (args: unknown) => `they must be an object, not ${describe(args)}`;
