// Owns tokens that could not be written: the process that has them holds them, uses them as if they were stored, and writes them
// as soon as the store takes something again. A full disk costs no login.

import { sameJson } from '../kernel/json.ts';
import { RuntimeError } from '../model/errors.ts';
import type { LoginKey } from './login-model.ts';
import { isSameLogin, type StoredLogin, type TokenStore } from './token-store.ts';

export interface HoldingStore extends TokenStore {
  /** From now on `next` is listed in place of `expected`, unless another process has stored something else there. */
  hold(expected: StoredLogin | undefined, next: StoredLogin): void;
}

interface Held {
  readonly expected: StoredLogin | undefined;
  readonly next: StoredLogin;
}

/** `onHeld`: the store does not tell its watchers of a login that it could not take. */
export function createHoldingStore(store: TokenStore, onHeld?: (held: StoredLogin) => void): HoldingStore {
  const all = new Map<string, Held>();
  const nameOf = (key: LoginKey) => JSON.stringify(key);
  const write = async (held: Held) => {
    const { key } = held.next.login;
    await store.replace(key, held.expected, held.next);
    // Written, or overtaken by another process. Newer tokens may be held by now.
    if (all.get(nameOf(key)) === held) all.delete(nameOf(key));
  };
  const tryToWrite = async (held: Held) => {
    try {
      await write(held);
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
    }
  };

  return {
    hold(expected, next) {
      const name = nameOf(next.login.key);
      // The store still has the login that the first held one was to replace.
      all.set(name, { expected: (all.get(name) ?? { expected }).expected, next });
      onHeld?.(next);
    },
    async list() {
      await Promise.all([...all.values()].map(tryToWrite));
      return [...all.values()].reduce(withHeld, await store.list());
    },
    async replace(key, expected, next) {
      const held = all.get(nameOf(key));
      // The refresh token that is stored may be used up: with it, a server that detects reuse would end the whole login.
      if (held !== undefined) await write(held);
      return store.replace(key, expected, next);
    },
    requireWritable: async () => store.requireWritable?.(),
    lock: (key, ttlMs, signal) => store.lock(key, ttlMs, signal),
    watch: (changed) => store.watch(changed),
  };
}

function withHeld(stored: readonly StoredLogin[], { expected, next }: Held): readonly StoredLogin[] {
  const present = stored.find(({ login }) => isSameLogin(login.key, next.login.key));
  return sameJson(present, expected) ? [...stored.filter((each) => each !== present), next] : stored;
}
