// Owns a session whose beginning and end are written down, and what its server logs by the protocol. The log lives as long as
// the session, and is complete when that is closed.

import type { Clock } from '../kernel/clock.ts';
import { asRuntimeError, type RuntimeError } from '../model/errors.ts';
import type { ServerLog } from '../store/server-log.ts';
import { logLineOf, onLogMessage } from './log-messages.ts';
import type { Session } from './session.ts';

export interface SessionLogDeps {
  readonly log: ServerLog;
  readonly clock: Pick<Clock, 'now'>;
  readonly signal: AbortSignal;
}

/** A process says in its log itself that it has started: by then there is no session yet. */
export async function openLogged(
  { log, clock, signal }: SessionLogDeps,
  open: () => Promise<Session>,
): Promise<Session> {
  try {
    const session = await open();
    onLogMessage(session, clock, (message) => log.note(logLineOf(message)));
    if (session.transport !== 'stdio') log.note(`connected by ${session.transport}`);
    void session.ended.then((cause) => log.note(`ended: ${reasonOf(cause)}`));
    return { ...session, close: () => session.close().finally(() => log.close()) };
  } catch (error) {
    const reason = signal.aborted ? 'nobody waits for it any more' : reasonOf(asRuntimeError(error));
    log.note(`not opened: ${reason}`);
    await log.close();
    throw error;
  }
}

const reasonOf = ({ code, data }: RuntimeError) => ('reason' in data ? data.reason : code);
