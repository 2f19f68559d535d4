// Owns telling clients that a list or a resource has changed: legacy sessions by notification, modern clients on the streams that
// they opened with `subscriptions/listen`, each for exactly what it asked for.

import { isObject, type JsonObject } from '../kernel/json.ts';
import type { MessageId } from '../model/server.ts';
import { CHANGE } from './outbox.ts';
import { invalidParams, metaKeys } from './protocol.ts';
import type { Peer } from './service.ts';

export type ChangedList = 'tools' | 'prompts' | 'resources';
export type IsMeant = (peer: Peer) => boolean;

/** One client that is told of changes. */
export interface ChangeListener {
  readonly peer: Peer;
  wantsList(kind: ChangedList): boolean;
  wantsResource(uri: string): boolean;
  tell(method: string, params: JsonObject): void;
}

export class Changes {
  readonly #listeners = new Set<ChangeListener>();

  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  listChanged(kind: ChangedList, isMeant: IsMeant = everyone): void {
    for (const listener of this.#listeners)
      if (listener.wantsList(kind) && isMeant(listener.peer)) listener.tell(`notifications/${kind}/list_changed`, {});
  }

  resourceUpdated(uri: string, isMeant: IsMeant = everyone): void {
    for (const listener of this.#listeners)
      if (listener.wantsResource(uri) && isMeant(listener.peer))
        listener.tell('notifications/resources/updated', { uri });
  }
}

const everyone: IsMeant = () => true;

/** The part of a client's wishes that we honor, as it is acknowledged. */
export interface SubscriptionFilter {
  readonly toolsListChanged?: true;
  readonly promptsListChanged?: true;
  readonly resourcesListChanged?: true;
  readonly resourceSubscriptions?: readonly string[];
}

const kinds: readonly ChangedList[] = ['tools', 'prompts', 'resources'];

export function honoredFilter({ notifications }: JsonObject, capabilities: JsonObject): SubscriptionFilter {
  if (!isObject(notifications)) throw invalidParams('notifications must be an object');
  const { resourceSubscriptions: uris } = notifications;
  if (uris !== undefined && !(Array.isArray(uris) && uris.every((uri) => typeof uri === 'string')))
    throw invalidParams('notifications.resourceSubscriptions must be a list of uris');
  const offers = (kind: ChangedList, what: string) => isObject(capabilities[kind]) && capabilities[kind][what] === true;
  const lists = kinds.filter((kind) => notifications[`${kind}ListChanged`] === true && offers(kind, 'listChanged'));
  return {
    ...Object.fromEntries(lists.map((kind) => [`${kind}ListChanged`, true])),
    ...(uris !== undefined && uris.length > 0 && offers('resources', 'subscribe') && { resourceSubscriptions: uris }),
  };
}

/** `params` with the mark of the subscription that they belong to. */
export const tagged = (params: JsonObject, subscription: MessageId): JsonObject => ({
  ...params,
  _meta: { ...(isObject(params['_meta']) ? params['_meta'] : undefined), [metaKeys.subscription]: subscription },
});

/** Under this key a change waits once for a slow client, however often it is told. */
export const changeKey = (method: string, { uri = '' }: JsonObject, subscription: MessageId = ''): string =>
  `${CHANGE}${subscription} ${method} ${uri}`;

export const wantsList = (filter: SubscriptionFilter, kind: ChangedList): boolean =>
  filter[`${kind}ListChanged`] === true;

export const wantsResource = ({ resourceSubscriptions = [] }: SubscriptionFilter, uri: string): boolean =>
  resourceSubscriptions.includes(uri);
