// Owns the events of the gateway.

import type { ProtocolEra } from '../serving/protocol.ts';

/** A client's session, in the older era from `initialize` to its end. */
export interface SessionFacts {
  readonly sessionId: string;
  readonly era: ProtocolEra;
  /** As the client introduced itself. */
  readonly client?: string;
  readonly profile: string;
  /** On a route of one server. */
  readonly server?: string;
}

export type GatewayEvent =
  | (SessionFacts & { readonly type: 'session.opened' })
  | (SessionFacts & { readonly type: 'session.closed' });
