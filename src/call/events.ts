// Owns what a call reports to the outside. Started and finished always come as a pair.

import type { FailureCode, Remedy } from '../model/errors.ts';
import type { ToolId } from '../model/names.ts';

export type CallId = string;

export type CallEnd =
  /** The tool answered; `result` is what the model reads, bounded. */
  | { readonly kind: 'answered'; readonly isError: boolean; readonly result: string }
  | { readonly kind: 'failed'; readonly code: FailureCode; readonly message: string; readonly remedy: Remedy }
  | { readonly kind: 'cancelled' };

export type CallEvent =
  | { readonly type: 'call.started'; readonly callId: CallId; readonly name: string; readonly tool?: ToolId }
  | {
      readonly type: 'call.progressed';
      readonly callId: CallId;
      readonly progress: number;
      readonly total?: number;
      readonly message?: string;
    }
  | {
      readonly type: 'call.finished';
      readonly callId: CallId;
      readonly name: string;
      readonly tool?: ToolId;
      readonly tookMs: number;
      readonly end: CallEnd;
    }
  | { readonly type: 'approval.requested'; readonly callId: CallId; readonly tool: ToolId; readonly because: string }
  | { readonly type: 'approval.settled'; readonly callId: CallId; readonly tool: ToolId; readonly answer: string };
