// Owns the innermost step of a call: sends it over the server's session and reads the answer. A call to a server that is not up
// waits here.

import { paramHeaders } from '../connection/param-headers.ts';
import type { RequestOutcome, Session } from '../connection/session.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { BuiltinAnswer } from '../model/builtin.ts';
import { type FailureData, RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
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
    const delivery = new Delivery(call, sessions.isRepeatable(tool));
    const open = sessions.open(server);
    const session = open ?? (await connected(call, sessions, sessions.whenReady(server)));
    // During the wait a rule, the server behind the name, or the tool may have changed.
    const isBound = call.permit?.toolHash !== undefined;
    if (isBound) await connected(call, sessions, sessions.whenListed(server));
    if (open === undefined || isBound) recheckDefinition(call);
    const answer = await send(session, call, sessions, delivery);
    if (!isWorthRepeating(answer, delivery)) return outcomeOf(answer, tool, { session, sessions, delivery });
    const next = await nextSession(call, sessions, { answer, session, recheckDefinition });
    const second = await send(next, call, sessions, delivery);
    // Whatever became of the second attempt, the first one may have taken effect.
    const whole = second.kind === 'lost' && answer.sent ? { ...second, sent: true } : second;
    return outcomeOf(whole, tool, { session: next, sessions, delivery });
  };
}

/** How often a call was sent, and whether it may be sent again. */
class Delivery {
  readonly isRepeatable: boolean;
  readonly #call: ToolCall;
  #hasWaited = false;
  attempts = 0;

  constructor(call: ToolCall, isRepeatable: boolean) {
    this.#call = call;
    this.isRepeatable = isRepeatable;
  }

  /** Once after a 429, if the wait is short and the call has the time. The transport retries a repeatable call by itself. */
  readonly mayWait = (waitMs: number): boolean => {
    const { timeLeftMs, onRateLimited } = this.#call;
    if (this.isRepeatable || this.#hasWaited || waitMs > limits.rateLimit.maxMs) return false;
    if (timeLeftMs !== undefined && waitMs >= timeLeftMs()) return false;
    this.#hasWaited = true;
    onRateLimited?.(waitMs);
    return true;
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
    const next = await connected(call, sessions, sessions.whenReplaced(id.server, session));
    if (call.permit?.toolHash !== undefined) await connected(call, sessions, sessions.whenListed(id.server));
    recheckDefinition(call);
    return next;
  } catch (error) {
    throw answer.sent && error instanceof RuntimeError ? lossOf(answer, id, session) : error;
  }
}

function builtinOutcome(id: ToolId, answer: BuiltinAnswer): ToolOutcome {
  const { content, structured, isError = false, instructions } = answer;
  return outcome(id, content, { isError, structured, instructions, attempts: 1 });
}

/** A timeout while waiting for a connection is a startup timeout: nothing was sent, so no effect is in doubt. */
async function connected<Value>(call: ToolCall, sessions: SessionProvider, work: Promise<Value>): Promise<Value> {
  try {
    return await call.cancellation.race(work);
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== 'CALL_TIMEOUT') throw error;
    const { server, afterMs } = error.data as FailureData<'CALL_TIMEOUT'>;
    throw sessions.waitFailure(server, afterMs, error);
  }
}

function send(
  session: Session,
  call: ToolCall,
  sessions: SessionProvider,
  delivery: Delivery,
): Promise<RequestOutcome> {
  delivery.attempts += 1;
  call.onSent?.();
  const { id, definition } = toolOf(call);
  const mirrored = session.era === 'modern' && session.transport === 'http';
  return session.callTool(id.tool, call.arguments, {
    cancellation: call.cancellation,
    onProgress: call.onProgress,
    onSign: call.onSign,
    onWaiting: call.onWaiting,
    handlers: call.caller.handlers,
    meta: metaOf(call, sessions.metaFor(session)),
    repeatable: delivery.isRepeatable,
    onRepeat: () => (delivery.attempts += 1),
    mayWait: delivery.mayWait,
    ...(mirrored && { headers: paramHeaders(definition.inputSchema, call.arguments) }),
  });
}

/** Fields of Plexus itself count more than the host's. */
function metaOf({ meta }: ToolCall, own: JsonObject | undefined): JsonObject | undefined {
  return meta === undefined || own === undefined ? (own ?? meta) : { ...meta, ...own };
}

/** Only an outage is worth a second attempt: a refusal or an unserialisable argument fails again. */
function isWorthRepeating(answer: RequestOutcome, { isRepeatable }: Delivery): answer is LostAnswer {
  if (answer.kind !== 'lost' || (answer.sent && !isRepeatable)) return false;
  // Credentials that were refused are fetched again; where there are no others, no session follows.
  if (answer.status === 401) return !answer.sent;
  // A server that answered with a status is up, and the transport has retried it already; 404 means that the session is gone.
  if (answer.status !== undefined && answer.status !== 404) return false;
  return answer.cause === undefined || (answer.cause instanceof RuntimeError && answer.cause.reconnect);
}

interface Sent {
  readonly session: Session;
  readonly sessions: SessionProvider;
  readonly delivery: Delivery;
}

function outcomeOf(
  answer: RequestOutcome,
  { id, freshness }: Tool,
  { session, sessions, delivery }: Sent,
): ToolOutcome | Promise<ToolOutcome> {
  const how = { attempts: delivery.attempts, fromCache: freshness === 'cached' };
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
