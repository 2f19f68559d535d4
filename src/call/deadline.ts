// Owns how long a call may take: a hard limit, and one for silence that progress resets.

import type { Clock } from '../kernel/clock.ts';
import { RuntimeError } from '../model/errors.ts';
import type { ServerName, ToolId } from '../model/names.ts';
import type { ToolOutcome } from '../model/tool.ts';
import { type Perform, type Stage, type ToolCall, toolOf } from './pipeline.ts';

export interface CallLimits {
  /** 0 turns a limit off. */
  readonly totalMs: number;
  readonly silenceMs: number;
}

/** Cancelling sends the cancellation to the server; whether the call took effect is then unknown, and the error says so. */
export function deadline(limitsOf: (server: ServerName) => CallLimits, clock: Clock): Stage {
  return (next) => (call) => {
    const { id } = toolOf(call);
    return bounded(call, next, { id, limits: limitsOf(id.server), clock });
  };
}

interface Bounds {
  readonly id: ToolId;
  readonly limits: CallLimits;
  readonly clock: Clock;
}

async function bounded(call: ToolCall, next: Perform, { id, limits, clock }: Bounds): Promise<ToolOutcome> {
  const { totalMs, silenceMs } = limits;
  const expire = (afterMs: number, silence: boolean) => () =>
    call.cancellation.cancel(new RuntimeError('CALL_TIMEOUT', { ...id, afterMs, silence }));
  const listenForSilence = () => (silenceMs > 0 ? clock.after(silenceMs, expire(silenceMs, true)) : undefined);
  const cancelTotal = totalMs > 0 ? clock.after(totalMs, expire(totalMs, false)) : undefined;
  let cancelSilence = listenForSilence();
  try {
    return await next(
      silenceMs > 0
        ? {
            ...call,
            onProgress: (progress) => {
              cancelSilence?.();
              cancelSilence = listenForSilence();
              call.onProgress(progress);
            },
          }
        : call,
    );
  } finally {
    cancelTotal?.();
    cancelSilence?.();
  }
}
