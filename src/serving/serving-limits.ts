// Owns the limits of the serving side that a person may set; their defaults are in `model/limits.ts`, as the schema has them.

import { limits } from '../model/limits.ts';

export interface ServingLimits {
  /** The largest message of a client, in bytes. */
  readonly messageBytes: number;
  /** How many calls run at once, and how many may wait for their turn; also how many messages wait for a slow client. */
  readonly inFlight: number;
  readonly waiting: number;
  /** Connections to one port of our own; more are closed at once. */
  readonly connections: number;
  /** Legacy sessions over HTTP and clients on pipes, in all; streams that a session may have open; and how long one may be idle. */
  readonly sessions: number;
  readonly streams: number;
  readonly sessionIdleMs: number;
  /** How long a client may take to send the head, and the body, of a request. */
  readonly headersMs: number;
  readonly bodyMs: number;
  /** How long a client may take to answer a question, and how many modern calls, and legacy questions, may wait for one. */
  readonly questionMs: number;
  readonly suspendedCalls: number;
}

export const withDefaults = (given: Partial<ServingLimits> = {}): ServingLimits => ({ ...limits.serving, ...given });
