// Owns stopping a server that nobody has called for a while. Its tools stay listed; the next call starts it again.

import type { Clock } from '../kernel/clock.ts';
import type { Session } from './session.ts';

export interface IdleWatch {
  readonly idleStopMs: number;
  readonly clock: Clock;
  readonly stop: () => void;
}

/** Looks only when the time may be up, so that a call costs nothing here. */
export function watchIdle(session: Pick<Session, 'usage'>, { idleStopMs, clock, stop }: IdleWatch): () => void {
  const look = () => {
    const { isBusy, isKept, quietSince } = session.usage();
    const leftMs = isBusy || isKept ? idleStopMs : quietSince + idleStopMs - clock.now();
    if (leftMs <= 0) stop();
    else cancel = clock.after(leftMs, look, 'background');
  };
  let cancel = clock.after(idleStopMs, look, 'background');
  return () => cancel();
}
