// Owns a legacy session over HTTP: its streams, the limits on them, and finding the one that a client comes back to.

import { limits } from '../model/limits.ts';
import { EventStream } from './event-stream.ts';
import { LegacySession, type LegacySessionOptions } from './legacy-session.ts';
import type { ServingLimits } from './serving-limits.ts';

/** The stream of messages that belong to no call; a client opens it with GET. */
const GENERAL = 'general';

export class HttpSession extends LegacySession {
  readonly #limits: ServingLimits;
  readonly #general: EventStream;
  /** By name, the oldest first; a finished one is kept for a client that comes back for the answer. */
  readonly #streams = new Map<string, EventStream>();
  #last = 0;
  #usedAt: number;
  #commentedAt = 0;
  readonly #clock: LegacySessionOptions['clock'];

  constructor(options: Omit<LegacySessionOptions, 'send' | 'questionMs'>, given: ServingLimits) {
    super({
      ...options,
      questionMs: given.questionMs,
      send: (message, mergeKey) => this.#general.push(JSON.stringify(message), mergeKey),
    });
    this.#limits = given;
    this.#clock = options.clock;
    this.#usedAt = options.clock.now();
    this.#general = this.#newStream(GENERAL);
    this.#streams.set(GENERAL, this.#general);
  }

  /** Since when nothing has happened in it; now, while a stream is open or a call runs. */
  get idleSince(): number {
    return this.calls.size > 0 || this.openStreams > 0 ? this.#clock.now() : this.#usedAt;
  }

  get openStreams(): number {
    let open = 0;
    for (const stream of this.#streams.values()) open += stream.connections;
    return open;
  }

  get hasRoom(): boolean {
    return this.openStreams < this.#limits.streams;
  }

  touch(): void {
    this.#usedAt = this.#clock.now();
  }

  get general(): EventStream {
    return this.#general;
  }

  /** Called now and then: the stream that the client opened with GET gets a comment. */
  tick(now: number): void {
    if (now - this.#commentedAt < limits.served.keepAliveMs) return;
    this.#commentedAt = now;
    this.#general.keepAlive();
  }

  /** A stream for the messages of one request; none if the session has too many open. */
  openStream(): EventStream | undefined {
    if (!this.hasRoom) return undefined;
    this.#forgetFinished();
    const name = `s${++this.#last}`;
    const stream = this.#newStream(name);
    this.#streams.set(name, stream);
    return stream;
  }

  /** The stream that an event id names, and the number of the last event that the client has. */
  resume(lastEventId: string): { readonly stream: EventStream; readonly after: number } | undefined {
    const [, name, number] = /^(\w+)\.(\d{1,15})$/.exec(lastEventId) ?? [];
    const stream = name === undefined ? undefined : this.#streams.get(name);
    return stream && { stream, after: Number(number) };
  }

  override end(reason: unknown): void {
    super.end(reason);
    for (const stream of this.#streams.values()) stream.disconnect();
    this.#streams.clear();
  }

  #newStream(name: string): EventStream {
    const { keptEvents: kept, retryMs } = limits.served;
    return new EventStream({ name, waiting: this.#limits.waiting, kept, retryMs });
  }

  #forgetFinished(): void {
    const { streams, chars } = limits.served.keptStreams;
    const finished = [...this.#streams].filter(([, stream]) => stream.isFinished && !stream.isOpen);
    let kept = finished.reduce((sum, [, stream]) => sum + stream.keptChars, 0);
    for (const [at, [name, stream]] of finished.entries()) {
      if (finished.length - at < streams && kept <= chars) return;
      this.#streams.delete(name);
      kept -= stream.keptChars;
    }
  }
}
