// Owns "one running promise per key": a caller that comes while it runs gets the same promise.

export class SingleFlight<Key, Value> {
  readonly #running = new Map<Key, Promise<Value>>();

  run(key: Key, start: () => Promise<Value>): Promise<Value> {
    const running = this.#running.get(key);
    if (running) return running;
    const flight = start().finally(() => this.#running.delete(key));
    this.#running.set(key, flight);
    return flight;
  }
}
