// Owns the log messages that a server sends as notifications: cut to a length and limited in rate. The server decides from
// which level it logs, unless its entry sets `logLevel`.

import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import { type JsonObject, stringifyBounded } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { ConnectionEvent } from './events.ts';
import type { Session } from './session.ts';

export interface LogMessage {
  readonly level: string;
  readonly logger?: string;
  readonly text: string;
  /** How many messages were dropped since the last reported one, because they came too fast. */
  readonly leftOut?: number;
}

/** Returns how to stop. */
export function onLogMessage(
  session: Pick<Session, 'onNotification'>,
  clock: Pick<Clock, 'now'>,
  listener: (message: LogMessage) => void,
): () => void {
  const { count, windowMs } = limits.logMessages;
  let [windowStart, reported, leftOut] = [Number.NEGATIVE_INFINITY, 0, 0];
  return session.onNotification((method, params) => {
    if (method !== 'notifications/message') return;
    if (clock.now() - windowStart >= windowMs) [windowStart, reported] = [clock.now(), 0];
    if (reported >= count) {
      leftOut++;
      return;
    }
    reported++;
    listener({ ...messageOf(params), ...(leftOut > 0 && { leftOut }) });
    leftOut = 0;
  });
}

/** The message as one line of the server log. */
export function logLineOf({ level, logger, text, leftOut }: LogMessage): string {
  const missing = leftOut === undefined ? '' : `(${leftOut} messages left out) `;
  return `${missing}message ${level}${logger === undefined ? '' : ` ${logger}`}: ${text}`;
}

export interface LogWatch {
  readonly clock: Pick<Clock, 'now'>;
  readonly emit: Emit<ConnectionEvent>;
}

/** Sets the log level of the server, and emits its messages as events. Returns how to stop. */
export function watchLog({ name: server, settings }: ServerDefinition, session: Session, watch: LogWatch): () => void {
  const { logLevel: level } = settings;
  // A modern server gets the level with every request. The response does not matter: a server that refuses logs as it likes.
  if (level !== undefined && session.era === 'legacy' && session.capabilities['logging'] !== undefined)
    void session.request('logging/setLevel', { level }, { repeatable: true });
  return onLogMessage(session, watch.clock, (message) =>
    watch.emit({ type: 'connection.log-received', server, ...message }),
  );
}

function messageOf({ level, logger, data }: JsonObject): LogMessage {
  const { chars } = limits.logMessages;
  return {
    level: typeof level === 'string' ? level.slice(0, MOST_NAME_CHARS) : 'info',
    ...(typeof logger === 'string' && { logger: logger.slice(0, MOST_NAME_CHARS) }),
    text: typeof data === 'string' ? data.slice(0, chars) : stringifyBounded(data, chars),
  };
}

const MOST_NAME_CHARS = 100;
