// Owns how long a call may take: a total limit, and an idle limit that every sign of life resets. Neither runs while a person is
// asked, up to a limit of its own: a server that asks again and again does not hold a call for ever.

import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { type CallLimits, callLimits } from '../model/server.ts';
import type { ServerRegistry } from '../servers/registry.ts';
import { attempt, type CallTimer, type Stage, type ToolCall, toolOf } from './pipeline.ts';

/** Cancelling sends the cancellation to the server; whether the call took effect is then unknown, and the error says so. */
export function deadline(registry: Pick<ServerRegistry, 'settings' | 'toolSettings'>, clock: Clock): Stage {
  return (next) => (call) => {
    const { id } = toolOf(call);
    const { totalMs, silenceMs } = callLimits(registry.settings(id.server), registry.toolSettings(id));
    const own = ownLimit(call);
    const timer = new RunningLimits(call, { totalMs: own ?? totalMs, silenceMs, isOwn: own !== undefined }, clock);
    call.timer = timer;
    return attempt(next, call).then(
      (outcome) => {
        timer.end();
        return outcome;
      },
      (error: unknown) => {
        timer.end();
        throw error;
      },
    );
  };
}

/** The caller's own limit counts before the configured one. A caller that computes the time left may come below 0, which does not mean "no limit". */
function ownLimit({ timeoutMs }: ToolCall): number | undefined {
  if (timeoutMs === undefined || Number.isNaN(timeoutMs)) return undefined;
  if (timeoutMs === Number.POSITIVE_INFINITY) return 0;
  return timeoutMs < 0 ? 1 : timeoutMs;
}

interface Bounds extends CallLimits {
  /** The caller chose the total limit itself. */
  readonly isOwn: boolean;
}

class RunningLimits implements CallTimer {
  readonly #call: ToolCall;
  readonly #bounds: Bounds;
  readonly #total: Countdown | undefined;
  readonly #silence: Countdown | undefined;
  readonly #suspension: Suspension | undefined;

  constructor(call: ToolCall, bounds: Bounds, clock: Clock) {
    this.#call = call;
    this.#bounds = bounds;
    const { totalMs, silenceMs } = bounds;
    this.#total = totalMs > 0 ? new Countdown(clock, totalMs, () => this.#expire(totalMs, false)) : undefined;
    this.#silence = silenceMs > 0 ? new Countdown(clock, silenceMs, () => this.#expire(silenceMs, true)) : undefined;
    if (this.#silence || mayAsk(call)) this.#suspension = new Suspension(clock, [this.#total, this.#silence]);
  }

  leftMs(): number {
    return Math.min(this.#total?.leftMs() ?? FOREVER, this.#silence?.leftMs() ?? FOREVER);
  }

  onSign(): void {
    this.#silence?.restart();
  }

  onWaiting(isWaiting: boolean): void {
    this.#suspension?.wait(isWaiting);
    this.#silence?.restart();
  }

  end(): void {
    this.#suspension?.end();
    this.#total?.end();
    this.#silence?.end();
  }

  #expire(afterMs: number, silence: boolean): void {
    const { cancellation } = this.#call;
    const isOwn = this.#bounds.isOwn && !silence;
    const data = { ...toolOf(this.#call).id, afterMs, silence, ...(isOwn && { isOwn }) };
    cancellation.cancel(new RuntimeError('CALL_TIMEOUT', data));
  }
}

const FOREVER = Number.POSITIVE_INFINITY;

const mayAsk = ({ caller: { handlers }, relay }: ToolCall) =>
  relay !== undefined || handlers.elicit !== undefined || handlers.sample !== undefined || handlers.roots !== undefined;

/** Holds the limits of a call while a person is asked: no longer than `limits.questions.suspendedMs` in all. */
class Suspension {
  readonly #clock: Clock;
  readonly #held: readonly (Countdown | undefined)[];
  /** Several persons may be asked at once; each question reports its end. */
  #questions = 0;
  #leftMs: number = limits.questions.suspendedMs;
  #since = 0;
  #isOver = false;
  #cancel: CancelTimer | undefined;

  constructor(clock: Clock, held: readonly (Countdown | undefined)[]) {
    this.#clock = clock;
    this.#held = held;
  }

  wait(isWaiting: boolean): void {
    const before = this.#questions;
    this.#questions = Math.max(0, before + (isWaiting ? 1 : -1));
    if (before === 0 && this.#questions > 0 && this.#leftMs > 0 && !this.#isOver) this.#begin();
    else if (before > 0 && this.#questions === 0) this.#stop();
  }

  end(): void {
    this.#isOver = true;
    this.#stop();
  }

  #begin(): void {
    this.#since = this.#clock.now();
    this.#hold(true);
    this.#cancel = this.#clock.after(this.#leftMs, () => this.#stop());
  }

  /** The limits run again. */
  #stop(): void {
    if (this.#cancel === undefined) return;
    this.#cancel();
    this.#cancel = undefined;
    this.#leftMs -= Math.max(0, this.#clock.now() - this.#since);
    this.#hold(false);
  }

  #hold(isHeld: boolean): void {
    for (const each of this.#held) each?.hold(isHeld);
  }
}

/** A timer whose restart costs nothing, so that every byte may restart it: it checks when it fires whether it was restarted. */
class Countdown {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #onEnd: () => void;
  #leftMs: number;
  /** When the remaining time began to run; `undefined` while the countdown is held. */
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
      this.#leftMs = this.leftMs();
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
      // Without a restart the timer is right even if the system clock was changed.
      if (this.#isRestarted && this.leftMs() > 0) this.#arm(this.leftMs());
      else this.#onEnd();
    });
  }

  leftMs(): number {
    const ranMs = this.#since === undefined ? 0 : this.#clock.now() - this.#since;
    return this.#leftMs - Math.max(0, ranMs);
  }
}
