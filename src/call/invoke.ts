// Owns the innermost step of a call: sends it over the server's session and reads the answer. A call to a server that is not up
// waits here.

import { paramHeaders } from '../connection/param-headers.ts';
import type { RequestOutcome, Session } from '../connection/session.ts';
import type { CallOutcome } from '../connection/tool-call.ts';
import type { BuiltinAnswer } from '../model/builtin.ts';
import { type FailureData, RuntimeError } from '../model/errors.ts';
import type { ToolId } from '../model/names.ts';
import type { Tool, ToolOutcome } from '../model/tool.ts';
import type { SessionProvider } from '../servers/sessions.ts';
import type { Recheck } from './authorize/recheck.ts';
import { type Perform, type ToolCall, toolOf } from './pipeline.ts';
import { outcome, readResult } from './result.ts';

type LostAnswer = Extract<RequestOutcome, { kind: 'lost' }>;

/** Sends a call again at most once, and only if it was certainly not sent or the tool is repeatable: a write is never repeated by accident. */
export function invoke(shared: SessionProvider, { recheckDefinition }: Pick<Recheck, 'recheckDefinition'>): Perform {
  return async (call) => {
    const tool = toolOf(call);
    if (call.builtin) return builtinOutcome(tool.id, await call.builtin.perform(call.arguments, call.cancellation));
    const { server } = tool.id;
    const sessions = call.caller.sessions ?? shared;
    const isRepeatable = sessions.isRepeatable(tool);
    const open = sessions.open(server);
    const session = open ?? (await connected(call, sessions.whenReady(server)));
    // During the wait a rule, the server behind the name, or the tool may have changed.
    const isBound = call.permit?.toolHash !== undefined;
    if (isBound) await connected(call, sessions.whenListed(server));
    if (open === undefined || isBound) recheckDefinition(call);
    const answer = await send(session, call, sessions, isRepeatable);
    const { attempts = 1 } = answer;
    if (!isWorthRepeating(answer, isRepeatable)) return outcomeOf(answer, tool, { session, sessions, attempts });
    const next = await nextSession(call, sessions, { answer, session, recheckDefinition });
    const second = await send(next, call, sessions, isRepeatable);
    // Whatever became of the second attempt, the first one may have taken effect.
    const whole = second.kind === 'lost' && answer.sent ? { ...second, sent: true } : second;
    return outcomeOf(whole, tool, { session: next, sessions, attempts: attempts + (second.attempts ?? 1) });
  };
}

interface Lost {
  readonly answer: LostAnswer;
  readonly session: Session;
  readonly recheckDefinition: (call: ToolCall) => void;
}

/** If no new session comes, the failure of the first attempt is reported. */
async function nextSession(
  call: ToolCall,
  sessions: SessionProvider,
  { answer, session, recheckDefinition }: Lost,
): Promise<Session> {
  const { id } = toolOf(call);
  try {
    const next = await connected(call, sessions.whenReplaced(id.server, session));
    if (call.permit?.toolHash !== undefined) await connected(call, sessions.whenListed(id.server));
    recheckDefinition(call);
    return next;
  } catch (error) {
    throw answer.sent && error instanceof RuntimeError ? lossOf(answer, id, session) : error;
  }
}

function builtinOutcome(id: ToolId, { content, structured, isError = false }: BuiltinAnswer): ToolOutcome {
  return outcome(id, content, { isError, structured, attempts: 1 });
}

/** A timeout while waiting for a connection is a startup timeout: nothing was sent, so no effect is in doubt. */
async function connected<Value>(call: ToolCall, work: Promise<Value>): Promise<Value> {
  try {
    return await call.cancellation.race(work);
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== 'CALL_TIMEOUT') throw error;
    const { server, afterMs } = error.data as FailureData<'CALL_TIMEOUT'>;
    throw new RuntimeError('STARTUP_TIMEOUT', { server, afterMs, reason: 'a call waited for it' }, { cause: error });
  }
}

function send(session: Session, call: ToolCall, sessions: SessionProvider, repeatable: boolean): Promise<CallOutcome> {
  const { id, definition } = toolOf(call);
  const mirrored = session.era === 'modern' && session.transport === 'http';
  return session.callTool(id.tool, call.arguments, {
    cancellation: call.cancellation,
    onProgress: call.onProgress,
    onSign: call.onSign,
    onWaiting: call.onWaiting,
    handlers: call.caller.handlers,
    meta: sessions.metaFor(session),
    repeatable,
    ...(mirrored && { headers: paramHeaders(definition.inputSchema, call.arguments) }),
  });
}

/** Only an outage is worth a second attempt: a refusal or an unserialisable argument fails again. */
function isWorthRepeating(answer: RequestOutcome, isRepeatable: boolean): answer is LostAnswer {
  if (answer.kind !== 'lost' || (answer.sent && !isRepeatable)) return false;
  // A server that answered with a status is up, and the transport has retried it already; 404 means that the session is gone.
  if (answer.status !== undefined && answer.status !== 404) return false;
  return answer.cause === undefined || (answer.cause instanceof RuntimeError && answer.cause.reconnect);
}

interface Sent {
  readonly session: Session;
  readonly sessions: SessionProvider;
  readonly attempts: number;
}

function outcomeOf(
  answer: RequestOutcome,
  { id, freshness }: Tool,
  { session, sessions, attempts }: Sent,
): ToolOutcome {
  const how = { attempts, fromCache: freshness === 'cached' };
  switch (answer.kind) {
    case 'result':
      return readResult(answer.result, id, how);
    case 'error':
      // A JSON-RPC error is an answer that the model can act on, like an error of the tool itself.
      return outcome(id, [{ type: 'text', text: `MCP error ${answer.code}: ${answer.message}` }], {
        isError: true,
        ...how,
      });
    case 'lost':
      throw lossOf(answer, id, session);
    case 'oversized':
      throw new RuntimeError('MESSAGE_TOO_LARGE', {
        server: id.server,
        limitBytes: sessions.maxMessageBytes(id.server),
      });
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
