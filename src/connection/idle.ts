// Owns stopping a server that had no calls for `idleStopMs`. Its tools stay listed; the next call starts it again.

import type { Clock } from '../kernel/clock.ts';
import type { Session } from './session.ts';

export interface IdleWatch {
  readonly idleStopMs: number;
  readonly clock: Clock;
  readonly stop: () => void;
}

/** Checks only when the time may be up, so that a call costs nothing here. Returns how to stop. */
export function watchIdle(session: Pick<Session, 'usage'>, { idleStopMs, clock, stop }: IdleWatch): () => void {
  const check = () => {
    const { isBusy, isKept, quietSince } = session.usage();
    const leftMs = isBusy || isKept ? idleStopMs : quietSince + idleStopMs - clock.now();
    if (leftMs <= 0) stop();
    else cancel = clock.after(leftMs, check, 'background');
  };
  let cancel = clock.after(idleStopMs, check, 'background');
  return () => cancel();
}
