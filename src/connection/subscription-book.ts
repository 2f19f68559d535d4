// Owns what is wanted of one server's resources, and what its present session was asked for, as data.
// `subscriptions.ts` asks; nothing here does.

import type { RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { Session } from './session.ts';

export interface ResourceUpdate {
  readonly server: ServerName;
  /** What changed; a part of what was subscribed to, where the server says it as exactly as that. */
  readonly uri: string;
  readonly subscribed: string;
}

export type UpdateListener = (update: ResourceUpdate) => unknown;

/** What is wanted of one server, and what its present session was asked for. */
export interface SubscriptionBook {
  readonly server: ServerName;
  readonly wanted: Map<string, Set<UpdateListener>>;
  /** Wanted because they were read, oldest first. */
  readonly followed: Set<string>;
  session: Session | undefined;
  requested: Set<string>;
  readonly refused: Map<string, RuntimeError>;
  stopStream: (() => void) | undefined;
  /** Its session is kept up for as long as somebody listens. */
  releaseSession: (() => void) | undefined;
  aligning: Promise<void> | undefined;
  /** There was a time without a session: what changed then was not told. */
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

/** What the session still has to be told; nothing where there is none, or it knows all. */
export function gapOf({ session, wanted, requested: asked, refused }: SubscriptionBook): SubscriptionGap | undefined {
  const missing = [...wanted.keys()].filter((uri) => !asked.has(uri) && !refused.has(uri));
  const surplus = [...asked].filter((uri) => !wanted.has(uri));
  return session === undefined || missing.length + surplus.length === 0 ? undefined : { session, missing, surplus };
}

export function keepSessionWhileListened(book: SubscriptionBook): void {
  const isHeard = [...book.wanted.values()].some((listeners) => listeners.size > 0);
  if (isHeard) {
    book.releaseSession ??= book.session?.keep();
    return;
  }
  book.releaseSession?.();
  book.releaseSession = undefined;
}

/** What is neither listened to nor followed is not wanted. */
export function forgetUnwanted({ wanted, followed, refused }: SubscriptionBook, uri: string): void {
  if ((wanted.get(uri)?.size ?? 0) > 0 || followed.has(uri)) return;
  wanted.delete(uri);
  refused.delete(uri);
}

/** A server may tell of a part of what was subscribed to. */
export function coveringOf({ wanted }: SubscriptionBook, uri: string): readonly string[] {
  return [...wanted.keys()].filter((subscribed) => uri === subscribed || isPartOf(subscribed, uri));
}

function isPartOf(whole: string, uri: string): boolean {
  if (!uri.startsWith(whole)) return false;
  return whole.endsWith('/') || '/?#'.includes(uri.charAt(whole.length));
}
