// Owns the one-way road of events: out, to whoever listens. A listener can neither answer nor break anything.

export type Emit<Event> = (event: Event) => void;
export type Unsubscribe = () => void;

export class Emitter<Event> {
  readonly #listeners = new Set<Emit<Event>>();
  readonly #report: (error: unknown) => void;

  /** `report` is told what a listener threw; it must not throw itself. */
  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  on(listener: Emit<Event>): Unsubscribe {
    // A wrapper per subscription: the same function may listen twice and leave once.
    const entry: Emit<Event> = (event) => listener(event);
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  /** Whether an event would reach anybody: what is made for one need not be made otherwise. */
  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  /** Bound, so that it can be handed out as a plain function. Who joins during an event hears the next one. */
  readonly emit: Emit<Event> = (event) => {
    if (this.#listeners.size === 0) return;
    for (const listener of [...this.#listeners]) {
      if (this.#listeners.has(listener)) this.#tell(listener, event);
    }
  };

  /** A listener may be an async function: what it rejects with is reported like what it throws. */
  #tell(listener: (event: Event) => unknown, event: Event): void {
    try {
      const answer = listener(event);
      if (answer instanceof Promise) answer.catch(this.#report);
    } catch (error) {
      this.#report(error);
    }
  }
}

export interface Events<Event> {
  readonly emit: Emit<Event>;
  readonly on: (listener: Emit<Event>) => Unsubscribe;
}

/** Every event passes through `clean` before a listener gets it; without a listener, nothing is cleaned. */
export function createEvents<Event>(report: (error: unknown) => void, clean: (event: Event) => Event): Events<Event> {
  const emitter = new Emitter<Event>(report);
  return {
    emit: (event) => {
      if (emitter.isHeard) emitter.emit(clean(event));
    },
    on: (listener) => emitter.on(listener),
  };
}

/** Reports the first error only: a full disk fails every write in the same way. */
export function onceOnly(report: (error: unknown) => void): (error: unknown) => void {
  let isReported = false;
  return (error) => {
    if (!isReported) report(error);
    isReported = true;
  };
}
