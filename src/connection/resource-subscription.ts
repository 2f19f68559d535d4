// Owns asking one session to tell of resources: a server of the older era resource by resource, a modern one for a stream
// that names them all. A refusal is an answer here; none of this throws.

import { Cancellation } from '../kernel/cancellation.ts';
import type { Clock } from '../kernel/clock.ts';
import { createDeferred } from '../kernel/deferred.ts';
import { isObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { keepNotificationStream } from './notification-stream.ts';
import type { RequestOutcome, Session } from './session.ts';

interface SubscriptionDeps {
  readonly server: ServerName;
  readonly session: Session;
  readonly clock: Clock;
}

export function canSubscribe({ capabilities: { resources } }: Session): boolean {
  return isObject(resources) && resources['subscribe'] === true;
}

export function requireSubscriptions(server: ServerName, session: Session): void {
  if (canSubscribe(session)) return;
  throw new RuntimeError('NOT_OFFERED', { server, what: 'it does not tell when a resource changes' });
}

/** The server opened the stream without promising this one. */
export const updatesNotPromised = (server: ServerName) =>
  new RuntimeError('NOT_OFFERED', { server, what: 'it does not tell when that resource changes' });

/** The server ended the stream without promising anything. */
const streamEndedAtOnce = (server: ServerName) =>
  new RuntimeError('NOT_OFFERED', { server, what: 'it ended the stream of its news at once' });

/** Why it was refused, if it was. */
export async function subscribeTo(line: SubscriptionDeps, uri: string): Promise<RuntimeError | undefined> {
  const { server, session } = line;
  const answer = await askBriefly(line, 'resources/subscribe', uri);
  if (answer === undefined) return consentTimeout(server, 'resources/subscribe');
  if (answer.kind === 'error') return refusal(server, answer, uri);
  if (answer.kind !== 'lost') return undefined;
  if (answer.cause instanceof RuntimeError) return answer.cause;
  return new RuntimeError('CONNECTION_LOST', { server, ...session.report() });
}

/** Whatever it answers, nobody listens any more. */
export async function unsubscribeFrom(line: SubscriptionDeps, uri: string): Promise<void> {
  await askBriefly(line, 'resources/unsubscribe', uri);
}

export interface UpdateStreamOptions {
  readonly uris: ReadonlySet<string>;
  /** The stream had dropped and is open again: news may have been missed. */
  readonly onMissed: () => void;
}

export interface UpdateStream {
  readonly stop: () => void;
  /** Which of them the server promised to tell of, or why none. Nobody waits for it for ever. */
  readonly agreed: Promise<ReadonlySet<unknown> | RuntimeError>;
}

export function openUpdateStream(
  { server, session, clock }: SubscriptionDeps,
  { uris, onMissed }: UpdateStreamOptions,
): UpdateStream {
  const agreed = createDeferred<ReadonlySet<unknown> | RuntimeError>();
  const stopStream = keepNotificationStream({
    ...{ session, clock },
    notifications: { resourceSubscriptions: [...uris] },
    onOpen: ({ resourceSubscriptions: honored }, isAgain) => {
      agreed.resolve(new Set(Array.isArray(honored) ? honored : []));
      if (isAgain) onMissed();
    },
    onEnded: (ending) => {
      // One that is lost on its way is worth another try; who answers has said no.
      if (ending.kind === 'error') agreed.resolve(refusal(server, ending));
      else if (ending.kind === 'result') agreed.resolve(streamEndedAtOnce(server));
    },
    onRefused: (answer) => agreed.resolve(refusal(server, answer)),
  });
  const timeUp = () => agreed.resolve(consentTimeout(server, 'subscriptions/listen'));
  const cancel = clock.after(limits.subscribeMs, timeUp, 'background');
  void session.ended.then(agreed.resolve);
  const stop = () => {
    stopStream();
    agreed.resolve(new Set());
  };
  return { stop, agreed: agreed.promise.finally(cancel) };
}

/** No server may keep us waiting for a word of consent; nothing where it took too long. */
async function askBriefly(
  { session, clock }: SubscriptionDeps,
  method: string,
  uri: string,
): Promise<RequestOutcome | undefined> {
  const cancellation = new Cancellation();
  const tooLong = new DOMException('it takes too long', 'TimeoutError');
  const cancel = clock.after(limits.subscribeMs, () => cancellation.cancel(tooLong), 'background');
  try {
    return await session.request(method, { uri }, { cancellation, repeatable: true });
  } catch (error) {
    if (error === tooLong) return undefined;
    throw error;
  } finally {
    cancel();
  }
}

const consentTimeout = (server: ServerName, what: string) =>
  new RuntimeError('REQUEST_TIMEOUT', { server, what, afterMs: limits.subscribeMs, isFixed: true });

const RESOURCE_NOT_FOUND = -32002;

function refusal(server: ServerName, { code, message }: Extract<RequestOutcome, { kind: 'error' }>, uri?: string) {
  const reason = message.slice(0, limits.refusalChars);
  return code === RESOURCE_NOT_FOUND && uri !== undefined
    ? new RuntimeError('RESOURCE_UNKNOWN', { server, uri, nearest: [], because: reason })
    : new RuntimeError('REQUEST_REFUSED', { server, reason });
}
