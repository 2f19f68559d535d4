// Owns asking the client of a served agent whether a tool may be called. A client that cannot be asked has said no, at once.

import { visible } from '../kernel/shell-word.ts';
import { ProtocolError, type ServedCall } from '../serving/door.ts';
import type { Approve } from '../trust/approval.ts';
import { callFacts, type ToolRequest } from '../trust/call-facts.ts';

/**
 * `current`: the call that the agent works for. A client never approves a server, nor a tool for good: both would count for
 * others too.
 */
export function approveByClient(current: () => ServedCall | undefined): Approve {
  return async (request) => {
    const call = current();
    if (call === undefined || request.kind !== 'tool') return 'no';
    try {
      const { action, content } = await call.ask('elicitation/create', questionFor(request));
      const { decision } = Object(content);
      return action === 'accept' && (decision === 'once' || decision === 'session') ? decision : 'no';
    } catch (error) {
      if (error instanceof ProtocolError) return 'no';
      throw error;
    }
  };
}

function questionFor(request: ToolRequest) {
  const { tool, isEveryTime } = request;
  const question = `The agent wants to call the tool "${visible(tool.tool)}" of server "${visible(tool.server)}".`;
  const decision = {
    type: 'string',
    title: 'Decision',
    description: isEveryTime
      ? 'once: this call. no: refuse it.'
      : 'once: this call. session: until the conversation is closed. no: refuse it.',
    enum: isEveryTime ? ['once', 'no'] : ['once', 'session', 'no'],
  };
  return {
    message: [question, ...callFacts(request)].join('\n'),
    requestedSchema: { type: 'object', properties: { decision }, required: ['decision'] },
  };
}
