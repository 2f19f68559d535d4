// Owns the storage port: everything that is persisted goes through it. Backends are in `store/`; the in-memory one is here.

import { type Clock, systemClock } from './clock.ts';
import { createDeferred } from './deferred.ts';

export interface Store {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, ttlMs?: number): Promise<void>;
  delete(key: string): Promise<void>;
  /** Writes only if the present value is `expected` (`undefined`: absent). Returns whether it did. */
  compareAndSet(key: string, expected: string | undefined, value: string, ttlMs?: number): Promise<boolean>;
  /** Calls back after each change of the key; returns a function that stops it. */
  watch(key: string, changed: (value: string | undefined) => void): () => void;
  /** Holds the key for at most `ttlMs`; waits for its present holder until the signal aborts. Returns the release function. */
  lock(key: string, ttlMs: number, signal?: AbortSignal): Promise<() => Promise<void>>;
}

interface StoredValue {
  readonly value: string;
  readonly expiresAt: number;
}

/** Shares nothing between processes; for tests and for hosts without a disk. */
export function createMemoryStore(clock: Pick<Clock, 'now' | 'after'> = systemClock): Store {
  const entries = new Map<string, StoredValue>();
  const watchers = new Map<string, Set<(value: string | undefined) => void>>();
  const locks = new Map<string, Promise<void>>();

  const read = (key: string): string | undefined => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAt > clock.now()) return entry.value;
    entries.delete(key);
    return undefined;
  };
  const write = (key: string, value: string | undefined, ttlMs?: number) => {
    if (value === undefined) entries.delete(key);
    else entries.set(key, { value, expiresAt: ttlMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + ttlMs });
    for (const changed of watchers.get(key) ?? []) changed(value);
  };

  return {
    get: async (key) => read(key),
    set: async (key, value, ttlMs) => write(key, value, ttlMs),
    delete: async (key) => write(key, undefined),
    async compareAndSet(key, expected, value, ttlMs) {
      if (read(key) !== expected) return false;
      write(key, value, ttlMs);
      return true;
    },
    watch(key, changed) {
      const set = watchers.get(key) ?? new Set();
      // A wrapper per watch: the same function may watch twice and stop once.
      const watcher = (value: string | undefined) => changed(value);
      watchers.set(key, set.add(watcher));
      return () => {
        set.delete(watcher);
        if (set.size === 0 && watchers.get(key) === set) watchers.delete(key);
      };
    },
    async lock(key, ttlMs, signal) {
      for (let holder = locks.get(key); holder; holder = locks.get(key)) await untilAborted(holder, signal);
      signal?.throwIfAborted();
      const held = createDeferred<void>();
      locks.set(key, held.promise);
      const release = () => {
        if (locks.get(key) === held.promise) locks.delete(key);
        held.resolve();
      };
      const expire = clock.after(ttlMs, release, 'background');
      return async () => {
        expire();
        release();
      };
    },
  };
}

function untilAborted(work: Promise<void>, signal?: AbortSignal): Promise<void> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.finally(() => signal.removeEventListener('abort', onAbort)).then(resolve, reject);
  });
}
