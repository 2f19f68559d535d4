// Owns which aborts ended only calls that were never sent. A call rejects with its signal's own reason, which says nothing about
// the server; with this, the text for a model can say that nothing was sent.

/** True: every call that the reason ended was cancelled before it was sent. */
const reasons = new WeakMap<object, boolean>();

/** One signal may end several calls: a single one that was sent makes the effect of all unknown. */
export function recordAbort(reason: unknown, wasSent: boolean): void {
  if (typeof reason !== 'object' || reason === null) return;
  reasons.set(reason, !wasSent && reasons.get(reason) !== false);
}

export function endedUnsentCalls(reason: unknown): boolean {
  return typeof reason === 'object' && reason !== null && reasons.get(reason) === true;
}
