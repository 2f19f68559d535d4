// Owns the innermost step: the session's call, and what its answer means. Waits here for a server that is not up yet.

import type { Answer, Session } from '../connection/session.ts';
import { isObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName, ToolId } from '../model/names.ts';
import type { ContentBlock, ToolOutcome } from '../model/tool.ts';
import { type Perform, toolOf } from './pipeline.ts';

/** How invoke reaches servers: the session that is open, or the promise of one. */
export interface Lines {
  open(server: ServerName): Session | undefined;
  whenReady(server: ServerName): Promise<Session>;
  maxMessageBytes(server: ServerName): number;
}

export function invoke(lines: Lines): Perform {
  return async (call) => {
    const { id } = toolOf(call);
    const session = lines.open(id.server) ?? (await call.cancellation.race(lines.whenReady(id.server)));
    const answer = await session.callTool(id.tool, call.arguments, {
      cancellation: call.cancellation,
      onProgress: call.onProgress,
      inputs: call.caller.inputs,
    });
    return outcomeOf(answer, id, session, lines);
  };
}

function outcomeOf(answer: Answer, id: ToolId, session: Session, lines: Lines): ToolOutcome {
  switch (answer.kind) {
    case 'result':
      return readResult(answer.result, id);
    case 'error':
      // The server's own "no" is an answer the model can act on, like any error of the tool itself.
      return outcome(id, [{ type: 'text', text: `MCP error ${answer.code}: ${answer.message}` }], true);
    case 'lost': {
      const { reason, stderr } = session.report();
      if (answer.sent) throw new RuntimeError('OUTCOME_UNKNOWN', { ...id, reason });
      if (answer.cause instanceof RuntimeError) throw answer.cause;
      if (answer.cause instanceof TypeError) throw notJson(id, answer.cause);
      throw new RuntimeError('CONNECTION_LOST', { server: id.server, reason, ...(stderr !== undefined && { stderr }) });
    }
    case 'oversized':
      throw new RuntimeError('MESSAGE_TOO_LARGE', { server: id.server, limitBytes: lines.maxMessageBytes(id.server) });
  }
}

function notJson(id: ToolId, cause: TypeError): RuntimeError {
  return new RuntimeError('ARGUMENTS_BAD', { ...id, problems: ['they cannot be written as JSON'] }, { cause });
}

function readResult(result: unknown, id: ToolId): ToolOutcome {
  if (!isObject(result)) throw malformed(id, 'its result is not an object');
  const { content = [], structuredContent, isError } = result;
  if (!Array.isArray(content)) throw malformed(id, 'the content of its result is not a list');
  if (!content.every(isBlock)) throw malformed(id, 'a block of its result has no type');
  return outcome(id, content, isError === true, structuredContent);
}

function isBlock(block: unknown): block is ContentBlock {
  return isObject(block) && typeof block['type'] === 'string';
}

function malformed(id: ToolId, problem: string): RuntimeError {
  return new RuntimeError('PROTOCOL_BROKEN', { server: id.server, reason: `${problem} (tool "${id.tool}")` });
}

/** Not shaped yet: the text is `shape`'s work, the duration `observe`'s. */
function outcome(id: ToolId, content: readonly ContentBlock[], isError: boolean, structured?: unknown): ToolOutcome {
  return {
    text: '',
    content,
    attachments: [],
    ...(structured !== undefined && { structured }),
    isError,
    signals: [],
    meta: { server: id.server, tool: id.tool, durationMs: 0, attempts: 1, fromCache: false },
  };
}
