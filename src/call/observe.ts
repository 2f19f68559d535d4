// Owns the events of a call: `call.started` and `call.finished` always come as a pair, with how long the call took. Refuses a call
// whose id another running call has, since its events could not be told apart, and any call once the runtime is closed.

import type { Progress } from '../connection/session.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import { createThrottle, type Throttle } from '../kernel/throttle.ts';
import { asRuntimeError, RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ToolOutcome } from '../model/tool.ts';
import type { CallEnd, CallEvent, CallId } from './events.ts';
import { type Beat, Heartbeat } from './heartbeat.ts';
import type { Perform, Stage, ToolCall } from './pipeline.ts';
import { recordAbort } from './unsent-aborts.ts';

/** The outermost stage: a stage that throws instead of rejecting is caught here as well. */
export function observe(deps: ObserveDeps): Stage {
  const heartbeat = new Heartbeat(deps.clock, limits.heartbeatMs);
  const all = { ...deps, heartbeat };
  const running = new Set<CallId>();
  return (next) => (call) => {
    const { callId } = call;
    if (deps.closing.aborted) return Promise.reject(new RuntimeError('RUNTIME_CLOSED', { ...call.tool?.id }));
    if (running.has(callId)) return Promise.reject(new RuntimeError('CALL_ID_TAKEN', { callId }));
    running.add(callId);
    deps.counts.calls += 1;
    return observed(call, next, all, () => running.delete(callId));
  };
}

export interface ObserveDeps {
  /** Counts every call that begins, and every one that fails or is answered with an error. */
  readonly counts: { calls: number; failedCalls: number };
  readonly emit: Emit<CallEvent>;
  readonly clock: Clock;
  /** Aborted when the runtime closes. */
  readonly closing: AbortSignal;
  /** Takes secrets out of a failure before it leaves the runtime. */
  readonly redact: (failure: RuntimeError) => RuntimeError;
  /** Receives what the caller's `onProgress` threw. */
  readonly onError: (error: unknown) => void;
}

interface Deps extends ObserveDeps {
  readonly heartbeat: Heartbeat;
}

async function observed(call: ToolCall, next: Perform, deps: Deps, onEnd: () => void): Promise<ToolOutcome> {
  const { emit, clock, onError, redact, heartbeat } = deps;
  const { callId, name, cancellation } = call;
  const who = { callId, name, ...(call.tool && { tool: call.tool.id }) };
  const startedAt = clock.now();
  let latest: Progress = { progress: 0 };
  let throttle: Throttle<Progress> | undefined;
  const announce = () => emit({ type: 'call.progressed', ...who, ...latest, elapsedMs: clock.now() - startedAt });
  const beat: Beat = { lastAt: startedAt, tell: announce };
  const tell = (progress: Progress) => {
    latest = progress;
    beat.lastAt = clock.now();
    announce();
    try {
      call.onProgress(progress);
    } catch (error) {
      onError(error);
    }
  };
  const finish = (end: CallEnd) => {
    onEnd();
    if (end.kind === 'failed' || (end.kind === 'answered' && end.isError)) deps.counts.failedCalls += 1;
    heartbeat.end(beat);
    if (end.kind === 'cancelled') throttle?.drop();
    else throttle?.flush();
    const tookMs = clock.now() - startedAt;
    emit({ type: 'call.finished', ...who, tookMs, end });
    return tookMs;
  };
  const onProgress: ToolCall['onProgress'] = (progress) => {
    throttle ??= createThrottle(clock, limits.progressMs, tell);
    throttle.push(progress);
  };
  const onRateLimited = (waitMs: number) => emit({ type: 'call.rate-limited', ...who, waitMs });
  let wasSent = false;
  const onSent = () => {
    wasSent = true;
  };
  emit({ type: 'call.started', ...who });
  heartbeat.begin(beat);
  try {
    const outcome = await next({ ...call, onProgress, onSent, onRateLimited });
    const durationMs = finish({
      kind: 'answered',
      isError: outcome.isError,
      result: firstBytes(outcome.text, limits.eventResultBytes),
    });
    return { ...outcome, meta: { ...outcome.meta, callId, durationMs } };
  } catch (error) {
    // An abort stays an abort: it is neither a failure of the server nor a result for the model.
    if (cancellation.cancelled && cancellation.reason === error && !(error instanceof RuntimeError)) {
      recordAbort(error, wasSent);
      finish({ kind: 'cancelled', wasSent });
      throw error;
    }
    const failure = redact(wasSent ? asRuntimeError(error) : unsent(error, call));
    finish({ kind: 'failed', code: failure.code, message: failure.message, remedy: failure.remedy });
    throw failure;
  }
}

/** A call that the closing runtime cancelled before it was sent has certainly had no effect. */
function unsent(error: unknown, { tool }: ToolCall): RuntimeError {
  const failure = asRuntimeError(error);
  return failure.code === 'CALL_CANCELLED'
    ? new RuntimeError('CALL_CANCELLED', { ...tool?.id, wasSent: false }, { cause: error })
    : failure;
}

/** Cuts a text to a number of bytes without splitting a character. */
function firstBytes(text: string, maxBytes: number): string {
  // No character takes more than three bytes per code unit.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text);
  let end = Math.min(maxBytes, bytes.length);
  while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
