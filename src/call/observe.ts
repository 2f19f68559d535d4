// Owns the events of a call: `call.started` and `call.finished` always come as a pair, with how long the call took. Refuses a call
// whose id another running call has, since its events could not be told apart, and any call once the runtime is closed.

import type { Progress } from '../connection/session.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Emit } from '../kernel/emitter.ts';
import type { RosterEntry } from '../kernel/roster.ts';
import { createThrottle, type Throttle } from '../kernel/throttle.ts';
import { asRuntimeError, RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ToolId } from '../model/names.ts';
import type { CallEnd, CallEvent, CallId } from './events.ts';
import { type Beat, Heartbeat } from './heartbeat.ts';
import { attempt, type CallObserver, type OutcomeDraft, type Stage, type ToolCall } from './pipeline.ts';
import { recordAbort } from './unsent-aborts.ts';

/** The outermost stage: a stage that throws instead of rejecting is caught here as well. */
export function observe(deps: ObserveDeps): Stage {
  const shared = { ...deps, heartbeat: new Heartbeat(deps.clock, limits.heartbeatMs), running: new Set<CallId>() };
  return (next) => (call) => {
    const { callId } = call;
    if (deps.closing.aborted) return Promise.reject(new RuntimeError('RUNTIME_CLOSED', { ...call.tool?.id }));
    if (shared.running.has(callId)) return Promise.reject(new RuntimeError('CALL_ID_TAKEN', { callId }));
    const observation = new Observation(call, shared);
    call.observer = observation;
    observation.begin();
    return attempt(next, call).then(
      (outcome) => observation.answered(outcome),
      (error: unknown) => {
        throw observation.failed(error);
      },
    );
  };
}

export interface ObserveDeps {
  /** Counts every call that begins, and every one that fails or is answered with an error. */
  readonly counts: { calls: number; failedCalls: number };
  readonly emit: Emit<CallEvent>;
  /** Without a listener, the events of every call are not even built. */
  readonly isHeard: (type: CallEvent['type']) => boolean;
  readonly clock: Clock;
  /** Aborted when the runtime closes. */
  readonly closing: AbortSignal;
  /** Takes secrets out of a failure before it leaves the runtime. */
  readonly redact: (failure: RuntimeError) => RuntimeError;
  /** Receives what the caller's `onProgress` threw. */
  readonly onError: (error: unknown) => void;
}

interface Shared extends ObserveDeps {
  readonly heartbeat: Heartbeat;
  readonly running: Set<CallId>;
}

/** One running call, as the outside hears of it. */
class Observation implements CallObserver, Beat {
  readonly #call: ToolCall;
  readonly #shared: Shared;
  readonly #startedAt: number;
  #latest: Progress = NO_PROGRESS;
  #throttle: Throttle<Progress> | undefined;
  #beat: RosterEntry<Beat> | undefined;
  #wasSent = false;
  lastAt: number;

  constructor(call: ToolCall, shared: Shared) {
    this.#call = call;
    this.#shared = shared;
    this.#startedAt = shared.clock.now();
    this.lastAt = this.#startedAt;
  }

  begin(): void {
    const { running, counts, heartbeat, isHeard, emit } = this.#shared;
    running.add(this.#call.callId);
    counts.calls += 1;
    if (isHeard('call.started')) emit({ type: 'call.started', ...this.#who() });
    this.#beat = heartbeat.begin(this);
  }

  onSent(): void {
    this.#wasSent = true;
  }

  onProgress(progress: Progress): void {
    this.#throttle ??= createThrottle(this.#shared.clock, limits.progressMs, (latest) => this.#forward(latest));
    this.#throttle.push(progress);
  }

  onRateLimited(waitMs: number): void {
    this.#shared.emit({ type: 'call.rate-limited', ...this.#who(), waitMs });
  }

  /** Reports the latest progress, which the heartbeat does where none comes. */
  tell(): void {
    const { emit, clock } = this.#shared;
    emit({ type: 'call.progressed', ...this.#who(), ...this.#latest, elapsedMs: clock.now() - this.#startedAt });
  }

  answered(outcome: OutcomeDraft): OutcomeDraft {
    const { isError, text, meta } = outcome;
    if (isError) this.#shared.counts.failedCalls += 1;
    meta.callId = this.#call.callId;
    meta.durationMs = this.#end();
    if (this.#shared.isHeard('call.finished')) {
      const result = firstBytes(text, limits.eventResultBytes);
      this.#finished(meta.durationMs, { kind: 'answered', isError, result });
    }
    return outcome;
  }

  /** Returns what the caller is to be thrown. */
  failed(error: unknown): unknown {
    const { cancellation } = this.#call;
    const wasSent = this.#wasSent;
    // An abort stays an abort: it is neither a failure of the server nor a result for the model.
    if (cancellation.cancelled && cancellation.reason === error && !(error instanceof RuntimeError)) {
      recordAbort(error, wasSent);
      this.#throttle?.drop();
      this.#finished(this.#end(), { kind: 'cancelled', wasSent });
      return error;
    }
    const failure = this.#shared.redact(wasSent ? asRuntimeError(error) : unsent(error, this.#call));
    this.#shared.counts.failedCalls += 1;
    const { code, message, remedy } = failure;
    this.#finished(this.#end(), { kind: 'failed', code, message, remedy });
    return failure;
  }

  /** Returns how long the call took. */
  #end(): number {
    const { running, heartbeat, clock } = this.#shared;
    running.delete(this.#call.callId);
    if (this.#beat) heartbeat.end(this.#beat);
    this.#throttle?.flush();
    return clock.now() - this.#startedAt;
  }

  #finished(tookMs: number, end: CallEnd): void {
    this.#shared.emit({ type: 'call.finished', ...this.#who(), tookMs, end });
  }

  #forward(progress: Progress): void {
    this.#latest = progress;
    this.lastAt = this.#shared.clock.now();
    this.tell();
    try {
      this.#call.onProgress(progress);
    } catch (error) {
      this.#shared.onError(error);
    }
  }

  #who(): { readonly callId: CallId; readonly name: string; readonly tool?: ToolId } {
    const { callId, name, tool } = this.#call;
    return { callId, name, ...(tool && { tool: tool.id }) };
  }
}

const NO_PROGRESS: Progress = { progress: 0 };

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
  const bytes = Buffer.from(text.slice(0, maxBytes));
  let end = Math.min(maxBytes, bytes.length);
  while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
