// Owns one streamed request to a model's HTTP interface: asking again after failures that pass, reading the events of the answer,
// and wording a failure. The body and the meaning of events belong to the files beside it.

import type { Clock } from '../../kernel/clock.ts';
import { isObject, type JsonObject, parseJson } from '../../kernel/json.ts';
import { oneLine } from '../../kernel/one-line.ts';
import { RuntimeError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { EventStreamReader } from '../../transport/event-stream.ts';
import { requestedWaitMs } from '../../transport/retry.ts';
import type { AnswerOptions, ChatAnswer } from '../chat-model.ts';

export interface ModelEndpoint {
  /** The model's name, for errors. */
  readonly model: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Taken out of the errors that the endpoint words. */
  readonly key: string | undefined;
  readonly clock: Clock;
}

/** Collects the answer from the events of one stream, or from the one object of an endpoint that does not stream. */
export interface AnswerReader {
  /** Returns the problem where the event reports one in place of an answer. */
  readEvent(data: JsonObject): EventProblem | undefined;
  readWhole(body: JsonObject): EventProblem | undefined;
  /** The stream has said that it is complete. */
  readonly isComplete: boolean;
  /** The first part of a call has come. */
  readonly hasCalls: boolean;
  /** Any part of the answer has come. */
  readonly hasBegun: boolean;
  answer(): ChatAnswer;
}

export interface EventProblem {
  readonly reason: string;
  readonly isPassing: boolean;
}

/** With these statuses the same request may succeed later; 529 is how one provider says that it is overloaded. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504, 529]);

type Attempt =
  | { readonly kind: 'answered'; readonly answer: ChatAnswer }
  | { readonly kind: 'failed'; readonly error: RuntimeError; readonly waitMs?: number | undefined };

/** Repeats as long as no part of an answer has come: after that the caller decides. */
export async function requestAnswer(
  endpoint: ModelEndpoint,
  body: JsonObject,
  options: AnswerOptions & { readonly createReader: () => AnswerReader },
): Promise<ChatAnswer> {
  const { signal, onDelay } = options;
  const text = JSON.stringify(body);
  for (let attempt = 0; ; attempt++) {
    const tried = await attemptOnce(endpoint, text, { signal, reader: options.createReader() });
    if (tried.kind === 'answered') return tried.answer;
    const delayMs = limits.model.retryDelaysMs[attempt];
    const { error, waitMs = delayMs } = tried;
    const isFinal = error.code !== 'MODEL_UNAVAILABLE' || 'cut' in error.data || delayMs === undefined;
    if (isFinal || waitMs === undefined || waitMs > limits.model.longestWaitMs) throw error;
    onDelay?.({ reason: (error.data as { readonly reason: string }).reason, waitMs });
    await endpoint.clock.sleep(waitMs, signal);
  }
}

interface AttemptContext {
  readonly signal: AbortSignal;
  readonly reader: AnswerReader;
}

async function attemptOnce(endpoint: ModelEndpoint, body: string, context: AttemptContext): Promise<Attempt> {
  const { signal, reader } = context;
  let isConnected = false;
  try {
    signal.throwIfAborted();
    // A redirect would carry the key to another address.
    const request = { method: 'POST', headers: endpoint.headers, body, signal, redirect: 'manual' } as const;
    const response = await fetch(endpoint.url, request);
    isConnected = true;
    if (!response.ok) return await refused(endpoint, response);
    const problem = await readAnswer(response, reader);
    if (problem === undefined && reader.isComplete) return { kind: 'answered', answer: reader.answer() };
    return interrupted(endpoint, reader, problem ?? { reason: 'its answer ended half way', isPassing: true });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const reason = isConnected ? `the connection broke (${networkFault(error)})` : networkReason(error);
    return interrupted(endpoint, reader, { reason, isPassing: true });
  }
}

/** A cut answer is not asked for again here: the person has read a part of it. */
function interrupted(endpoint: ModelEndpoint, reader: AnswerReader, problem: EventProblem): Attempt {
  const { model } = endpoint;
  const reason = quoteError(problem.reason, endpoint.key);
  if (!problem.isPassing) return { kind: 'failed', error: refusal(endpoint, problem.reason) };
  const cut = reader.hasBegun ? { cut: reader.hasCalls ? ('in-calls' as const) : ('in-text' as const) } : {};
  return { kind: 'failed', error: new RuntimeError('MODEL_UNAVAILABLE', { model, reason, ...cut }) };
}

const refusal = (endpoint: ModelEndpoint, reason: string, status?: number) =>
  new RuntimeError('MODEL_REFUSED', {
    model: endpoint.model,
    reason: quoteError(reason, endpoint.key),
    ...(status !== undefined && { status }),
    ...(!endpoint.key && { isKeyless: true as const }),
  });

async function refused(endpoint: ModelEndpoint, response: Response): Promise<Attempt> {
  const { status } = response;
  const body = await readStart(response);
  const reason = `it answered with HTTP ${status}: ${errorMessage(body) || response.statusText || 'no reason given'}`;
  if (!PASSING.has(status)) return { kind: 'failed', error: refusal(endpoint, reason, status) };
  const waitMs = requestedWaitMs(response.headers.get('retry-after') ?? undefined, endpoint.clock.now());
  const error = new RuntimeError('MODEL_UNAVAILABLE', {
    model: endpoint.model,
    reason: quoteError(reason, endpoint.key),
    ...(waitMs !== undefined && { waitMs }),
  });
  return { kind: 'failed', error, waitMs };
}

async function readStart(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > limits.model.errorChars * 8) break;
  }
  return text;
}

