// Owns the innermost step of a call: sends it over the server's session and reads the answer. A call to a server that is not up
// waits here.

import type { CallOptions, Progress, RequestOutcome, Session } from '../connection/session.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { type FailureData, RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ToolId } from '../model/names.ts';
import { paramHeaders } from '../model/param-headers.ts';
import type { Tool } from '../model/tool.ts';
import type { SessionProvider } from '../servers/sessions.ts';
import type { Recheck } from './authorize/recheck.ts';
import { type BuiltinCall, type OutcomeDraft, type Perform, type Relay, type ToolCall, toolOf } from './pipeline.ts';
import { outcome, readResult, relayedOutcome } from './result.ts';

type LostAnswer = Extract<RequestOutcome, { kind: 'lost' }>;

/** Sends a call again at most once, and only if it was certainly not sent or the tool is repeatable: a write is never repeated by accident. */
export function invoke(shared: SessionProvider, { recheckDefinition }: Pick<Recheck, 'recheckDefinition'>): Perform {
  return (call) => {
    const tool = toolOf(call);
    if (call.builtin) return performBuiltin(call.builtin, call, tool.id);
    const delivery = new Delivery(call, tool, call.caller.sessions ?? shared);
    const open = delivery.sessions.open(tool.id.server);
    const isBound = call.permit?.toolHash !== undefined;
    if (open !== undefined && !isBound) return deliver(delivery, open, recheckDefinition);
    return whenConnected(delivery, open, isBound).then((session) => {
      // During the wait a rule, the server behind the name, or the tool may have changed.
      recheckDefinition(call);
      return deliver(delivery, session, recheckDefinition);
    });
  };
}

type RecheckDefinition = Recheck['recheckDefinition'];

function deliver(delivery: Delivery, session: Session, recheckDefinition: RecheckDefinition): Promise<OutcomeDraft> {
  return delivery
    .send(session)
    .then((answer) =>
      isWorthRepeating(answer, delivery)
        ? repeat(delivery, { answer, session, recheckDefinition })
        : outcomeOf(answer, delivery, session),
    );
}

async function repeat(delivery: Delivery, lost: Lost): Promise<OutcomeDraft> {
  const next = await nextSession(delivery, lost);
  const second = await delivery.send(next);
  // Whatever became of the second attempt, the first one may have taken effect.
  const whole = second.kind === 'lost' && lost.answer.sent ? { ...second, sent: true } : second;
  return outcomeOf(whole, delivery, next);
}

async function whenConnected(
  { call, tool, sessions }: Delivery,
  open: Session | undefined,
  isBound: boolean,
): Promise<Session> {
  const { server } = tool.id;
  const session = open ?? (await connected(call, sessions, sessions.whenReady(server)));
  if (isBound) await connected(call, sessions, sessions.whenListed(server));
  return session;
}

/** A call on its way to the server: how often it was sent, whether it may be sent again, and what the session tells of it. */
class Delivery implements CallOptions {
  readonly repeatable: boolean;
  readonly cancellation: CallOptions['cancellation'];
  readonly handlers: CallOptions['handlers'];
  readonly relay: ToolCall['relay'];
  meta: JsonObject | undefined;
  headers: Readonly<Record<string, string>> | undefined;
  attempts = 0;
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly sessions: SessionProvider;
  #hasWaited = false;

  constructor(call: ToolCall, tool: Tool, sessions: SessionProvider) {
    this.call = call;
    this.tool = tool;
    this.sessions = sessions;
    this.repeatable = sessions.isRepeatable(tool);
    this.cancellation = call.cancellation;
    this.handlers = call.relay?.handlers ?? call.caller.handlers;
    this.relay = call.relay;
  }

  send(session: Session): Promise<RequestOutcome> {
    const { id, definition } = this.tool;
    const { arguments: args, meta, observer } = this.call;
    this.attempts += 1;
    observer?.onSent();
    this.relay?.onSent();
    this.meta = metaOf(meta, this.sessions.metaFor(session));
    const isMirrored = session.era === 'modern' && session.transport === 'http';
    this.headers = isMirrored ? paramHeaders(definition.inputSchema, args) : undefined;
    return session.callTool(id.tool, args, this);
  }

  onProgress(progress: Progress): void {
    this.call.timer?.onSign();
    this.relay?.onProgress(progress);
    this.call.observer?.onProgress(progress);
  }

  onSign(): void {
    this.call.timer?.onSign();
  }

  onWaiting(isWaiting: boolean): void {
    this.call.timer?.onWaiting(isWaiting);
  }

  onRepeat(): void {
    this.attempts += 1;
  }

  /** Once after a 429, if the wait is short and the call has the time. */
  mayWait(waitMs: number): boolean {
    const { timer, observer } = this.call;
    if (this.#hasWaited || waitMs > limits.rateLimit.maxMs) return false;
    if (timer !== undefined && waitMs >= timer.leftMs()) return false;
    this.#hasWaited = true;
    observer?.onRateLimited(waitMs);
    return true;
  }
}

interface Lost {
  readonly answer: LostAnswer;
  readonly session: Session;
  readonly recheckDefinition: RecheckDefinition;
}

/** If no new session comes, the failure of the first attempt is reported. */
async function nextSession(
  { call, tool: { id }, sessions }: Delivery,
  { answer, session, recheckDefinition }: Lost,
): Promise<Session> {
  try {
    const next = await connected(call, sessions, sessions.whenReplaced(id.server, session));
    if (call.permit?.toolHash !== undefined) await connected(call, sessions, sessions.whenListed(id.server));
    recheckDefinition(call);
    return next;
  } catch (error) {
    throw answer.sent && error instanceof RuntimeError ? lossOf(answer, id, session) : error;
  }
}

async function performBuiltin(builtin: BuiltinCall, call: ToolCall, id: ToolId): Promise<OutcomeDraft> {
  const answer = await builtin.perform(call.arguments, call.cancellation);
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

/** Fields of Plexus itself count more than the host's. */
function metaOf(meta: JsonObject | undefined, own: JsonObject | undefined): JsonObject | undefined {
  return meta === undefined || own === undefined ? (own ?? meta) : { ...meta, ...own };
}

/** Only an outage is worth a second attempt: a refusal or an unserialisable argument fails again. */
function isWorthRepeating(answer: RequestOutcome, { repeatable }: Delivery): answer is LostAnswer {
  if (answer.kind !== 'lost' || (answer.sent && !repeatable)) return false;
  // Credentials that were refused are fetched again; where there are no others, no session follows.
  if (answer.status === 401) return !answer.sent;
  // A server that answered with a status is up, and the transport has retried it already; 404 means that the session is gone.
  if (answer.status !== undefined && answer.status !== 404) return false;
  return answer.cause === undefined || (answer.cause instanceof RuntimeError && answer.cause.reconnect);
}

function outcomeOf(
  answer: RequestOutcome,
  { tool: { id, freshness }, sessions, attempts, relay }: Delivery,
  session: Session,
): OutcomeDraft | Promise<OutcomeDraft> {
  const how = { attempts, fromCache: freshness === 'cached' };
  if (relay !== undefined && isPassedOn(answer, relay)) return relayedOutcome(id, answer, how);
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

/** A client gets errors and questions as they are; the result only if it wants it whole. */
function isPassedOn(answer: RequestOutcome, { isRaw }: Relay): boolean {
  if (answer.kind === 'result') return isRaw || isQuestion(answer.result);
  return answer.kind === 'error';
}

const isQuestion = (result: unknown) => isObject(result) && result['resultType'] === 'input_required';

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
