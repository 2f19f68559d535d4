// Owns the innermost step: the session's call, and what its answer means. Waits here for a server that is not up yet.

import { paramHeaders } from '../connection/param-headers.ts';
import type { Answer, Session } from '../connection/session.ts';
import type { CallAnswer } from '../connection/tool-call.ts';
import type { BuiltinAnswer } from '../model/builtin.ts';
import { type FailureData, RuntimeError } from '../model/errors.ts';
import type { ToolId } from '../model/names.ts';
import type { Tool, ToolOutcome } from '../model/tool.ts';
import type { Lines } from './lines.ts';
import { type Perform, type ToolCall, toolOf } from './pipeline.ts';
import { outcome, readResult } from './result.ts';

type LostAnswer = Extract<Answer, { kind: 'lost' }>;

/** Sent again at most once, and only what was certainly not sent, or may be done twice: a write is never repeated by accident. */
export function invoke(shared: Lines, requireStill: (call: ToolCall) => void): Perform {
  return async (call) => {
    const tool = toolOf(call);
    if (call.builtin) return builtinOutcome(tool.id, await call.builtin.perform(call.arguments, call.cancellation));
    const { server } = tool.id;
    const lines = call.caller.lines ?? shared;
    const isRepeatable = lines.isRepeatable(tool);
    const open = lines.open(server);
    const session = open ?? (await connected(call, lines.whenReady(server)));
    // While it was waited for, a rule may have come, another server under the same name, or another tool.
    const isBound = call.permit?.form !== undefined;
    if (isBound) await connected(call, lines.whenListed(server));
    if (open === undefined || isBound) requireStill(call);
    const answer = await send(session, call, lines, isRepeatable);
    const { attempts = 1 } = answer;
    if (!isWorthRepeating(answer, isRepeatable)) return outcomeOf(answer, tool, { session, lines, attempts });
    const next = await nextSession(call, lines, { answer, session, requireStill });
    const second = await send(next, call, lines, isRepeatable);
    // However the second went: the first may have been done.
    const whole = second.kind === 'lost' && answer.sent ? { ...second, sent: true } : second;
    return outcomeOf(whole, tool, { session: next, lines, attempts: attempts + (second.attempts ?? 1) });
  };
}

interface Lost {
  readonly answer: LostAnswer;
  readonly session: Session;
  readonly requireStill: (call: ToolCall) => void;
}

/** Where none comes, what became of the first attempt is all there is to say. */
async function nextSession(call: ToolCall, lines: Lines, { answer, session, requireStill }: Lost): Promise<Session> {
  const { id } = toolOf(call);
  try {
    const next = await connected(call, lines.whenReplaced(id.server, session));
    if (call.permit?.form !== undefined) await connected(call, lines.whenListed(id.server));
    requireStill(call);
    return next;
  } catch (error) {
    throw answer.sent && error instanceof RuntimeError ? lossOf(answer, id, session) : error;
  }
}

function builtinOutcome(id: ToolId, { content, structured, isError = false }: BuiltinAnswer): ToolOutcome {
  return outcome(id, content, { isError, structured, attempts: 1 });
}

/** Whoever waited in vain for a connection has sent nothing: that the time is up says nothing about an effect. */
async function connected<Value>(call: ToolCall, work: Promise<Value>): Promise<Value> {
  try {
    return await call.cancellation.race(work);
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== 'CALL_TIMEOUT') throw error;
    const { server, afterMs } = error.data as FailureData<'CALL_TIMEOUT'>;
    throw new RuntimeError('STARTUP_TIMEOUT', { server, afterMs, reason: 'a call waited for it' }, { cause: error });
  }
}

function send(session: Session, call: ToolCall, lines: Lines, repeatable: boolean): Promise<CallAnswer> {
  const { id, definition } = toolOf(call);
  const mirrored = session.era === 'modern' && session.transport === 'http';
  return session.callTool(id.tool, call.arguments, {
    cancellation: call.cancellation,
    onProgress: call.onProgress,
    onSign: call.onSign,
    onWaiting: call.onWaiting,
    handlers: call.caller.handlers,
    meta: lines.metaFor(session),
    repeatable,
    ...(mirrored && { headers: paramHeaders(definition.inputSchema, call.arguments) }),
  });
}

/** An outage is worth a second try; what cannot be written as JSON, or is refused, is the same the second time. */
function isWorthRepeating(answer: Answer, isRepeatable: boolean): answer is LostAnswer {
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

function lossOf({ sent, cause }: LostAnswer, id: ToolId, session: Session): RuntimeError {
  const known = cause instanceof RuntimeError ? cause : undefined;
  const { reason, ...report } = session.report();
  if (sent) return new RuntimeError('OUTCOME_UNKNOWN', { ...id, reason: reasonOf(known) ?? reason }, { cause });
  if (known !== undefined) return known;
  if (cause instanceof TypeError || cause instanceof RangeError) return notJson(id, cause);
  return new RuntimeError('CONNECTION_LOST', { server: id.server, reason, ...report });
}

function reasonOf(cause: RuntimeError | undefined): string | undefined {
  return cause !== undefined && 'reason' in cause.data ? cause.data.reason : undefined;
}

function notJson(id: ToolId, cause: Error): RuntimeError {
  return new RuntimeError('ARGUMENTS_BAD', { ...id, problems: ['they cannot be written as JSON'] }, { cause });
}
