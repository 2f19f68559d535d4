// Owns the arguments of a typed call, from its words and from `--args`. Every mistake in them is one error, with the spelling that works.

import type { JsonObject } from '../kernel/json.ts';
import { type FailureData, RuntimeError } from '../model/errors.ts';
import type { Tool } from '../model/tool.ts';
import { parseArgumentsJson, readText, readTextFile } from './arguments.ts';
import { type AskedTool, callLine } from './asked-tool.ts';
import type { Context } from './command.ts';
import { type ArgumentProblem, insteadText, readArguments } from './parameters/argument-words.ts';
import { readParameters } from './parameters/parameters.ts';
import { corrections } from './parameters/spell.ts';

interface GivenArguments {
  readonly fromOption: JsonObject;
  readonly words: readonly string[];
  readonly asked: AskedTool;
  readonly context: Context;
}

export async function argumentsFor(
  tool: Tool,
  { fromOption, words, asked, context }: GivenArguments,
): Promise<JsonObject> {
  const parameters = readParameters(tool.definition.inputSchema);
  const { args, problems } = await readArguments(words, parameters, (file) => readTextFile(file, context));
  if (problems.length > 0) throw badArguments(tool, problems, { asked, context });
  return { ...fromOption, ...args };
}

interface RefusedCall extends Pick<GivenArguments, 'asked' | 'context'> {
  readonly tool: Tool;
  readonly args: JsonObject;
}

/** Adds the spelling that works to what the schema says is wrong. */
export function withSpelling(error: unknown, call: RefusedCall): unknown {
  if (!(error instanceof RuntimeError) || error.code !== 'ARGUMENTS_BAD') return error;
  const { tool, args } = call;
  const { problems } = error.data as FailureData<'ARGUMENTS_BAD'>;
  const instead = corrections(args, tool.definition.inputSchema);
  return badArguments(
    tool,
    problems.map((text, at) => ({ text, ...(at === 0 && instead && { instead }) })),
    call,
  );
}

function badArguments(
  { id }: Tool,
  problems: readonly ArgumentProblem[],
  { asked, context }: Pick<GivenArguments, 'asked' | 'context'>,
): RuntimeError {
  const pointer = `All parameters: ${callLine(asked, ['--help'], context)}`;
  const spelled = insteadText(problems);
  const instead = spelled === undefined ? pointer : `${spelled}. ${pointer}`;
  return new RuntimeError('ARGUMENTS_BAD', { ...id, problems: problems.map(({ text }) => text), instead });
}

export async function argumentsFrom(context: Context): Promise<JsonObject> {
  const option = context.values['args'];
  if (typeof option !== 'string') return {};
  const { text, source } = await readText(option, '--args', context);
  return parseArgumentsJson(text, source);
}
