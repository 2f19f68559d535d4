// Owns waiting for writes that run in the background: before the program ends, it waits for all of them at once.

import type { Store } from './store.ts';

export interface TrackedStore extends Pick<Store, 'get' | 'set' | 'delete'> {
  /** Resolves when no write is running; failures are reported to the caller of each write. */
  whenWritten(): Promise<void>;
}

export function trackWrites(store: Pick<Store, 'get' | 'set' | 'delete'>): TrackedStore {
  const writing = new Set<Promise<void>>();
  const track = (write: Promise<void>): Promise<void> => {
    const forget = () => writing.delete(write);
    writing.add(write);
    write.then(forget, forget);
    return write;
  };
  return {
    get: (key) => store.get(key),
    set: (key, value, ttlMs) => track(store.set(key, value, ttlMs)),
    delete: (key) => track(store.delete(key)),
    whenWritten: async () => {
      await Promise.allSettled(writing);
    },
  };
}
