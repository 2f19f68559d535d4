// Owns all that runs while a session is up: pings, notification stream, log, idle stop.

import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import type { ServerDefinition } from '../model/server.ts';
import type { ConnectionEvent } from './events.ts';
import { watchHealth } from './health.ts';
import { watchIdle } from './idle.ts';
import { watchLog } from './log-messages.ts';
import { keepListChangedStream } from './notification-stream.ts';
import type { NotificationListener, Session } from './session.ts';

export interface SessionWatch {
  /** The timers begin anew, with the settings in effect now. */
  restartTimers(): void;
  stop(): void;
}

export interface SessionWatchDeps {
  /** The definition in effect; its settings may be edited while the session is up. */
  readonly definition: () => ServerDefinition;
  readonly onNotification: NotificationListener;
  readonly onIdle: () => void;
  /** The session must not be shared any more with the folders that it is shared with. */
  readonly onParted: () => void;
  readonly clock: Clock;
  readonly emit: Emit<ConnectionEvent>;
}

export function watchSession(session: Session, deps: SessionWatchDeps): SessionWatch {
  const { definition, onNotification, onParted, clock, emit } = deps;
  const since = clock.now();
  let stopTimers = startTimers(session, deps, since);
  const stops = [
    keepListChangedStream(session, clock, onNotification),
    watchLog(definition(), session, { clock, emit }),
    session.onNotification(onNotification),
    session.onParted(onParted),
  ];
  return {
    restartTimers() {
      stopTimers();
      stopTimers = startTimers(session, deps, since);
    },
    stop() {
      stopTimers();
      for (const stop of stops) stop();
    },
  };
}

function startTimers(session: Session, { definition, onIdle, clock }: SessionWatchDeps, since: number): () => void {
  const { health, keepAliveMs, idleStopMs = 0 } = definition().settings;
  const stopHealth = watchHealth(session, { policy: health, keepAliveMs, clock });
  if (idleStopMs === 0) return stopHealth;
  const stopIdle = watchIdle(session, { idleStopMs, since, clock, stop: onIdle });
  return () => {
    stopHealth();
    stopIdle();
  };
}

/** The settings that timers are started with. */
export const timersOf = ({ settings: { health, keepAliveMs, idleStopMs } }: ServerDefinition) => [
  health,
  keepAliveMs,
  idleStopMs,
];
