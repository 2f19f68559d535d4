// Owns asking the person at the terminal whether a tool may be called, and which calls that the person typed need no question.

import { visible } from '../kernel/shell-word.ts';
import type { ServerName } from '../model/names.ts';
import type { ApprovalAnswer, Approve } from '../trust/approval.ts';
import { callFacts, type ToolRequest } from '../trust/call-facts.ts';
import type { Context } from './command.ts';
import { indent } from './render/text.ts';

export interface TerminalApprovalOptions {
  /** Describes where a server is defined and what it runs. Without it, the question shows the request's own `source`. */
  readonly originOf?: (server: ServerName) => Promise<string | undefined>;
  /** The process ends after this call, so that "in this session" is not offered. */
  readonly isOneCall?: boolean;
  /** No approval is stored, so that only "once" is offered. */
  readonly isUnremembered?: boolean;
}

/** Answers no for anything but a tool, and without a terminal: the error of the refused call says how to allow it. */
export function askOnTerminal({ askText }: Pick<Context, 'askText'>, options: TerminalApprovalOptions = {}): Approve {
  return async (request, { signal }) => {
    if (request.kind !== 'tool' || askText === undefined) return 'no';
    const source = (await options.originOf?.(request.tool.server)) ?? request.source;
    const offered = offeredFor(request, options);
    const question = questionFor({ ...request, source }, offered);
    return answerIn(await askText({ question, isHidden: false, isDecision: true, signal }), offered);
  };
}

/**
 * For `plexus call`: the person typed the call, so it is asked about only if the tool states itself destructive, a rule or
 * setting asks, or the tool has changed since it was approved.
 */
export function approveTypedCall(
  context: Pick<Context, 'askText' | 'values'>,
  options: Omit<TerminalApprovalOptions, 'isOneCall'> = {},
): Approve {
  const ask = askOnTerminal(context, { isOneCall: true, ...options });
  return async (request, question) => {
    if (request.kind === 'tool' && (context.values['yes'] === true || !needsConfirmation(request))) return 'once';
    return ask(request, question);
  };
}

const needsConfirmation = ({ annotations, byRule, changes = [] }: ToolRequest) =>
  annotations.destructiveHint === true || byRule || changes.length > 0;

interface AnswerOption {
  readonly answer: ApprovalAnswer;
  readonly words: readonly string[];
  readonly shown: string;
}

const ONCE: AnswerOption = { answer: 'once', words: ['y', 'yes', 'once'], shown: '[y] yes, this once' };
const SESSION: AnswerOption = {
  answer: 'session',
  words: ['s', 'session'],
  shown: '[s] yes, until I close this session',
};
const ALWAYS: AnswerOption = {
  answer: 'always',
  words: ['a', 'always'],
  shown: '[a] yes, and do not ask again until it changes',
};

/** Offers only answers that will be honored. */
function offeredFor(
  { isEveryTime }: ToolRequest,
  { isOneCall, isUnremembered }: TerminalApprovalOptions = {},
): readonly AnswerOption[] {
  if (isEveryTime || isUnremembered) return [ONCE];
  return isOneCall ? [ONCE, ALWAYS] : [ONCE, SESSION, ALWAYS];
}

/** Anything but a clear yes is a no; so is the end of the input. */
function answerIn(typed: string | undefined, offered: readonly AnswerOption[]): ApprovalAnswer {
  const word = typed?.trim().toLowerCase() ?? '';
  return offered.find(({ words }) => words.includes(word))?.answer ?? 'no';
}

/** Text of servers and files is escaped and stays within its own line, so that it cannot imitate the question. */
export function questionFor(request: ToolRequest, offered = offeredFor(request)): string {
  const { tool } = request;
  return [
    `Call the tool "${visible(tool.tool)}" of server "${visible(tool.server)}"?`,
    indent(callFacts(request).join('\n')),
    [...offered.map(({ shown }) => shown), '[N] no:'].join('\n'),
  ].join('\n');
}
