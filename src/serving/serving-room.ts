// Owns the room of one program's servers: their sessions, calls and questions are counted together, so that its limits hold for the
// program as a whole, at however many addresses it answers.

import { SharedPlaces } from './call-places.ts';
import { codes, ProtocolError } from './protocol.ts';
import type { ServingLimits } from './serving-limits.ts';
import { SuspendedPlaces } from './suspended-calls.ts';

export class ServingRoom {
  readonly limits: ServingLimits;
  readonly calls: SharedPlaces;
  readonly suspended: SuspendedPlaces;
  /** How many questions wait for the answer of a legacy client. */
  questions = 0;
  /** Open streams for subscriptions. */
  subscriptions = 0;
  readonly #sessions = new Set<() => number>();

  constructor(limits: ServingLimits) {
    this.limits = limits;
    this.calls = new SharedPlaces(limits.inFlight, limits.waiting);
    this.suspended = new SuspendedPlaces(limits.suspendedCalls);
  }

  /** A server with so many sessions, those on pipes included. Returns how it leaves. */
  join(sessions: () => number): () => void {
    this.#sessions.add(sessions);
    return () => this.#sessions.delete(sessions);
  }

  /** Why no further session is opened. */
  get refusal(): ProtocolError | undefined {
    let open = 0;
    for (const sessions of this.#sessions) open += sessions();
    if (open < this.limits.sessions) return undefined;
    return new ProtocolError(codes.overloaded, 'Too many sessions are open', undefined, { status: 503 });
  }
}
