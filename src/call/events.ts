// Owns the types of call events; `observe.ts` emits them. `call.started` and `call.finished` always come as a pair.

import type { SignalEvent } from '../catalog/events.ts';
import type { Progress } from '../connection/session.ts';
import type { FailureCode, Remedy } from '../model/errors.ts';
import type { ToolId } from '../model/names.ts';

export type CallId = string;

/** The argument of a call's `onProgress`. */
export interface CallProgress extends Progress {
  readonly callId: CallId;
}

export type CallEnd =
  /** The tool answered; `result` is what the model reads, bounded. */
  | { readonly kind: 'answered'; readonly isError: boolean; readonly result: string }
  | { readonly kind: 'failed'; readonly code: FailureCode; readonly message: string; readonly remedy: Remedy }
  /** `wasSent`: the server may have got the call, so that its effect is unknown. */
  | { readonly kind: 'cancelled'; readonly wasSent: boolean };

export type CallEvent =
  | SignalEvent
  /** A call begins. `name` is as the model wrote it; `tool` is missing where no tool has that name. */
  | { readonly type: 'call.started'; readonly callId: CallId; readonly name: string; readonly tool?: ToolId }
  /** The server reported progress, or 30 s passed without any: then with the latest progress, or 0. */
  | {
      readonly type: 'call.progressed';
      readonly callId: CallId;
      readonly name: string;
      readonly tool?: ToolId;
      readonly progress: number;
      readonly total?: number;
      readonly message?: string;
      readonly elapsedMs: number;
    }
  /** The server refused the call with HTTP 429: it waits, and is sent again once. */
  | {
      readonly type: 'call.rate-limited';
      readonly callId: CallId;
      readonly name: string;
      readonly tool?: ToolId;
      readonly waitMs: number;
    }
  /** A call ended, in whatever way. Every `call.started` has one. */
  | {
      readonly type: 'call.finished';
      readonly callId: CallId;
      readonly name: string;
      readonly tool?: ToolId;
      readonly tookMs: number;
      readonly end: CallEnd;
    }
  /** A person is asked whether a call may be made. */
  | {
      readonly type: 'approval.requested';
      readonly callId: CallId;
      readonly tool: ToolId;
      readonly because: string;
      /** How the tool differs from what was approved before. */
      readonly changes?: readonly string[];
    }
  /** The answer: `no`, `once`, `session` or `always`. */
  | { readonly type: 'approval.settled'; readonly callId: CallId; readonly tool: ToolId; readonly answer: string };
