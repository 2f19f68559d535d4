// Owns the port behind which logins are kept: what is stored of one, and what a store must do. `login-store.ts` is the one on
// disk; a host may bring its own.

import type { Login, LoginKey } from './login-model.ts';

/** One login with everything that the processes which share it have to know. */
export interface StoredLogin {
  readonly login: Login;
  /** Which definitions outside the person's own files may use it: those that the person logged in for. */
  readonly grantedTo: readonly string[];
  /** When a refresh of these tokens began. Still set when the next holder of the lock reads it: that refresh was interrupted. */
  readonly refreshBegan?: number | undefined;
  /** Only a new login helps. The tokens stay, since a newer login may be on its way. */
  readonly needsLogin?: LoginNeed | undefined;
}

/** `refused`: the authorization server no longer accepts the login. `interrupted`: it may have replaced tokens that never arrived. */
export type LoginNeed = 'refused' | 'interrupted';

/** Keeps logins. Their values hold tokens: a store encrypts what it writes to a place that others can read. */
export interface TokenStore {
  list(): Promise<readonly StoredLogin[]>;
  /**
   * Stores `next` under the key, or removes what is there (`undefined`), but only if that still equals `expected` (`undefined`:
   * nothing is there). Returns whether it did.
   */
  replace(key: LoginKey, expected: StoredLogin | undefined, next: StoredLogin | undefined): Promise<boolean>;
  /**
   * Rejects where nothing could be stored now, and changes nothing. Asked before a person is sent to a login page; a store without
   * it is believed to take everything.
   */
  requireWritable?(): Promise<void>;
  /**
   * Holds the login for at most `ttlMs`, between all processes that share the store, and waits for its present holder. The lock of
   * a process that has died must be given on. Returns the release function.
   */
  lock(key: LoginKey, ttlMs: number, signal?: AbortSignal): Promise<() => Promise<void>>;
  /** Calls back after each change, by any process. Returns how to stop. */
  watch(changed: () => void): () => void;
}

/** Whether both mean the same login. */
export function isSameLogin(one: LoginKey, other: LoginKey): boolean {
  return (
    one.issuer === other.issuer &&
    one.serverUrl === other.serverUrl &&
    one.resource === other.resource &&
    one.clientId === other.clientId &&
    one.account === other.account
  );
}
