// Owns the resource subscriptions of one server as data: which are wanted, and which its present session was asked for.
// `subscriptions.ts` sends the requests.

import type { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { Session } from './session.ts';

export interface ResourceUpdate {
  readonly server: ServerName;
  /** The resource that changed. May be a part of the subscribed one, if the server reports parts. */
  readonly uri: string;
  readonly subscribed: string;
}

export type UpdateListener = (update: ResourceUpdate) => unknown;

export interface SubscriptionBook {
  readonly server: ServerName;
  /** The listeners by URI; none for a resource that is only followed. */
  readonly wanted: Map<string, Set<UpdateListener>>;
  /** URIs that are wanted because they were read, oldest first. */
  readonly followed: Set<string>;
  session: Session | undefined;
  /** URIs that the present session was asked to report. */
  requested: Set<string>;
  readonly refused: Map<string, RuntimeError>;
  stopStream: (() => void) | undefined;
  /** Set while listeners keep the session from being stopped as idle. */
  releaseSession: (() => void) | undefined;
  aligning: Promise<void> | undefined;
  /** There was a time without a session: changes in that time were not reported. */
  missedUpdates: boolean;
}

export function createBook(server: ServerName): SubscriptionBook {
  return {
    server,
    wanted: new Map(),
    followed: new Set(),
    session: undefined,
    requested: new Set(),
    refused: new Map(),
    stopStream: undefined,
    releaseSession: undefined,
    aligning: undefined,
    missedUpdates: false,
  };
}

export interface SubscriptionGap {
  readonly session: Session;
  readonly missing: readonly string[];
  readonly surplus: readonly string[];
}

/** The requests that the session still needs; undefined without a session, or if nothing has changed. */
export function gapOf({ session, wanted, requested, refused }: SubscriptionBook): SubscriptionGap | undefined {
  const missing = [...wanted.keys()].filter((uri) => !requested.has(uri) && !refused.has(uri));
  const surplus = [...requested].filter((uri) => !wanted.has(uri));
  return session === undefined || missing.length + surplus.length === 0 ? undefined : { session, missing, surplus };
}

export function keepSessionWhileListened(book: SubscriptionBook): void {
  const hasListeners = [...book.wanted.values()].some((listeners) => listeners.size > 0);
  if (hasListeners) {
    book.releaseSession ??= book.session?.keep();
    return;
  }
  book.releaseSession?.();
  book.releaseSession = undefined;
}

/** Drops a resource that has no listeners and is not followed. */
export function forgetUnwanted({ wanted, followed, refused }: SubscriptionBook, uri: string): void {
  if ((wanted.get(uri)?.size ?? 0) > 0 || followed.has(uri)) return;
  wanted.delete(uri);
  refused.delete(uri);
}

/** The subscribed URIs that an update concerns: a server may report a part of a subscribed resource. */
export function coveringOf({ wanted }: SubscriptionBook, uri: string): readonly string[] {
  return [...wanted.keys()].filter((subscribed) => uri === subscribed || isPartOf(subscribed, uri));
}

function isPartOf(parent: string, uri: string): boolean {
  if (!uri.startsWith(parent)) return false;
  return parent.endsWith('/') || '/?#'.includes(uri.charAt(parent.length));
}
