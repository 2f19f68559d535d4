// Owns the wait after `notifications/initialized`. Over HTTP each message may travel on its own connection, so without
// this wait the first request could overtake the notification and reach a server that is not yet ready for it.

import type { Clock } from '../kernel/clock.ts';
import { createDeferred, type Deferred } from '../kernel/deferred.ts';
import { limits } from '../model/limits.ts';

export const INITIALIZED = 'notifications/initialized';

export class InitializedGate {
  #gate: Deferred<void> | undefined;

  /** Resolves when the channel opens the gate, and after a few seconds in any case. */
  wait(clock: Clock): Promise<void> {
    const gate = createDeferred<void>();
    this.#gate = gate;
    const cancel = clock.after(limits.initializedMs, () => gate.resolve());
    return gate.promise.finally(cancel);
  }

  open(): void {
    this.#gate?.resolve();
  }
}
