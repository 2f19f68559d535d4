// Owns the innermost step: the session's call, and what its answer means. Waits here for a server that is not up yet.

import { paramHeaders } from '../connection/param-headers.ts';
import type { Answer, Session } from '../connection/session.ts';
import { isObject } from '../kernel/json.ts';
import type { BuiltinAnswer } from '../model/builtin.ts';
import { type FailureData, RuntimeError } from '../model/errors.ts';
import type { ToolId } from '../model/names.ts';
import type { ContentBlock, Tool, ToolOutcome } from '../model/tool.ts';
import type { Lines } from './lines.ts';
import { type Perform, type ToolCall, toolOf } from './pipeline.ts';

/** Sent again at most once, and only what was certainly not sent, or may be done twice: a write is never repeated by accident. */
export function invoke(shared: Lines, requireStill: (tool: Tool) => void): Perform {
  return async (call) => {
    const tool = toolOf(call);
    if (call.builtin) return builtinOutcome(tool.id, await call.builtin.perform(call.arguments, call.cancellation));
    const { server } = tool.id;
    const lines = call.caller.lines ?? shared;
    const isRepeatable = lines.isRepeatable(tool);
    const open = lines.open(server);
    const session = open ?? (await connected(call, lines.whenReady(server)));
    // While it was waited for, a rule may have come, or another server under the same name.
    if (open === undefined) requireStill(tool);
    const answer = await send(session, call, lines, isRepeatable);
    if (!isWorthRepeating(answer, isRepeatable)) return outcomeOf(answer, tool, { session, lines, attempts: 1 });
    const next = await connected(call, lines.whenReplaced(server, session));
    requireStill(tool);
    const second = await send(next, call, lines, isRepeatable);
    return outcomeOf(second, tool, { session: next, lines, attempts: 2 });
  };
}

function builtinOutcome(id: ToolId, { content, structured, isError = false }: BuiltinAnswer): ToolOutcome {
  return outcome(id, content, { isError, structured, attempts: 1 });
}

/** Whoever waited in vain for a connection has sent nothing: that the time is up says nothing about an effect. */
async function connected(call: ToolCall, session: Promise<Session>): Promise<Session> {
  try {
    return await call.cancellation.race(session);
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== 'CALL_TIMEOUT') throw error;
    const { server, afterMs } = error.data as FailureData<'CALL_TIMEOUT'>;
    throw new RuntimeError('STARTUP_TIMEOUT', { server, afterMs, reason: 'a call waited for it' }, { cause: error });
  }
}

function send(session: Session, call: ToolCall, lines: Lines, repeatable: boolean): Promise<Answer> {
  const { id, definition } = toolOf(call);
  const mirrored = session.era === 'modern' && session.transport === 'http';
  return session.callTool(id.tool, call.arguments, {
    cancellation: call.cancellation,
    onProgress: call.onProgress,
    inputs: call.caller.inputs,
    meta: lines.metaFor(session),
    repeatable,
    ...(mirrored && { headers: paramHeaders(definition.inputSchema, call.arguments) }),
  });
}

/** An outage is worth a second try; what cannot be written as JSON, or is refused, is the same the second time. */
function isWorthRepeating(answer: Answer, isRepeatable: boolean): boolean {
  if (answer.kind !== 'lost' || (answer.sent && !isRepeatable)) return false;
  // Whoever answered is there, and was asked again already as far as that makes sense; but a session may have gone.
  if (answer.status !== undefined && answer.status !== 404) return false;
  return answer.cause === undefined || (answer.cause instanceof RuntimeError && answer.cause.reconnect);
}

interface Circumstances {
  readonly session: Session;
  readonly lines: Lines;
  readonly attempts: number;
}

function outcomeOf(answer: Answer, { id, freshness }: Tool, { session, lines, attempts }: Circumstances): ToolOutcome {
  const how = { attempts, fromCache: freshness === 'cached' };
  switch (answer.kind) {
    case 'result':
      return readResult(answer.result, id, how);
    case 'error':
      // The server's own "no" is an answer the model can act on, like any error of the tool itself.
      return outcome(id, [{ type: 'text', text: `MCP error ${answer.code}: ${answer.message}` }], {
        isError: true,
        ...how,
      });
    case 'lost':
      throw lossOf(answer, id, session);
    case 'oversized':
      throw new RuntimeError('MESSAGE_TOO_LARGE', { server: id.server, limitBytes: lines.maxMessageBytes(id.server) });
  }
}

function lossOf({ sent, cause }: Extract<Answer, { kind: 'lost' }>, id: ToolId, session: Session): RuntimeError {
  const known = cause instanceof RuntimeError ? cause : undefined;
  const { reason, ...report } = session.report();
  if (sent) return new RuntimeError('OUTCOME_UNKNOWN', { ...id, reason: reasonOf(known) ?? reason }, { cause });
  if (known !== undefined) return known;
  if (cause instanceof TypeError) return notJson(id, cause);
  return new RuntimeError('CONNECTION_LOST', { server: id.server, reason, ...report });
}

function reasonOf(cause: RuntimeError | undefined): string | undefined {
  return cause !== undefined && 'reason' in cause.data ? cause.data.reason : undefined;
}

function notJson(id: ToolId, cause: TypeError): RuntimeError {
  return new RuntimeError('ARGUMENTS_BAD', { ...id, problems: ['they cannot be written as JSON'] }, { cause });
}

function readResult(result: unknown, id: ToolId, how: Pick<Found, 'attempts' | 'fromCache'>): ToolOutcome {
  if (!isObject(result)) throw malformed(id, 'its result is not an object');
  const { content = [], structuredContent, isError } = result;
  if (!Array.isArray(content)) throw malformed(id, 'the content of its result is not a list');
  if (!content.every(isBlock)) throw malformed(id, 'a block of its result has no type');
  return outcome(id, content, { isError: isError === true, structured: structuredContent, ...how });
}

function isBlock(block: unknown): block is ContentBlock {
  return isObject(block) && typeof block['type'] === 'string';
}

function malformed(id: ToolId, problem: string): RuntimeError {
  return new RuntimeError('RESULT_BROKEN', { ...id, problem });
}

interface Found {
  readonly isError: boolean;
  readonly structured?: unknown;
  readonly attempts: number;
  /** The model knew the tool from an earlier start. */
  readonly fromCache?: boolean;
}

/** Not shaped yet: the text is `shape`'s work, the duration `observe`'s. */
function outcome(id: ToolId, content: readonly ContentBlock[], found: Found): ToolOutcome {
  const { isError, structured, attempts, fromCache = false } = found;
  return {
    text: '',
    content,
    attachments: [],
    ...(structured !== undefined && { structured }),
    isError,
    signals: [],
    meta: { server: id.server, tool: id.tool, durationMs: 0, attempts, fromCache },
  };
}
