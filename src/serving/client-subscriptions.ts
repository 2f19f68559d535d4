// Owns what clients have subscribed to: resources of a legacy session, one by one, and the streams that modern clients open with
// `subscriptions/listen`. The service is told of the beginning and the end of each. Telling the subscribers is in `changes.ts`.

import { joinSignals } from '../kernel/join-signals.ts';
import type { JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import { type Changes, changeKey, honoredFilter, tagged, wantsList, wantsResource } from './changes.ts';
import type { LegacySession } from './legacy-session.ts';
import { codes, invalidRequest, ProtocolError } from './protocol.ts';
import type { RunningCall } from './running-call.ts';
import type { Peer, Service } from './service.ts';
import type { ServingRoom } from './serving-room.ts';

export interface ClientSubscriptionsOptions {
  readonly service: Service;
  readonly room: ServingRoom;
  readonly changes: Changes;
}

export class ClientSubscriptions {
  readonly #options: ClientSubscriptionsOptions;
  readonly #closing = new AbortController();
  /** Of the sessions that are open. */
  readonly #unlisten = new Map<LegacySession, () => void>();

  constructor(options: ClientSubscriptionsOptions) {
    this.#options = options;
  }

  /** Ends the streams of modern clients with their proper result. */
  close(reason: unknown): void {
    this.#closing.abort(reason);
  }

  /** Changes are told to the session from now on. */
  sessionOpened(session: LegacySession): void {
    this.#unlisten.set(session, this.#options.changes.listen(session));
  }

  /** False if the session was not open. */
  sessionClosed(session: LegacySession): boolean {
    const unlisten = this.#unlisten.get(session);
    if (unlisten === undefined) return false;
    this.#unlisten.delete(session);
    unlisten();
    for (const uri of [...session.subscriptions.keys()]) void this.unsubscribe(session, uri);
    return true;
  }

  /** A second request for the same uri is the same subscription. */
  async subscribe(session: LegacySession, uri: string): Promise<void> {
    if (!this.#unlisten.has(session)) throw invalidRequest('Invalid request: the session has ended');
    const known = session.subscriptions.get(uri);
    if (known !== undefined) return known;
    const begun = this.#begin(uri, session.peer);
    session.subscriptions.set(uri, begun);
    try {
      await begun;
    } catch (error) {
      if (session.subscriptions.get(uri) === begun) session.subscriptions.delete(uri);
      throw error;
    }
  }

  /** The service is told of the end after it has agreed to the beginning. */
  async unsubscribe(session: LegacySession, uri: string): Promise<void> {
    const begun = session.subscriptions.get(uri);
    if (begun === undefined) return;
    session.subscriptions.delete(uri);
    const [{ status }] = await Promise.allSettled([begun]);
    if (status === 'fulfilled') this.#options.service.onUnsubscribed?.(uri, session.peer);
  }

  /** Stays open until the client closes the stream or cancels, or the server stops. */
  async listen(call: RunningCall): Promise<JsonObject> {
    const { service, room, changes } = this.#options;
    const { id, peer, params, signal } = call;
    const { capabilities } = await service.offer(peer);
    const filter = honoredFilter(params, capabilities);
    if (room.subscriptions >= limits.served.subscriptions)
      throw new ProtocolError(codes.overloaded, 'Too many subscriptions are open');
    const tell = (method: string, told: JsonObject, mergeKey?: string) =>
      call.notify(method, tagged(told, id), mergeKey);
    const subscribed = new Set<string>();
    let unlisten: (() => void) | undefined;
    room.subscriptions++;
    try {
      for (const uri of new Set(filter.resourceSubscriptions)) {
        await this.#begin(uri, peer);
        subscribed.add(uri);
        signal.throwIfAborted();
      }
      tell('notifications/subscriptions/acknowledged', { notifications: filter });
      unlisten = changes.listen({
        peer,
        tell: (method, told) => tell(method, told, changeKey(method, told, id)),
        wantsList: (kind) => wantsList(filter, kind),
        wantsResource: (uri) => wantsResource(filter, uri),
      });
      if (Object.keys(filter).length > 0) await this.#untilOver(signal);
    } finally {
      room.subscriptions--;
      unlisten?.();
      for (const uri of subscribed) service.onUnsubscribed?.(uri, peer);
    }
    signal.throwIfAborted();
    return tagged({}, id);
  }

  async #begin(uri: string, peer: Peer): Promise<void> {
    await this.#options.service.onSubscribed?.(uri, peer);
  }

  async #untilOver(signal: AbortSignal): Promise<void> {
    const { signal: either, leave } = joinSignals(signal, this.#closing.signal);
    if (!either.aborted) await new Promise((resolve) => either.addEventListener('abort', resolve, { once: true }));
    leave();
  }
}
