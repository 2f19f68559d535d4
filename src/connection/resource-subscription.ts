// Owns how one session is asked for resource updates: a legacy server by one `resources/subscribe` for each resource, a modern
// server by one stream that names them all. A refusal is returned, not thrown.

import type { Clock } from '../kernel/clock.ts';
import { createDeferred } from '../kernel/deferred.ts';
import { isObject } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { keepNotificationStream } from './notification-stream.ts';
import { requestWithin } from './request-within.ts';
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

/** The server opened the stream, but did not agree to report this resource. */
export const updatesNotPromised = (server: ServerName) =>
  new RuntimeError('NOT_OFFERED', { server, what: 'it does not tell when that resource changes' });

/** The server ended the stream before it agreed to anything. */
const streamEndedAtOnce = (server: ServerName) =>
  new RuntimeError('NOT_OFFERED', { server, what: 'it ended the stream of resource updates at once' });

/** Returns the refusal, or undefined if the server agreed. */
export async function subscribeTo(deps: SubscriptionDeps, uri: string): Promise<RuntimeError | undefined> {
  const { server, session } = deps;
  const outcome = await requestWithin(limits.subscribeMs, deps, 'resources/subscribe', { uri });
  if (outcome === undefined) return consentTimeout(server, 'resources/subscribe');
  if (outcome.kind === 'error') return refusal(server, outcome, uri);
  if (outcome.kind !== 'lost') return undefined;
  if (outcome.cause instanceof RuntimeError) return outcome.cause;
  return new RuntimeError('CONNECTION_LOST', { server, ...session.report() });
}

/** The server's answer does not matter: no listener is left. */
export async function unsubscribeFrom(deps: SubscriptionDeps, uri: string): Promise<void> {
  await requestWithin(limits.subscribeMs, deps, 'resources/unsubscribe', { uri });
}

export interface UpdateStreamOptions {
  readonly uris: ReadonlySet<string>;
  /** The stream had dropped and is open again: updates may have been missed. */
  readonly onMissed: () => void;
}

export interface UpdateStream {
  readonly stop: () => void;
  /** The resources that the server agreed to report, or why there are none. Settles within a time limit. */
  readonly agreed: Promise<ReadonlySet<unknown> | RuntimeError>;
}

export function openUpdateStream(
  { server, session, clock }: SubscriptionDeps,
  { uris, onMissed }: UpdateStreamOptions,
): UpdateStream {
  const agreed = createDeferred<ReadonlySet<unknown> | RuntimeError>();
  const stopStream = keepNotificationStream({
    session,
    clock,
    notifications: { resourceSubscriptions: [...uris] },
    onOpen: ({ resourceSubscriptions: honored }, isAgain) => {
      agreed.resolve(new Set(Array.isArray(honored) ? honored : []));
      if (isAgain) onMissed();
    },
    onEnded: (ending) => {
      // A stream that was lost is opened again; a server that answered has refused.
      if (ending.kind === 'error') agreed.resolve(refusal(server, ending));
      else if (ending.kind === 'result') agreed.resolve(streamEndedAtOnce(server));
    },
    onRefused: (error) => agreed.resolve(refusal(server, error)),
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

const consentTimeout = (server: ServerName, what: string) =>
  new RuntimeError('REQUEST_TIMEOUT', { server, what, afterMs: limits.subscribeMs, isFixed: true });

const RESOURCE_NOT_FOUND = -32002;

function refusal(server: ServerName, { code, message }: Extract<RequestOutcome, { kind: 'error' }>, uri?: string) {
  const reason = message.slice(0, limits.refusalChars);
  return code === RESOURCE_NOT_FOUND && uri !== undefined
    ? new RuntimeError('RESOURCE_UNKNOWN', { server, uri, nearest: [], because: reason })
    : new RuntimeError('REQUEST_REFUSED', { server, reason });
}
