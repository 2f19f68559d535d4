// Owns ending a gateway that was started for its clients and has none any more. One that a person keeps running has no such end.

import type { CancelTimer, Clock } from '../kernel/clock.ts';

export interface IdleEndOptions {
  readonly clock: Clock;
  /** Since when no session, link or call has been open; `undefined` while one is. */
  readonly idleSince: () => number | undefined;
  readonly idleMs: number;
  /** How often it looks at least: what ends between two looks counts from the first one. */
  readonly lookMs: number;
  readonly end: () => void;
}

/** Calls `end` once. Returns a function that stops looking. */
export function endWhenIdle({ clock, idleSince, idleMs, lookMs, end }: IdleEndOptions): () => void {
  let cancel: CancelTimer = () => undefined;
  const look = () => {
    const since = idleSince();
    const leftMs = since === undefined ? idleMs : since + idleMs - clock.now();
    if (leftMs <= 0) end();
    else cancel = clock.after(Math.min(leftMs, lookMs), look, 'background');
  };
  look();
  return () => cancel();
}
