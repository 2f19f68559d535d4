// Owns the `subscriptions/listen` streams on which a modern server sends notifications: opened once the session is up, and
// again after they drop; what may have been missed meanwhile counts as changed. Legacy servers notify without a stream.

import { Cancellation } from '../kernel/cancellation.ts';
import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { MessageId } from '../model/server.ts';
import type { NotificationListener, RequestOutcome, Session } from './session.ts';

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

/**
 * Keeps a stream for all `list_changed` notifications open. `onMissed` is called only for changes that may have been missed;
 * the notifications themselves reach the listeners of the session. Returns how to stop.
 */
export function keepListChangedStream(session: Session, clock: Clock, onMissed: NotificationListener): () => void {
  const kinds = changingKinds(session.capabilities);
  if (session.era !== 'modern' || kinds.length === 0) return () => undefined;
  return keepNotificationStream({
    session,
    clock,
    notifications: Object.fromEntries(kinds.map((kind) => [`${kind}ListChanged`, true])),
    onOpen: (_, isAgain) => {
      if (isAgain) for (const kind of kinds) onMissed(`notifications/${kind}/list_changed`, {});
    },
  });
}

export interface NotificationStreamOptions {
  readonly session: Session;
  readonly clock: Clock;
  /** The `notifications` parameter of `subscriptions/listen`. */
  readonly notifications: JsonObject;
  /** The stream is open. `honored`: what the server agreed to. `isAgain`: it had dropped, and notifications may be missing. */
  readonly onOpen: (honored: JsonObject, isAgain: boolean) => void;
  /** The stream ended. It is opened again after a pause, unless it is stopped. */
  readonly onEnded?: (ending: RequestOutcome) => void;
  /** The server refused the stream; it is not asked again. */
  readonly onRefused?: (refusal: Extract<RequestOutcome, { kind: 'error' }>) => void;
}

/** One session may have several streams; each acknowledgement names its own. Returns how to stop. */
export function keepNotificationStream({
  session,
  clock,
  notifications,
  onOpen,
  onEnded,
  onRefused,
}: NotificationStreamOptions): () => void {
  const cancellation = new Cancellation();
  let hasDropped = false;
  let pauseMs: number = limits.listenAgainMs;
  let cancelPause: CancelTimer | undefined;
  let id: MessageId | undefined;

  const listen = async () => {
    const begunAt = clock.now();
    const ending = await listenOnce(session, notifications, cancellation, (requestId) => {
      id = requestId;
    });
    if (ending === undefined || cancellation.cancelled) return;
    if (ending.kind === 'error' && REFUSALS.has(ending.code)) {
      onRefused?.(ending);
      return;
    }
    onEnded?.(ending);
    hasDropped = true;
    if (clock.now() - begunAt >= limits.stableMs) pauseMs = limits.listenAgainMs;
    cancelPause = clock.after(pauseMs, () => void listen(), 'background');
    pauseMs = Math.min(pauseMs * 2, limits.listenAgainMostMs);
  };
  const unsubscribe = session.onNotification((method, params) => {
    if (method !== ACKNOWLEDGED || !isAbout(params, id)) return;
    const isAgain = hasDropped;
    hasDropped = false;
    onOpen(isObject(params['notifications']) ? params['notifications'] : {}, isAgain);
  });
  void listen();
  return () => {
    unsubscribe();
    cancelPause?.();
    cancellation.cancel(new DOMException('no longer listening', 'AbortError'));
  };
}

/** An acknowledgement without a subscription id may belong to this stream. */
function isAbout({ _meta: meta }: JsonObject, id: MessageId | undefined): boolean {
  const named = isObject(meta) ? meta[SUBSCRIPTION] : undefined;
  return named === undefined || id === undefined || String(named) === String(id);
}

/** "Method not found" and "invalid params": the same request would be refused again. */
const REFUSALS = new Set([-32601, -32602]);

/** Resolves with how the stream ended, or with undefined if we cancelled it. */
async function listenOnce(
  session: Session,
  notifications: JsonObject,
  cancellation: Cancellation,
  onId: (id: MessageId) => void,
): Promise<RequestOutcome | undefined> {
  try {
    return await session.request('subscriptions/listen', { notifications }, { cancellation, repeatable: true, onId });
  } catch (error) {
    if (cancellation.cancelled) return undefined;
    throw error;
  }
}

/** The lists whose changes the server reports. */
function changingKinds(capabilities: JsonObject): readonly string[] {
  return ['tools', 'prompts', 'resources'].filter((kind) => {
    const capability = capabilities[kind];
    return isObject(capability) && capability['listChanged'] === true;
  });
}
