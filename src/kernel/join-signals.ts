// Owns one signal made of several for as long as some work takes. `AbortSignal.any` leaves something behind in each of them for every
// use, which adds up in one that lives as long as its process.

import { setMaxListeners } from 'node:events';

export interface JoinedSignals {
  /** Aborts with the first of them. */
  readonly signal: AbortSignal;
  /** Call it when the work is over. */
  readonly leave: () => void;
}

export function joinSignals(...signals: readonly AbortSignal[]): JoinedSignals {
  const joined = new AbortController();
  // Any number of pieces of work may share a signal: Node's warning about listeners is not about them.
  setMaxListeners(0, ...signals);
  const listeners = signals.map((signal) => ({ signal, onAbort: () => joined.abort(signal.reason) }));
  for (const { signal, onAbort } of listeners) {
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
  }
  const leave = () => {
    for (const { signal, onAbort } of listeners) signal.removeEventListener('abort', onAbort);
  };
  return { signal: joined.signal, leave };
}
