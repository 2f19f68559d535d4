// Owns the stream on which a server of the modern era tells its news: opened once the session is up, opened again when it
// drops; what may have been missed meanwhile counts as changed. Servers of the older era tell theirs unasked.

import { Cancellation } from '../kernel/cancellation.ts';
import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { NotificationListener, Session } from './session.ts';

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** `onNews` hears only what may have been missed; all other news go to whoever listens to the session. Returns how to stop. */
export function keepListening(session: Session, clock: Clock, onNews: NotificationListener): () => void {
  const kinds = changingKinds(session.capabilities);
  if (session.era !== 'modern' || kinds.length === 0) return () => undefined;
  const notifications = Object.fromEntries(kinds.map((kind) => [`${kind}ListChanged`, true]));
  const cancellation = new Cancellation();
  let isBehind = false;
  let pauseMs: number = limits.listenAgainMs;
  let cancelPause: CancelTimer | undefined;

  const listen = async () => {
    const begunAt = clock.now();
    const isDropped = await listenOnce(session, notifications, cancellation);
    if (!isDropped || cancellation.cancelled) return;
    isBehind = true;
    if (clock.now() - begunAt >= limits.stableMs) pauseMs = limits.listenAgainMs;
    cancelPause = clock.after(pauseMs, () => void listen(), 'background');
    pauseMs = Math.min(pauseMs * 2, limits.listenAgainMostMs);
  };
  const stopHearing = session.onNotification((method) => {
    if (method !== ACKNOWLEDGED || !isBehind) return;
    isBehind = false;
    for (const kind of kinds) onNews(`notifications/${kind}/list_changed`, {});
  });
  void listen();
  return () => {
    stopHearing();
    cancelPause?.();
    cancellation.cancel(new DOMException('no longer listening', 'AbortError'));
  };
}

/** It does not know the request, or not this one: asking again would change nothing. */
const REFUSALS = new Set([-32601, -32602]);

/** Whether the stream dropped, or was ended by a server that may be asked again; one that refuses is not. */
async function listenOnce(session: Session, notifications: JsonObject, cancellation: Cancellation): Promise<boolean> {
  try {
    const ending = await session.request('subscriptions/listen', { notifications }, { cancellation, repeatable: true });
    return ending.kind !== 'error' || !REFUSALS.has(ending.code);
  } catch (error) {
    if (cancellation.cancelled) return false;
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