/** Of the two shapes that providers use; a page of a proxy is quoted by its beginning. */
function errorMessage(body: string): string {
  const parsed = parseJson(body);
  return parsed.ok && isObject(parsed.value) ? problemIn(parsed.value) || body : body;
}

/** The words of an error object; empty where there is none. */
export function problemIn({ error }: JsonObject): string {
  if (typeof error === 'string') return error;
  return isObject(error) && typeof error['message'] === 'string' ? error['message'] : '';
}

async function readAnswer(response: Response, reader: AnswerReader): Promise<EventProblem | undefined> {
  if (!/event-stream/i.test(response.headers.get('content-type') ?? '')) return readWhole(response, reader);
  let problem: EventProblem | undefined;
  let bytes = 0;
  const events = new EventStreamReader(limits.model.eventBytes, {
    onEvent(_type, data) {
      const parsed = parseJson(data);
      if (parsed.ok && isObject(parsed.value)) problem ??= reader.readEvent(parsed.value);
    },
    onOversized: () => (problem ??= { reason: 'one event of its answer is too large', isPassing: false }),
  });
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > limits.model.answerBytes) return { reason: 'its answer is too large', isPassing: false };
    events.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    if (problem !== undefined) return problem;
  }
  events.end();
  return problem;
}

/** `undefined`: it is larger. */
export async function readBody(response: Response, mostBytes: number): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    pieces.push(chunk);
    bytes += chunk.length;
    if (bytes > mostBytes) return undefined;
  }
  return Buffer.concat(pieces).toString('utf8');
}

async function readWhole(response: Response, reader: AnswerReader): Promise<EventProblem | undefined> {
  const text = await readBody(response, limits.model.eventBytes);
  if (text === undefined) return { reason: 'its answer is too large', isPassing: false };
  const parsed = parseJson(text);
  if (parsed.ok && isObject(parsed.value)) return reader.readWhole(parsed.value);
  return { reason: `its answer is no answer of a model: ${text}`, isPassing: false };
}

export const networkReason = (error: unknown): string => `it cannot be reached (${networkFault(error)})`;

function networkFault(error: unknown): string {
  const { cause = error } = error as { readonly cause?: unknown };
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
  return typeof code === 'string' ? code : String(message);
}

/** The words of an endpoint on one line, without the key. */
export function quoteError(text: string, key: string | undefined): string {
  const hidden = key === undefined || key === '' ? text : text.replaceAll(key, '[key]');
  return oneLine(hidden, limits.model.errorChars).replace(/[.\s]+$/, '');
}
