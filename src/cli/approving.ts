// Owns asking the person at the terminal whether a tool may be called, and what their own order is asked about at all.

import { stringifyBounded } from '../kernel/json.ts';
import { visible } from '../kernel/shell-word.ts';
import type { ServerName } from '../model/names.ts';
import type { ToolAnnotations } from '../model/tool.ts';
import type { ApprovalAnswer, ApprovalRequest, Approve } from '../trust/approval.ts';
import type { Context } from './command.ts';
import { indent } from './render/text.ts';

type ToolRequest = Extract<ApprovalRequest, { readonly kind: 'tool' }>;

export interface TerminalOptions {
  /** Where a server comes from and what runs, for people; otherwise they read what the request says. */
  readonly originOf?: (server: ServerName) => Promise<string | undefined>;
  /** There is no session beyond this one call that an answer could last for. */
  readonly isOneCall?: boolean;
}

/** Where nobody can answer, and for all but tools, it says no: what refuses then says how to allow it. */
export function askOnTerminal({ askText }: Pick<Context, 'askText'>, options: TerminalOptions = {}): Approve {
  return async (request) => {
    if (request.kind !== 'tool' || askText === undefined) return 'no';
    const source = (await options.originOf?.(request.tool.server)) ?? request.source;
    const offered = offeredFor(request, options.isOneCall === true);
    const question = questionFor({ ...request, source }, offered);
    return answerIn(await askText({ question, isHidden: false }), offered);
  };
}

/**
 * What a person types as a command is asked about only where it may destroy something by the tool's own word, where a rule
 * wants it, or where the tool is no longer what was approved.
 */
export function approveOwnOrder(
  context: Pick<Context, 'askText' | 'values'>,
  originOf?: TerminalOptions['originOf'],
): Approve {
  const ask = askOnTerminal(context, { isOneCall: true, ...(originOf && { originOf }) });
  return async (request) => {
    if (request.kind === 'tool' && (context.values['yes'] === true || !isDoubtful(request))) return 'once';
    return ask(request);
  };
}

const isDoubtful = ({ annotations, byRule, changes = [] }: ToolRequest) =>
  annotations.destructiveHint === true || byRule || changes.length > 0;

interface Offer {
  readonly answer: ApprovalAnswer;
  readonly words: readonly string[];
  readonly shown: string;
}

const ONCE: Offer = { answer: 'once', words: ['y', 'yes', 'once'], shown: '[y] once' };
const SESSION: Offer = { answer: 'session', words: ['s', 'session'], shown: '[s] in this session' };
const ALWAYS: Offer = { answer: 'always', words: ['a', 'always'], shown: '[a] always' };

/** No more than what will be kept. */
function offeredFor({ isEveryTime }: ToolRequest, isOneCall: boolean): readonly Offer[] {
  if (isEveryTime) return [ONCE];
  return isOneCall ? [ONCE, ALWAYS] : [ONCE, SESSION, ALWAYS];
}

/** Anything but a clear yes is a no, the end of the input included. */
function answerIn(typed: string | undefined, offered: readonly Offer[]): ApprovalAnswer {
  const word = typed?.trim().toLowerCase() ?? '';
  return offered.find(({ words }) => words.includes(word))?.answer ?? 'no';
}

const SHOWN_ARGUMENTS = 1_000;

/** What others wrote stands within its own line, whatever it holds. */
export function questionFor(request: ToolRequest, offered = offeredFor(request, false)): string {
  const { tool, source, annotations, because, changes = [] } = request;
  const lines = [
    `from: ${visible(source)}`,
    `arguments: ${visible(stringifyBounded(request.arguments, SHOWN_ARGUMENTS))}`,
    `by its own word: ${hintsIn(annotations)}`,
    `asked because: ${visible(because)}`,
    ...(changes.length > 0 ? ['what is different now:', ...changes.map((each) => `  ${visible(each)}`)] : []),
  ];
  return [
    `Call the tool "${visible(tool.tool)}" of server "${visible(tool.server)}"?`,
    indent(lines.join('\n')),
    `${offered.map(({ shown }) => shown).join(', ')}, [N] no:`,
  ].join('\n');
}

/** What a tool says of itself, in words. */
export function hintsIn({ readOnlyHint, destructiveHint, idempotentHint, openWorldHint }: ToolAnnotations): string {
  const words = [
    ...(destructiveHint === true ? ['it may destroy things'] : []),
    ...(destructiveHint === false ? ['it destroys nothing'] : []),
    ...(readOnlyHint === true ? ['it only reads'] : []),
    ...(readOnlyHint === false ? ['it changes things'] : []),
    ...(idempotentHint === true ? ['twice is as good as once'] : []),
    ...(openWorldHint === true ? ['it reaches out to others'] : []),
  ];
  return words.length > 0 ? words.join(', ') : 'nothing';
}
