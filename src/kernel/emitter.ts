// Owns delivering events to listeners, one way: a listener can neither answer nor break the emitting code.

export type Emit<Event> = (event: Event) => void;
export type Unsubscribe = () => void;

export class Emitter<Event> {
  readonly #listeners = new Set<Emit<Event>>();
  readonly #report: (error: unknown) => void;

  /** `report` is called with what a listener threw; it must not throw itself. */
  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  on(listener: Emit<Event>): Unsubscribe {
    // A wrapper per subscription: the same function may subscribe twice and unsubscribe once.
    const entry: Emit<Event> = (event) => listener(event);
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  /** Whether any listener is subscribed; without one an expensive event need not be built. */
  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  /** Bound, so that it can be passed as a plain function. A listener that is added during an event gets the next one. */
  readonly emit: Emit<Event> = (event) => {
    if (this.#listeners.size === 0) return;
    for (const listener of [...this.#listeners]) {
      if (this.#listeners.has(listener)) this.#tell(listener, event);
    }
  };

  /** A listener may be async: its rejection is reported like an exception. */
  #tell(listener: (event: Event) => unknown, event: Event): void {
    try {
      const answer = listener(event);
      if (answer instanceof Promise) answer.catch(this.#report);
    } catch (error) {
      this.#report(error);
    }
  }
}

export interface Events<Event extends { readonly type: string }> {
  readonly emit: Emit<Event>;
  /** `types`: what the listener hears; everything without it. */
  readonly on: (listener: Emit<Event>, types?: readonly Event['type'][]) => Unsubscribe;
  readonly isHeard: (type: string) => boolean;
}

/** Every event passes through `clean` before a listener gets it; what no listener hears is not cleaned. */
export function createEvents<Event extends { readonly type: string }>(
  report: (error: unknown) => void,
  clean: (event: Event) => Event,
): Events<Event> {
  const all = new Emitter<Event>(report);
  const byType = new Map<string, Emitter<Event>>();
  const isHeard = (type: string) => all.isHeard || byType.get(type)?.isHeard === true;
  return {
    emit: (event) => {
      if (!isHeard(event.type)) return;
      const cleaned = clean(event);
      all.emit(cleaned);
      byType.get(event.type)?.emit(cleaned);
    },
    on: (listener, types) => {
      if (types === undefined) return all.on(listener);
      const unsubscribes = types.map((type) => {
        const some = byType.get(type) ?? new Emitter<Event>(report);
        byType.set(type, some);
        return some.on(listener);
      });
      return () => {
        for (const unsubscribe of unsubscribes) unsubscribe();
      };
    },
    isHeard,
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
