// Owns what a scripted model says, step by step, whichever API it is asked by: each request to the model takes the next step.

import type { JsonObject } from '../../../src/kernel/json.ts';

/** A text, tool calls, or both, as one answer of the model. */
export interface Reply {
  readonly text?: string;
  /** More than one: parallel calls. */
  readonly calls?: readonly ScriptedCall[];
  readonly usage?: { readonly input: number; readonly output: number };
}

export interface ScriptedCall {
  /** Default: `call_1`, `call_2` and so on, over the whole script. */
  readonly id?: string;
  readonly name: string;
  /** A text is sent as it is, also where it is no JSON. */
  readonly arguments?: JsonObject | string;
}

/** What goes wrong instead of an answer, or in the middle of one. */
export type Fault =
  /** An error as the API words it. */
  | { readonly fault: 'status'; readonly status: number; readonly message?: string; readonly retryAfterSec?: number }
  /** Status 200, and a body that is no JSON and no stream. */
  | { readonly fault: 'garbage' }
  /** Half of the reply, then the connection is closed. */
  | { readonly fault: 'cut'; readonly reply: Reply }
  /** Half of the reply, or not even headers, then silence until the client goes. */
  | { readonly fault: 'stall'; readonly reply?: Reply };

export type Step = Reply | Fault;

/** A function sees the request first, so that a test can act between two steps, or answer what was found. */
export type ScriptedStep = Step | ((request: ModelRequest) => Step | Promise<Step>);

export type ApiName = 'chat-completions' | 'responses' | 'messages' | 'generate-content';

/** A request as it came in: tests look here for tools, results and images that the framework sent. */
export interface ModelRequest {
  readonly api: ApiName;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: JsonObject;
}

/** A call with its id, ready to be written. */
export interface NumberedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject | string;
}

export interface NumberedReply {
  /** Of the step, beginning with 1. */
  readonly number: number;
  readonly model: string;
  readonly text: string | undefined;
  readonly calls: readonly NumberedCall[];
  readonly usage: { readonly input: number; readonly output: number };
}

export interface ServerSentEvent {
  readonly event?: string;
  readonly data: JsonObject | string;
}

/** One API: how it writes a reply as a whole, as a stream, and how it words an error. */
export interface ModelApi {
  readonly name: ApiName;
  /** Whether a POST to this path, without its query, is for this API. */
  readonly serves: (path: string) => boolean;
  readonly isStream: (path: string, body: JsonObject) => boolean;
  /** Why the real API answers such a request with 400, where a shape that adapters could send is one that it refuses. */
  readonly refusal?: (body: JsonObject) => string | undefined;
  readonly whole: (reply: NumberedReply) => JsonObject;
  readonly events: (reply: NumberedReply, body: JsonObject) => readonly ServerSentEvent[];
  readonly error: (status: number, message: string) => JsonObject;
}

/** The arguments as the text that OpenAI's APIs and streams carry. */
export const argumentsText = ({ arguments: args }: NumberedCall): string =>
  typeof args === 'string' ? args : JSON.stringify(args);

/** The arguments as a value, for APIs that carry one; a text that is no JSON stays a text. */
export function argumentsValue({ arguments: args }: NumberedCall): unknown {
  if (typeof args !== 'string') return args;
  try {
    return JSON.parse(args);
  } catch {
    return args;
  }
}

/** Two halves, as a stream brings a text in pieces. */
export function halvesOf(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
}
