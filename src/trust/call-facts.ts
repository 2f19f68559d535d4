// Owns what a person reads of a call before deciding about it, wherever the person is asked. Text of servers and files is escaped
// and stays within its own line.

import { stringifyBounded } from '../kernel/json.ts';
import { visible } from '../kernel/shell-word.ts';
import type { ToolAnnotations } from '../model/tool.ts';
import type { ApprovalRequest } from './approval.ts';

export type ToolRequest = Extract<ApprovalRequest, { readonly kind: 'tool' }>;

const SHOWN_ARGUMENTS = 1_000;

/** One line each, but for the name of the tool, which stands in the question. */
export function callFacts(request: ToolRequest): readonly string[] {
  const { source, annotations, because, changes = [] } = request;
  const hints = describeHints(annotations);
  return [
    `With these arguments: ${visible(stringifyBounded(request.arguments, SHOWN_ARGUMENTS))}`,
    hints === '' ? 'The server does not say what it does to your data.' : `The server says: ${hints}.`,
    `The server comes from: ${visible(source)}`,
    `Why you are asked: ${visible(because)}.`,
    ...(changes.length > 0 ? ['Changed since you approved it:', ...changes.map((each) => `  ${visible(each)}`)] : []),
  ];
}

/** The hints of a tool's annotations, in words; empty where it gives none. */
export function describeHints({
  readOnlyHint,
  destructiveHint,
  idempotentHint,
  openWorldHint,
}: ToolAnnotations): string {
  const words = [
    ...(destructiveHint === true ? ['it may destroy data'] : []),
    ...(destructiveHint === false ? ['it destroys no data'] : []),
    ...(readOnlyHint === true ? ['it only reads'] : []),
    ...(readOnlyHint === false ? ['it changes data'] : []),
    ...(idempotentHint === true ? ['repeating it changes nothing more'] : []),
    ...(openWorldHint === true ? ['it reaches external systems'] : []),
  ];
  return words.join(', ');
}
