// Owns what a server logs by the protocol: heard for as long as its session lasts, in short, and no faster than a reader
// could follow. From which level on is the server's affair, unless its entry says so.

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
  /** How many came too fast since the last one that was told. */
  readonly leftOut?: number;
}

/** Returns how to stop. */
export function onLogMessage(
  session: Pick<Session, 'onNotification'>,
  clock: Pick<Clock, 'now'>,
  tell: (message: LogMessage) => void,
): () => void {
  const { count, windowMs } = limits.logMessages;
  let [begunAt, told, leftOut] = [Number.NEGATIVE_INFINITY, 0, 0];
  return session.onNotification((method, params) => {
    if (method !== 'notifications/message') return;
    if (clock.now() - begunAt >= windowMs) [begunAt, told] = [clock.now(), 0];
    if (told >= count) {
      leftOut++;
      return;
    }
    told++;
    tell({ ...messageOf(params), ...(leftOut > 0 && { leftOut }) });
    leftOut = 0;
  });
}

/** One line of a log. */
export function logLineOf({ level, logger, text, leftOut }: LogMessage): string {
  const missing = leftOut === undefined ? '' : `(${leftOut} messages left out) `;
  return `${missing}message ${level}${logger === undefined ? '' : ` ${logger}`}: ${text}`;
}

export interface LogWatch {
  readonly clock: Pick<Clock, 'now'>;
  readonly emit: Emit<ConnectionEvent>;
}

/** Asks for the level, and reports what comes. Returns how to stop. */
export function watchLog({ name: server, settings }: ServerDefinition, session: Session, watch: LogWatch): () => void {
  const { logLevel: level } = settings;
  // The modern era says it with every request. A server that knows no levels, or not this one, logs as it likes.
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
