// Owns the connections of a port that have sent only plain requests so far: ends those that are idle, and all when the port closes.

import type { Socket } from 'node:net';
import { type CancelTimer, type Clock, systemClock } from '../kernel/clock.ts';
import { limits } from '../model/limits.ts';
import { PlainConnection, type PlainConnectionOptions } from './plain-connection.ts';

export interface PlainConnectionsOptions extends Pick<PlainConnectionOptions, 'answer' | 'handOver'> {
  /** How long a new connection may take to send something. */
  readonly headersMs: number;
  readonly clock?: Clock;
}

/** How often it looks for idle connections; also for how long a date counts. */
const LOOK_MS = 1_000;

export class PlainConnections {
  readonly #options: PlainConnectionsOptions;
  readonly #clock: Clock;
  readonly #open = new Set<PlainConnection>();
  #stopLooking: CancelTimer | undefined;
  #date = '';

  constructor(options: PlainConnectionsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  readonly take = (socket: Socket): void => {
    const { answer, handOver } = this.#options;
    this.#stopLooking ??= this.#clock.after(LOOK_MS, this.#look, 'background');
    this.#open.add(new PlainConnection(socket, { answer, handOver, date: this.#dateNow, onLeft: this.#left }));
  };

  /** `isLate`: also the connections with a request that was not answered. */
  close(isLate: boolean): void {
    this.#stopLooking?.();
    for (const connection of this.#open) {
      if (isLate) connection.destroy();
      else connection.endIfIdle();
    }
  }

  readonly #left = (connection: PlainConnection): void => void this.#open.delete(connection);

  /** Formatting the date takes as long as writing an answer, so it is done once a second. */
  readonly #dateNow = (): string => {
    this.#date ||= new Date(this.#clock.now()).toUTCString();
    return this.#date;
  };

  readonly #look = (): void => {
    this.#date = '';
    const idle = limits.served.idleConnectionMs / LOOK_MS;
    const fresh = this.#options.headersMs / LOOK_MS;
    for (const connection of this.#open) connection.endIfIdle({ idle, fresh });
    this.#stopLooking = this.#open.size > 0 ? this.#clock.after(LOOK_MS, this.#look, 'background') : undefined;
  };
}
