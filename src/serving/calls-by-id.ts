// Owns the running calls of one client by the ids that it gave them. A map keeps deleted entries until it is rebuilt: an entry is emptied
// when its call ends, so that it keeps no call and no result.

import type { MessageId } from '../model/server.ts';
import type { RunningCall } from './running-call.ts';

export class CallsById {
  readonly #places = new Map<MessageId, { call: RunningCall | undefined }>();

  get size(): number {
    return this.#places.size;
  }

  has(id: MessageId): boolean {
    return this.#places.has(id);
  }

  get(id: MessageId): RunningCall | undefined {
    return this.#places.get(id)?.call;
  }

  set(id: MessageId, call: RunningCall): void {
    this.#places.set(id, { call });
  }

  delete(id: MessageId): void {
    const place = this.#places.get(id);
    if (place === undefined) return;
    place.call = undefined;
    this.#places.delete(id);
  }

  all(): readonly RunningCall[] {
    return [...this.#places.values()].flatMap(({ call }) => call ?? []);
  }

  clear(): void {
    this.#places.clear();
  }
}
