// Owns stopping a server that had no calls for `idleStopMs`. Its tools stay listed; the next call starts it again.

import type { Clock } from '../kernel/clock.ts';
import type { Session } from './session.ts';

export interface IdleWatch {
  readonly idleStopMs: number;
  /** When the session was opened or joined: a shared one may have been quiet for long. */
  readonly since: number;
  readonly clock: Clock;
  readonly stop: () => void;
}

/** Checks only when the time may be up, so that a call costs nothing here. Returns how to stop. */
export function watchIdle(session: Pick<Session, 'usage'>, { idleStopMs, since, clock, stop }: IdleWatch): () => void {
  const leftMs = () => {
    const { isBusy, isKept, quietSince } = session.usage();
    return isBusy || isKept ? idleStopMs : Math.max(quietSince, since) + idleStopMs - clock.now();
  };
  const check = () => {
    const left = leftMs();
    if (left <= 0) stop();
    else cancel = clock.after(left, check, 'background');
  };
  let cancel = clock.after(Math.max(0, leftMs()), check, 'background');
  return () => cancel();
}
