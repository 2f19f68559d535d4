// Owns the types of call events; `observe.ts` emits them. `call.started` and `call.finished` always come as a pair.

import type { SignalEvent } from '../catalog/events.ts';
import type { FailureCode, Remedy } from '../model/errors.ts';
import type { ToolId } from '../model/names.ts';

export type CallId = string;

export type CallEnd =
  /** The tool answered; `result` is what the model reads, bounded. */
  | { readonly kind: 'answered'; readonly isError: boolean; readonly result: string }
  | { readonly kind: 'failed'; readonly code: FailureCode; readonly message: string; readonly remedy: Remedy }
  | { readonly kind: 'cancelled' };

export type CallEvent =
  | SignalEvent
  | { readonly type: 'call.started'; readonly callId: CallId; readonly name: string; readonly tool?: ToolId }
  /** For each progress notification, and as a heartbeat without one: then with the latest progress, or 0. */
  | {
      readonly type: 'call.progressed';
      readonly callId: CallId;
      readonly progress: number;
      readonly total?: number;
      readonly message?: string;
      readonly elapsedMs: number;
    }
  /** The server refused the call with HTTP 429: it waits, and is sent again once. */
  | { readonly type: 'call.rate-limited'; readonly callId: CallId; readonly name: string; readonly waitMs: number }
  | {
      readonly type: 'call.finished';
      readonly callId: CallId;
      readonly name: string;
      readonly tool?: ToolId;
      readonly tookMs: number;
      readonly end: CallEnd;
    }
  | {
      readonly type: 'approval.requested';
      readonly callId: CallId;
      readonly tool: ToolId;
      readonly because: string;
      /** How the tool differs from what was approved before. */
      readonly changes?: readonly string[];
    }
  | { readonly type: 'approval.settled'; readonly callId: CallId; readonly tool: ToolId; readonly answer: string };
