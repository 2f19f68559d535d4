// Owns asking one server for one thing that does no harm, such as a resource: waits until it is up, asks once more where the
// connection was lost, within a limit, and gives every failure its code.

import type { ClientHandlers } from '../../connection/requests.ts';
import type { RequestOutcome, Session } from '../../connection/session.ts';
import { Cancellation } from '../../kernel/cancellation.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ServerName } from '../../model/names.ts';

/** How a server is reached: a port, so that whoever has connections of its own may bring them. */
export interface Reach {
  open(server: ServerName): Session | undefined;
  whenReady(server: ServerName): Promise<Session>;
  /** The session that comes after this one, which was lost. */
  whenReplaced(server: ServerName, lost: Session): Promise<Session>;
  /** 0 turns the limit off. */
  callLimits(server: ServerName): { readonly totalMs: number };
  maxMessageBytes(server: ServerName): number;
}

export interface ReachDeps {
  readonly reach: Reach;
  /** Who answers what a server asks on the way. */
  readonly handlers: ClientHandlers;
  readonly clock: Clock;
}

/** Who waits: whoever brings a cancellation sets its own limit, everybody else gets the server's. */
export interface Waiting {
  readonly signal?: AbortSignal | undefined;
  readonly cancellation?: Cancellation | undefined;
}

export interface Question {
  readonly server: ServerName;
  readonly method: string;
  readonly params: JsonObject;
  /** Says what the server's own "no" means; otherwise it is a refusal. */
  readonly refusal?: (code: number, reason: string) => RuntimeError | undefined;
  /** Whether the session can be asked that at all. */
  readonly require?: (session: Session) => void;
}

/** The session that is up, woken where it is not. */
export function reachSession({ reach, clock }: ReachDeps, server: ServerName, waiting: Waiting): Promise<Session> {
  return within({ reach, clock, server, what: 'the handshake' }, waiting, (cancellation) =>
    sessionOf(reach, server, cancellation),
  );
}

/** What the server answered: an object, whatever is in it. */
export function ask(deps: ReachDeps, question: Question, waiting: Waiting): Promise<JsonObject> {
  const { reach, handlers, clock } = deps;
  const { server, method, params } = question;
  return within({ reach, clock, server, what: method }, waiting, async (cancellation) => {
    const send = (session: Session) => {
      question.require?.(session);
      return session.requestWithInput(method, params, {
        cancellation,
        handlers,
        onProgress: unheard,
        repeatable: true,
      });
    };
    const session = await sessionOf(reach, server, cancellation);
    const answer = await send(session);
    if (!isWorthRepeating(answer)) return resultOf(answer, question, { reach, session });
    const next = await cancellation.race(reach.whenReplaced(server, session));
    return resultOf(await send(next), question, { reach, session: next });
  });
}

function sessionOf(reach: Reach, server: ServerName, cancellation: Cancellation): Promise<Session> {
  const open = reach.open(server);
  return open ? Promise.resolve(open) : cancellation.race(reach.whenReady(server));
}

interface Bounds extends Pick<ReachDeps, 'reach' | 'clock'> {
  readonly server: ServerName;
  readonly what: string;
}

async function within<Value>(
  { reach, clock, server, what }: Bounds,
  { signal, cancellation: given }: Waiting,
  work: (cancellation: Cancellation) => Promise<Value>,
): Promise<Value> {
  if (given) return work(given);
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

const unheard = (): void => undefined;

/** Whoever answered is there, and was asked again already as far as that makes sense; but a session may have gone. */
function isWorthRepeating(answer: RequestOutcome): boolean {
  if (answer.kind !== 'lost' || (answer.status !== undefined && answer.status !== 404)) return false;
  return answer.cause === undefined || (answer.cause instanceof RuntimeError && answer.cause.reconnect);
}

function resultOf(
  answer: RequestOutcome,
  { server, method: what, refusal }: Question,
  { reach, session }: { readonly reach: Reach; readonly session: Session },
): JsonObject {
  switch (answer.kind) {
    case 'result':
      if (isObject(answer.result)) return answer.result;
      throw new RuntimeError('ANSWER_BROKEN', { server, what, problem: 'its answer is not an object' });
    case 'error': {
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
