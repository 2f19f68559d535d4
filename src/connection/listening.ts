// Owns the stream on which a server of the modern era tells its news: opened once the session is up, opened again when it drops.
// Servers of the older era tell theirs unasked.

import { Cancellation } from '../kernel/cancellation.ts';
import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { Session } from './session.ts';

/** Returns how to stop. */
export function keepListening(session: Session, clock: Clock): () => void {
  const notifications = newsOf(session.capabilities);
  if (session.era !== 'modern' || Object.keys(notifications).length === 0) return () => undefined;
  const cancellation = new Cancellation();
  let pauseMs: number = limits.listenAgainMs;
  let cancelPause: CancelTimer | undefined;

  const listen = async () => {
    const begunAt = clock.now();
    const isDropped = await listenOnce(session, notifications, cancellation);
    if (!isDropped || cancellation.cancelled) return;
    if (clock.now() - begunAt >= limits.stableMs) pauseMs = limits.listenAgainMs;
    cancelPause = clock.after(pauseMs, () => void listen(), 'background');
    pauseMs = Math.min(pauseMs * 2, limits.listenAgainMostMs);
  };
  void listen();
  return () => {
    cancelPause?.();
    cancellation.cancel(new DOMException('no longer listening', 'AbortError'));
  };
}

/** Whether the stream dropped, or was ended by a server that may be asked again; one that refuses is not. */
async function listenOnce(session: Session, notifications: JsonObject, cancellation: Cancellation): Promise<boolean> {
  try {
    const ending = await session.request('subscriptions/listen', { notifications }, { cancellation, repeatable: true });
    return ending.kind === 'lost' || ending.kind === 'result';
  } catch (error) {
    if (cancellation.cancelled) return false;
    throw error;
  }
}

/** What the server has news of, in the words of the request. */
function newsOf(capabilities: JsonObject): JsonObject {
  const changes = (kind: string) => isObject(capabilities[kind]) && capabilities[kind]['listChanged'] === true;
  return {
    ...(changes('tools') && { toolsListChanged: true }),
    ...(changes('prompts') && { promptsListChanged: true }),
    ...(changes('resources') && { resourcesListChanged: true }),
  };
}
