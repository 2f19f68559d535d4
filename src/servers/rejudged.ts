// Owns the servers that are open and whose approval has changed since they were opened. Where it was revoked, they and their calls
// end at once; where it was given, they are opened anew after their calls.

import type { Connections, ManagedConnection } from '../connection/connections.ts';
import type { ServerOpener } from './open-server.ts';

type Approvals = Pick<ServerOpener, 'approvalChange'>;

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
  { approvalChange }: Approvals,
): Promise<void> {
  if (connection.draining > 0 && drained && (await approvalChange(drained.definition, drained.session)) === 'revoked')
    connection.endDrain();
  const { session } = connection;
  const change = session ? await approvalChange(definition, session) : 'none';
  // Another session was judged when it was opened.
  if (connection.session !== session) return;
  if (change === 'given') connections.restart(definition.name);
  if (change === 'revoked') connections.reconnect(definition.name);
}
