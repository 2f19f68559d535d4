// Owns asking one of the host's functions: what its silence, its errors and the end of the question mean. Never rejects and
// never hangs.

import type { Clock } from '../kernel/clock.ts';
import { limits } from '../model/limits.ts';

export type HandlerReply<Value> =
  | { readonly kind: 'answered'; readonly value: Value }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'silent' }
  | { readonly kind: 'withdrawn' };

/** Aborting the question takes it back; it is aborted as well when the time is up, so that the host can take it away. */
export function callHandler<Value>(
  answer: (signal: AbortSignal) => Promise<Value> | Value,
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
      finish({ kind: 'silent' });
      controller.abort(new DOMException('nobody answered in time', 'TimeoutError'));
    });
    signal.addEventListener('abort', withdraw, { once: true });
    if (signal.aborted) {
      withdraw();
      return;
    }
    Promise.resolve()
      .then(() => answer(signal))
      .then(
        (value) => finish({ kind: 'answered', value }),
        (error: unknown) => finish({ kind: 'failed', error }),
      );
  });
}
