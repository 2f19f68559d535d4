// Owns calling one of the host's handlers: a timeout, an error and a withdrawn request are kinds of reply. Never rejects and
// never hangs.

import type { Clock } from '../kernel/clock.ts';
import { limits } from '../model/limits.ts';

export type HandlerReply<Value> =
  | { readonly kind: 'answered'; readonly value: Value }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'withdrawn' };

/** Aborting the controller withdraws the request. A timeout aborts it as well, so that the host can close its dialog. */
export function callHandler<Value>(
  handler: (signal: AbortSignal) => Promise<Value> | Value,
  controller: AbortController,
  clock: Pick<Clock, 'after'>,
): Promise<HandlerReply<Value>> {
  const { signal } = controller;
  return new Promise((resolve) => {
    const finish = (reply: HandlerReply<Value>) => {
      cancelTimer();
      signal.removeEventListener('abort', withdraw);
      resolve(reply);
    };
    const withdraw = () => finish({ kind: 'withdrawn' });
    const cancelTimer = clock.after(limits.approvalMs, () => {
      finish({ kind: 'timed-out' });
      controller.abort(new DOMException('nobody answered in time', 'TimeoutError'));
    });
    signal.addEventListener('abort', withdraw, { once: true });
    if (signal.aborted) {
      withdraw();
      return;
    }
    Promise.resolve()
      .then(() => handler(signal))
      .then(
        (value) => finish({ kind: 'answered', value }),
        (error: unknown) => finish({ kind: 'failed', error }),
      );
  });
}
