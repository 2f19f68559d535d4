// Owns which pages a server said were dealt with. It may say so before anybody listens: the last ones are remembered.

import { limits } from '../../model/limits.ts';

export class Completions {
  readonly #early = new Set<string>();
  readonly #listeners = new Map<string, Set<() => void>>();

  record(id: unknown): void {
    const { idChars, remembered } = limits.pages;
    if (typeof id !== 'string' || id.length > idChars) return;
    const listeners = this.#listeners.get(id);
    for (const run of listeners ?? []) run();
    if (listeners) return;
    this.#early.add(id);
    const [oldest] = this.#early;
    if (this.#early.size > remembered && oldest !== undefined) this.#early.delete(oldest);
  }

  /** At once where it has been said already; what was said counts once. Returns how to stop. */
  listen(id: string, run: () => void): () => void {
    if (this.#early.delete(id)) run();
    const listeners = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, listeners);
    listeners.add(run);
    return () => {
      listeners.delete(run);
      if (listeners.size === 0 && this.#listeners.get(id) === listeners) this.#listeners.delete(id);
    };
  }
}
