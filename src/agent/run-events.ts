// Owns what a host hears of an agent while it works: plain data in the past tense, each with the conversation it belongs to.

import type { ModelDelay, TokenUsage } from './chat-model.ts';

/** Why a run ended: the model had nothing more to call, a budget was used up, or the model repeated itself. */
export type RunEnd = 'replied' | 'steps' | 'tokens' | 'time' | 'repetition';

/** An event before it is told of which conversation. */
export type RunEvent =
  /** The first event of a run. */
  | { readonly type: 'conversation.started'; readonly model: string; readonly isResumed: boolean }
  /** A piece of the answer, as it came. */
  | { readonly type: 'text.received'; readonly text: string }
  /** The model fails for now and is asked again after `waitMs`. */
  | ({ readonly type: 'model.delayed' } & ModelDelay)
  /** The answer broke off; the text received since the last step does not count. */
  | { readonly type: 'step.interrupted'; readonly reason: string; readonly isRepeated: boolean }
  /** Before a tool runs. Arguments are the model's JSON text, without known secrets. */
  | { readonly type: 'call.requested'; readonly callId: string; readonly name: string; readonly arguments: string }
  /** Follows each `call.requested`, also of a call that failed, was denied or was cancelled. */
  | {
      readonly type: 'call.answered';
      readonly callId: string;
      readonly name: string;
      /** As the model reads it. */
      readonly text: string;
      readonly isError: boolean;
      readonly tookMs: number;
    }
  /** Old results were taken out of what the model reads, so that it fits its window. */
  | { readonly type: 'context.reduced'; readonly results: number }
  /** The conversation cannot be written, and goes on in memory. Told once for each run. */
  | { readonly type: 'conversation.unsaved'; readonly reason: string }
  /** One answer of the model is complete, and the calls in it are done. */
  | { readonly type: 'step.finished'; readonly step: number; readonly calls: number; readonly usage: TokenUsage }
  /** The last event of a run that was not cancelled and did not fail. */
  | ({ readonly type: 'conversation.replied' } & RunResult);

export interface RunResult {
  readonly text: string;
  readonly end: RunEnd;
  readonly steps: number;
  /** Of all steps together. */
  readonly usage: TokenUsage;
}

export type AgentEvent = RunEvent & { readonly conversationId: string };
