// Owns writing a session's start, its end and the server's log messages to the server log. The log is complete when the
// session is closed.

import type { Clock } from '../kernel/clock.ts';
import { asRuntimeError, type RuntimeError } from '../model/errors.ts';
import type { ServerLog } from '../store/server-log.ts';
import { logLineOf, onLogMessage } from './log-messages.ts';
import type { Session } from './session.ts';
import { SessionOver } from './session-over.ts';

export interface SessionLogDeps {
  readonly log: ServerLog;
  readonly clock: Pick<Clock, 'now'>;
  readonly signal: AbortSignal;
}

/** For stdio the transport notes the start itself, when the process starts and before there is a session. */
export async function openLogged(
  { log, clock, signal }: SessionLogDeps,
  open: () => Promise<Session>,
): Promise<Session> {
  try {
    const session = await open();
    onLogMessage(session, clock, (message) => log.note(logLineOf(message)));
    if (session.transport !== 'stdio') log.noteOwn(`connected by ${session.transport}`);
    void session.ended.then((cause) => log.note(`ended: ${reasonOf(cause)}`));
    return new LoggedSession(session, log);
  } catch (error) {
    const reason = signal.aborted ? 'it was cancelled' : reasonOf(asRuntimeError(error));
    log.note(`not opened: ${reason}`);
    await log.close();
    throw error;
  }
}

class LoggedSession extends SessionOver {
  readonly #log: ServerLog;

  constructor(session: Session, log: ServerLog) {
    super(session);
    this.#log = log;
  }

  override close(): Promise<void> {
    return this.inner.close().finally(() => this.#log.close());
  }
}

const reasonOf = ({ code, data }: RuntimeError) => ('reason' in data ? data.reason : code);
