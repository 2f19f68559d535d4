// Owns asking a gateway's client whether a call may be made: by elicitation, for this once or for its session, never for good. A
// client that cannot be asked has not agreed.

import { randomUUID } from 'node:crypto';
import { isObject, stringifyBounded } from '../kernel/json.ts';
import { visible } from '../kernel/shell-word.ts';
import type { ServedCall } from '../serving/service.ts';
import type { ApprovalRequest, Approve } from '../trust/approval.ts';

type ToolRequest = Extract<ApprovalRequest, { readonly kind: 'tool' }>;

const KEY = 'plexus-approval';
const SHOWN_ARGUMENTS = 1_000;

/** Whether the client can be shown a form. */
export function canFillForms({ peer: { capabilities } }: Pick<ServedCall, 'peer'>): boolean {
  const { elicitation } = capabilities;
  return isObject(elicitation) && (elicitation['form'] !== undefined || elicitation['url'] === undefined);
}

/**
 * `isSession`: the client can be told from others, so that an answer may count for its session. Each question has a name of its own: an
 * answer that a client sends along before it was asked, or once more, fits none.
 */
export function askClient(served: ServedCall, isSession: boolean): Approve {
  return async (request) => {
    if (request.kind !== 'tool' || !canFillForms(served)) return 'no';
    const offered = isSession && request.isEveryTime !== true ? ['once', 'session', 'no'] : ['once', 'no'];
    const decision = { type: 'string', title: 'May it be called?', enum: offered, enumNames: offered.map(named) };
    const requestedSchema = { type: 'object', properties: { decision }, required: ['decision'] };
    const { action, content } = await served.ask(
      'elicitation/create',
      { message: questionFor(request), requestedSchema },
      { key: `${KEY}-${randomUUID()}` },
    );
    const answer = action === 'accept' && isObject(content) ? content['decision'] : 'no';
    return answer === 'once' || (answer === 'session' && offered.includes('session')) ? answer : 'no';
  };
}

const named = (answer: string): string =>
  answer === 'once' ? 'Yes, this once' : answer === 'session' ? 'Yes, in this session' : 'No';

/** Words of servers are escaped and stay within their line, so that they cannot imitate the question. */
function questionFor({ tool, arguments: args, because, source, changes = [] }: ToolRequest): string {
  return [
    `Call the tool "${visible(tool.tool)}" of server "${visible(tool.server)}"?`,
    `Arguments: ${visible(stringifyBounded(args, SHOWN_ARGUMENTS))}`,
    `Where it comes from: ${visible(source)}`,
    `Why Plexus asks: ${visible(because)}.`,
    ...changes.map((each) => `Changed: ${visible(each)}`),
  ].join('\n');
}
