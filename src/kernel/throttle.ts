// Owns limiting a stream of values to one per span: the first at once, then the latest of each span.

import type { CancelTimer, Clock } from './clock.ts';

export interface Throttle<Value> {
  push(value: Value): void;
  /** No more values will come: delivers the value that was held back, so that the last one is never lost. */
  flush(): void;
  /** The receiver is gone: drops the value that was held back. */
  drop(): void;
}

export function createThrottle<Value>(
  clock: Pick<Clock, 'after'>,
  spanMs: number,
  deliver: (value: Value) => void,
): Throttle<Value> {
  let held: { readonly value: Value } | undefined;
  let cancel: CancelTimer | undefined;
  const release = () => {
    cancel = undefined;
    if (held === undefined) return;
    const { value } = held;
    held = undefined;
    cancel = clock.after(spanMs, release, 'background');
    deliver(value);
  };
  const drop = () => {
    cancel?.();
    cancel = undefined;
    held = undefined;
  };
  return {
    push(value) {
      held = { value };
      if (cancel === undefined) release();
    },
    flush() {
      const last = held;
      drop();
      if (last) deliver(last.value);
    },
    drop,
  };
}
