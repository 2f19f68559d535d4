// Owns asking the person at the terminal whether a tool may be called, and what their own order is asked about at all.

import type { ApprovalAnswer, ApprovalRequest, Approve } from '../call/approval.ts';
import { stringifyBounded } from '../kernel/json.ts';
import { visible } from '../kernel/shell-word.ts';
import type { ToolAnnotations } from '../model/tool.ts';
import type { Context } from './command.ts';
import { indent } from './render/text.ts';

type ToolRequest = Extract<ApprovalRequest, { readonly kind: 'tool' }>;

/** Where nobody can answer, and for all but tools, it says no: what refuses then says how to allow it. */
export function askOnTerminal({ askText }: Pick<Context, 'askText'>): Approve {
  return async (request) => {
    if (request.kind !== 'tool') return 'no';
    return answerIn(await askText?.({ question: questionFor(request), isHidden: false }));
  };
}

/**
 * What a person types as a command is asked about only where it may destroy something by the tool's own word, where a rule
 * wants it, or where the tool is no longer what was approved.
 */
export function approveOwnOrder(context: Pick<Context, 'askText' | 'values'>): Approve {
  const ask = askOnTerminal(context);
  return async (request) => {
    if (request.kind === 'tool' && (context.values['yes'] === true || !isDoubtful(request))) return 'once';
    return ask(request);
  };
}

const isDoubtful = ({ annotations, byRule, changes = [] }: ToolRequest) =>
  annotations.destructiveHint === true || byRule || changes.length > 0;

const answers: Readonly<Record<string, ApprovalAnswer>> = {
  ...{ y: 'once', yes: 'once', once: 'once', s: 'session', session: 'session', a: 'always', always: 'always' },
};

/** Anything but a clear yes is a no, the end of the input included. */
function answerIn(typed = ''): ApprovalAnswer {
  const word = typed.trim().toLowerCase();
  return Object.hasOwn(answers, word) ? (answers[word] ?? 'no') : 'no';
}

const SHOWN_ARGUMENTS = 1_000;

/** What others wrote stands within its own line, whatever it holds. */
export function questionFor(request: ToolRequest): string {
  const { tool, source, annotations, because, changes = [] } = request;
  const lines = [
    `from: ${visible(source)}`,
    `arguments: ${visible(stringifyBounded(request.arguments, SHOWN_ARGUMENTS))}`,
    `by its own word: ${hintsIn(annotations)}`,
    `asked because: ${visible(because)}`,
    ...(changes.length > 0 ? ['it is not as it was approved:', ...changes.map((each) => `  ${visible(each)}`)] : []),
  ];
  return [
    `Call the tool "${visible(tool.tool)}" of server "${visible(tool.server)}"?`,
    indent(lines.join('\n')),
    '[y] once, [s] in this session, [a] always, [N] no:',
  ].join('\n');
}

function hintsIn({ readOnlyHint, destructiveHint, idempotentHint, openWorldHint }: ToolAnnotations): string {
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
