// Owns sending a server one request without side effects, such as reading a resource: waits until the server is connected,
// sends it once more if the connection was lost, all within one time limit, and gives every failure its code.

import type { ClientHandlers } from '../../connection/requests.ts';
import type { CallOptions, RequestOutcome, Session } from '../../connection/session.ts';
import { Cancellation } from '../../kernel/cancellation.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';

/** Gives access to servers' sessions: an interface, so that a view with private connections can supply its own. */
export interface Reach {
  open(server: ServerName): Session | undefined;
  whenReady(server: ServerName): Promise<Session>;
  /** The session that replaces `lost`. */
  whenReplaced(server: ServerName, lost: Session): Promise<Session>;
  /** 0 turns the limit off. */
  callLimits(server: ServerName): { readonly totalMs: number };
  maxMessageBytes(server: ServerName): number;
}

export interface ReachDeps {
  readonly reach: Reach;
  /** Answers the requests that a server sends before it responds. */
  readonly handlers: ClientHandlers;
  readonly clock: Clock;
}

/** A caller with its own cancellation sets its own time limit; all others get the server's. */
export interface CancelOptions {
  readonly signal?: AbortSignal | undefined;
  readonly cancellation?: Cancellation | undefined;
}

export interface RetriedRequest {
  readonly server: ServerName;
  readonly method: string;
  readonly params: JsonObject;
  /** Turns the server's JSON-RPC error into a specific failure; otherwise it is REQUEST_REFUSED. */
  readonly refusal?: (code: number, reason: string) => RuntimeError | undefined;
  /** Throws if the session does not support the request. */
  readonly require?: (session: Session) => void;
  /** A gateway hands the request on: what belongs to its client, and how it is told of the server's own error. */
  readonly relayed?: Pick<CallOptions, 'relay' | 'meta' | 'onProgress'> & {
    readonly refused: (error: Extract<RequestOutcome, { kind: 'error' }>) => Error;
  };
}

/** The server's session; starts the server if it is not connected. */
export function reachSession(
  { reach, clock }: ReachDeps,
  server: ServerName,
  options: CancelOptions,
): Promise<Session> {
  return within({ reach, clock, server, what: 'the handshake' }, options, (cancellation) =>
    sessionOf(reach, server, cancellation),
  );
}

/** The server's result: an object, its contents unchecked. */
export function requestWithRetry(
  deps: ReachDeps,
  request: RetriedRequest,
  options: CancelOptions,
): Promise<JsonObject> {
  const { reach, handlers, clock } = deps;
  const { server, method, params } = request;
  return within({ reach, clock, server, what: method }, options, async (cancellation) => {
    const send = (session: Session) => {
      request.require?.(session);
      return session.requestWithInput(method, params, {
        cancellation,
        handlers,
        onProgress: ignoreProgress,
        ...request.relayed,
        repeatable: true,
      });
    };
    const session = await sessionOf(reach, server, cancellation);
    const answer = await send(session);
    if (!isWorthRepeating(answer)) return resultOf(answer, request, { reach, session });
    const next = await cancellation.race(reach.whenReplaced(server, session));
    return resultOf(await send(next), request, { reach, session: next });
  });
}

function sessionOf(reach: Reach, server: ServerName, cancellation: Cancellation): Promise<Session> {
  const open = reach.open(server);
  return open ? Promise.resolve(open) : cancellation.race(reach.whenReady(server));
}

interface LimitContext extends Pick<ReachDeps, 'reach' | 'clock'> {
  readonly server: ServerName;
  readonly what: string;
}

async function within<Value>(
  { reach, clock, server, what }: LimitContext,
  { signal, cancellation: ofCaller }: CancelOptions,
  work: (cancellation: Cancellation) => Promise<Value>,
): Promise<Value> {
  if (ofCaller) return work(ofCaller);
  signal?.throwIfAborted();
  const cancellation = new Cancellation();
  const unsubscribe = signal ? cancellation.follow(signal) : undefined;
  const { totalMs: afterMs } = reach.callLimits(server);
  const timeUp = () => cancellation.cancel(new RuntimeError('REQUEST_TIMEOUT', { server, what, afterMs }));
  const cancelTimeout = afterMs > 0 ? clock.after(afterMs, timeUp) : undefined;
  try {
    return await work(cancellation);
  } finally {
    unsubscribe?.();
    cancelTimeout?.();
  }
}

const ignoreProgress = (): void => undefined;

/** An HTTP status means that the server is reachable and the transport has retried already; 404 means that its session expired. */
function isWorthRepeating(answer: RequestOutcome): boolean {
  // Credentials that were refused are fetched again; where there are no others, no session follows.
  if (answer.kind === 'lost' && answer.status === 401) return true;
  if (answer.kind !== 'lost' || (answer.status !== undefined && answer.status !== 404)) return false;
  return answer.cause === undefined || (answer.cause instanceof RuntimeError && answer.cause.reconnect);
}

function resultOf(
  answer: RequestOutcome,
  { server, method: what, refusal, relayed }: RetriedRequest,
  { reach, session }: { readonly reach: Reach; readonly session: Session },
): JsonObject {
  switch (answer.kind) {
    case 'result':
      if (isObject(answer.result)) return answer.result;
      throw new RuntimeError('ANSWER_BROKEN', { server, what, problem: 'its answer is not an object' });
    case 'error': {
      if (relayed) throw relayed.refused(answer);
      const reason = answer.message.slice(0, limits.refusalChars);
      throw refusal?.(answer.code, reason) ?? new RuntimeError('REQUEST_REFUSED', { server, reason });
    }
    case 'lost':
      if (answer.cause instanceof RuntimeError) throw answer.cause;
      throw new RuntimeError('CONNECTION_LOST', { server, ...session.report() }, { cause: answer.cause });
    case 'oversized':
      throw new RuntimeError('MESSAGE_TOO_LARGE', { server, limitBytes: reach.maxMessageBytes(server) });
  }
}
