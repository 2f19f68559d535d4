// Owns the URL elicitations that a server reported as complete. A report may come before its listener: the latest are kept.

import { limits } from '../../model/limits.ts';

export class Completions {
  readonly #early = new Set<string>();
  readonly #listeners = new Map<string, Set<() => void>>();

  record(id: unknown): void {
    const { idChars, remembered } = limits.pages;
    if (typeof id !== 'string' || id.length > idChars) return;
    const listeners = this.#listeners.get(id);
    for (const listener of listeners ?? []) listener();
    if (listeners) return;
    this.#early.add(id);
    const [oldest] = this.#early;
    if (this.#early.size > remembered && oldest !== undefined) this.#early.delete(oldest);
  }

  /** Calls the listener at once if the report came already; a report is used once. Returns how to stop. */
  listen(id: string, listener: () => void): () => void {
    if (this.#early.delete(id)) listener();
    const listeners = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(id) === listeners) this.#listeners.delete(id);
    };
  }
}
