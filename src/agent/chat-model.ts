// Owns the port to a language model: what the agent asks of it in one step, and what it answers. `models/` has implementations
// over HTTP; a host brings its own by writing `answer`.

import type { ImagePart } from '../adapters/toolset.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Model } from '../model/model.ts';

/** A language model. The fields beside `answer` say what it can do; all but the name may be absent, as in `Model`. */
export interface ChatModel extends Pick<Model, 'contextWindow' | 'provider' | 'vision'> {
  readonly name: string;
  /**
   * One answer to the conversation so far. Rejects with the signal's reason when that aborts, and with a `RuntimeError` of code
   * `MODEL_REFUSED` or `MODEL_UNAVAILABLE` where the model says no or cannot be reached.
   */
  answer(request: ChatRequest, options: AnswerOptions): Promise<ChatAnswer>;
}

export interface ChatRequest {
  readonly system: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatModelTool[];
}

export interface ChatModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
}

export type ChatMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly RequestedCall[] }
  | ResultMessage;

/** The result of one call; each call of an assistant's message has one behind it. */
export interface ResultMessage {
  readonly role: 'tool';
  readonly callId: string;
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
  readonly images?: readonly ImagePart[];
}

/** A call as the model wrote it: its arguments are JSON text, which may be wrong. */
export interface RequestedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface AnswerOptions {
  readonly signal: AbortSignal;
  /** Takes the text of the answer piece by piece, as it comes. */
  readonly onText: (text: string) => void;
  /** Told before the model is asked again after a failure that passes. */
  readonly onDelay?: (delay: ModelDelay) => void;
}

export interface ModelDelay {
  readonly reason: string;
  readonly waitMs: number;
}

export interface ChatAnswer {
  readonly text: string;
  /** None: the model has nothing more to call. */
  readonly calls: readonly RequestedCall[];
  /** Absent where the provider does not count; then both are estimated. */
  readonly usage?: TokenUsage;
}

export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}
