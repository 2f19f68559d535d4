// Owns the order of clients at one server. All of them send requests at once, until the server asks a question that could be for
// several of them: from then on it has one client at a time.

import type { Clock } from '../kernel/clock.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { codes, ProtocolError } from '../serving/protocol.ts';
import type { ServedCall } from '../serving/service.ts';

interface Waiting {
  readonly caller: object;
  readonly enter: () => void;
}

export class ServerLine {
  /** Calls that were not sent to the server yet. */
  queued = 0;
  readonly #server: ServerName;
  #isExclusive = false;
  /** The client whose requests run, once there is one at a time. */
  #holder: object | undefined;
  #running = 0;
  readonly #waiting: Waiting[] = [];

  constructor(server: ServerName) {
    this.#server = server;
  }

  get isExclusive(): boolean {
    return this.#isExclusive;
  }

  makeExclusive(): void {
    this.#isExclusive = true;
  }

  /**
   * `undefined` where the request may go at once. Rejects when it is cancelled, or has waited too long. Every request that entered
   * must leave.
   */
  enter(caller: object, served: Pick<ServedCall, 'signal'>, clock: Pick<Clock, 'after'>): Promise<void> | undefined {
    const isFree = this.#running === 0 || (this.#holder === caller && this.#waiting.length === 0);
    // The signal is made when it is asked for: nearly no request waits.
    if (this.#isExclusive && !isFree) return this.#wait(caller, served.signal, clock);
    this.#running++;
    if (this.#isExclusive) this.#holder = caller;
    return undefined;
  }

  leave(): void {
    this.#running--;
    if (this.#running > 0) return;
    const next = this.#waiting[0]?.caller;
    this.#holder = next;
    // All requests of the next client go together.
    this.#admit(this.#waiting.filter(({ caller }) => caller === next));
  }

  #admit(places: readonly Waiting[]): void {
    for (const place of places) {
      this.#waiting.splice(this.#waiting.indexOf(place), 1);
      this.#running++;
      place.enter();
    }
  }

  #wait(caller: object, signal: AbortSignal, clock: Pick<Clock, 'after'>): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const over = () => {
        stopTimer();
        signal.removeEventListener('abort', onAbort);
      };
      const giveUp = (reason: unknown) => {
        over();
        this.#waiting.splice(this.#waiting.indexOf(place), 1);
        reject(reason);
        // Requests of the client whose turn it is may have waited behind this one only.
        const behind = this.#waiting.findIndex((each) => each.caller !== this.#holder);
        this.#admit(this.#waiting.slice(0, behind < 0 ? this.#waiting.length : behind));
      };
      const onAbort = () => giveUp(signal.reason);
      const enter = () => {
        over();
        resolve();
      };
      const place: Waiting = { caller, enter };
      const stopTimer = clock.after(limits.relay.turnMs, () => giveUp(busy(this.#server)), 'background');
      this.#waiting.push(place);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}

/** The server has one client at a time, and that one has not answered its question yet. */
const busy = (server: ServerName) =>
  new ProtocolError(codes.overloaded, `Server "${server}" waits for the answer of another client`, undefined, {
    status: 429,
  });
