// Owns how long a call may take: a limit for the whole, and one for silence that every sign of life resets. Neither runs while
// a person is asked: that time is not the tool's.

import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ToolId } from '../model/names.ts';
import type { ToolOutcome } from '../model/tool.ts';
import { type Perform, type Stage, type ToolCall, toolOf } from './pipeline.ts';

export interface CallLimits {
  /** 0 turns a limit off. */
  readonly totalMs: number;
  readonly silenceMs: number;
}

/** Cancelling sends the cancellation to the server; whether the call took effect is then unknown, and the error says so. */
export function deadline(limitsOf: (id: ToolId) => CallLimits, clock: Clock): Stage {
  return (next) => (call) => {
    const { id } = toolOf(call);
    const { totalMs, silenceMs } = limitsOf(id);
    return bounded(call, next, { id, totalMs: ownLimit(call) ?? totalMs, silenceMs, clock });
  };
}

/** Whoever calls knows best. One that reckons how much is left may come to less than nothing, which is not "no limit". */
function ownLimit({ timeoutMs }: ToolCall): number | undefined {
  if (timeoutMs === undefined || Number.isNaN(timeoutMs)) return undefined;
  if (timeoutMs === Number.POSITIVE_INFINITY) return 0;
  return timeoutMs < 0 ? 1 : timeoutMs;
}

interface Bounds extends CallLimits {
  readonly id: ToolId;
  readonly clock: Clock;
}

async function bounded(call: ToolCall, next: Perform, bounds: Bounds): Promise<ToolOutcome> {
  const { id, totalMs, silenceMs, clock } = bounds;
  const isOwn = ownLimit(call) !== undefined;
  const expire = (afterMs: number, silence: boolean) =>
    call.cancellation.cancel(
      new RuntimeError('CALL_TIMEOUT', { ...id, afterMs, silence, ...(isOwn && !silence && { isOwn }) }),
    );
  const total = totalMs > 0 ? new Countdown(clock, totalMs, () => expire(totalMs, false)) : undefined;
  const silence = silenceMs > 0 ? new Countdown(clock, silenceMs, () => expire(silenceMs, true)) : undefined;
  // Nearly every call has neither a limit for silence nor anybody whom its server could ask: it goes on as it is.
  const timed = silence || mayAsk(call) ? watched(call, total, silence) : call;
  try {
    return await next(timed);
  } finally {
    total?.end();
    silence?.end();
  }
}

const mayAsk = ({ caller: { handlers } }: ToolCall) =>
  handlers.elicit !== undefined || handlers.sample !== undefined || handlers.roots !== undefined;

function watched(call: ToolCall, total: Countdown | undefined, silence: Countdown | undefined): ToolCall {
  // Several may be asked at once, and each of them ends.
  let waitingFor = 0;
  return {
    ...call,
    onWaiting: (isWaiting: boolean) => {
      waitingFor = Math.max(0, waitingFor + (isWaiting ? 1 : -1));
      total?.hold(waitingFor > 0);
      silence?.hold(waitingFor > 0);
      silence?.restart();
      call.onWaiting?.(isWaiting);
    },
    ...(silence && {
      onSign: () => silence.restart(),
      onProgress: (progress: Parameters<ToolCall['onProgress']>[0]) => {
        silence.restart();
        call.onProgress(progress);
      },
    }),
  };
}

/** Starting it anew is free, so that every byte may do it: the timer finds out for itself, when it goes off, whether it was. */
class Countdown {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #onEnd: () => void;
  #leftMs: number;
  /** Since when what is left runs; nothing while it is held. */
  #since: number | undefined;
  #isRestarted = false;
  #isOver = false;
  #cancel: CancelTimer | undefined;

  constructor(clock: Clock, limitMs: number, onEnd: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#leftMs = limitMs;
    this.#onEnd = onEnd;
    this.#run();
  }

  restart(): void {
    this.#leftMs = this.#limitMs;
    this.#isRestarted = true;
    if (this.#since !== undefined) this.#since = this.#clock.now();
  }

  hold(isHeld: boolean): void {
    if (this.#isOver || isHeld === (this.#since === undefined)) return;
    if (!isHeld) this.#run();
    else {
      this.#leftMs = this.#left();
      this.#since = undefined;
      this.#cancel?.();
    }
  }

  end(): void {
    this.#isOver = true;
    this.#cancel?.();
  }

  #run(): void {
    this.#since = this.#clock.now();
    this.#arm(this.#leftMs);
  }

  #arm(ms: number): void {
    this.#isRestarted = false;
    this.#cancel = this.#clock.after(ms, () => {
      // Where nothing came the timer is right, whatever somebody did to the system's clock.
      if (this.#isRestarted && this.#left() > 0) this.#arm(this.#left());
      else this.#onEnd();
    });
  }

  #left(): number {
    const ranMs = this.#since === undefined ? 0 : this.#clock.now() - this.#since;
    return this.#leftMs - Math.max(0, ranMs);
  }
}
