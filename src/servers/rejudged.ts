// Owns ending open servers that are judged otherwise than when they were opened: their approval was revoked, or given. Their calls
// end at once.

import type { Connections, ManagedConnection } from '../connection/connections.ts';
import type { ServerOpener } from './open-server.ts';

type Approvals = Pick<ServerOpener, 'mayStayOpen'>;

/**
 * The next attempt gets what is due to the server now, asks, or is blocked. A former session that still finishes its calls is judged
 * by its own definition.
 */
export async function closeRejudged(connections: Connections, approvals: Approvals): Promise<void> {
  await Promise.all(connections.all().map((managed) => closeIfRejudged(connections, managed, approvals)));
}

async function closeIfRejudged(
  connections: Connections,
  { definition, drained, connection }: ManagedConnection,
  { mayStayOpen }: Approvals,
): Promise<void> {
  if (connection.draining > 0 && drained && !(await mayStayOpen(drained.definition, drained.session)))
    connection.endDrain();
  const { session } = connection;
  if (session === undefined || (await mayStayOpen(definition, session))) return;
  // Another session was judged when it was opened.
  if (connection.session === session) connections.reconnect(definition.name);
}
