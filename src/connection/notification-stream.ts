// Owns the streams on which a server of the modern era tells its news: opened once the session is up, opened again when they
// drop; what may have been missed meanwhile counts as changed. Servers of the older era tell theirs unasked.

import { Cancellation } from '../kernel/cancellation.ts';
import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { MessageId } from '../model/server.ts';
import type { NotificationListener, RequestOutcome, Session } from './session.ts';

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

/** `onNews` hears only what may have been missed; all other news go to whoever listens to the session. Returns how to stop. */
export function keepListChangedStream(session: Session, clock: Clock, onNews: NotificationListener): () => void {
  const kinds = changingKinds(session.capabilities);
  if (session.era !== 'modern' || kinds.length === 0) return () => undefined;
  return keepNotificationStream({
    ...{ session, clock },
    notifications: Object.fromEntries(kinds.map((kind) => [`${kind}ListChanged`, true])),
    onOpen: (_, isAgain) => {
      if (isAgain) for (const kind of kinds) onNews(`notifications/${kind}/list_changed`, {});
    },
  });
}

export interface NotificationStreamOptions {
  readonly session: Session;
  readonly clock: Clock;
  /** What is asked for, in the protocol's words. */
  readonly notifications: JsonObject;
  /** It is open, with what the server agreed to tell; `isAgain`: it had dropped, and news may have been missed. */
  readonly onOpen: (honored: JsonObject, isAgain: boolean) => void;
  /** It ended, and is opened again after a pause unless somebody stops it now. */
  readonly onEnded?: (ending: RequestOutcome) => void;
  /** The server wants no such stream; it is not asked again. */
  readonly onRefused?: (refusal: Extract<RequestOutcome, { kind: 'error' }>) => void;
}

/** A server may be asked for several; each says whose it is. Returns how to stop. */
export function keepNotificationStream({
  session,
  clock,
  notifications,
  onOpen,
  onEnded,
  onRefused,
}: NotificationStreamOptions): () => void {
  const cancellation = new Cancellation();
  let isBehind = false;
  let pauseMs: number = limits.listenAgainMs;
  let cancelPause: CancelTimer | undefined;
  let id: MessageId | undefined;

  const listen = async () => {
    const begunAt = clock.now();
    const ending = await listenOnce(session, notifications, cancellation, (given) => {
      id = given;
    });
    if (ending === undefined || cancellation.cancelled) return;
    if (ending.kind === 'error' && REFUSALS.has(ending.code)) {
      onRefused?.(ending);
      return;
    }
    onEnded?.(ending);
    isBehind = true;
    if (clock.now() - begunAt >= limits.stableMs) pauseMs = limits.listenAgainMs;
    cancelPause = clock.after(pauseMs, () => void listen(), 'background');
    pauseMs = Math.min(pauseMs * 2, limits.listenAgainMostMs);
  };
  const stopHearing = session.onNotification((method, params) => {
    if (method !== ACKNOWLEDGED || !isAbout(params, id)) return;
    const isAgain = isBehind;
    isBehind = false;
    onOpen(isObject(params['notifications']) ? params['notifications'] : {}, isAgain);
  });
  void listen();
  return () => {
    stopHearing();
    cancelPause?.();
    cancellation.cancel(new DOMException('no longer listening', 'AbortError'));
  };
}

/** One that does not say whose it is may be ours. */
function isAbout({ _meta: meta }: JsonObject, id: MessageId | undefined): boolean {
  const named = isObject(meta) ? meta[SUBSCRIPTION] : undefined;
  return named === undefined || id === undefined || String(named) === String(id);
}

/** It does not know the request, or not this one: asking again would change nothing. */
const REFUSALS = new Set([-32601, -32602]);

/** How the stream ended; nothing where we ended it ourselves. */
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

/** What the server has news of. */
function changingKinds(capabilities: JsonObject): readonly string[] {
  return ['tools', 'prompts', 'resources'].filter((kind) => {
    const capability = capabilities[kind];
    return isObject(capability) && capability['listChanged'] === true;
  });
}
