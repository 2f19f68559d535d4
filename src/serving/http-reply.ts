// Owns the HTTP response to one POST: a single JSON answer, or a stream of events from the moment on at which more than the answer
// has to be sent. A legacy stream outlives its connection, a modern one does not.

import type { JsonObject } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { Answered } from './dispatcher.ts';
import { EventStream } from './event-stream.ts';
import { type ServedResponse, streamOf } from './http-exchange.ts';
import type { HttpSession } from './http-session.ts';
import { batchOf } from './message.ts';
import { codes, type ProtocolEra } from './protocol.ts';
import type { CallReply } from './running-call.ts';

export interface HttpReplyOptions {
  readonly response: ServedResponse;
  /** Of a legacy client. */
  readonly session: HttpSession | undefined;
  /** Whether the client accepts a stream, and whether it accepts nothing else. */
  readonly accepts: { readonly events: boolean; readonly json: boolean };
  /** How many answers make the response complete: more than one for a batch. */
  readonly answers: number;
  readonly isBatch: boolean;
  readonly waiting: number;
  readonly now: number;
}

export class HttpReply implements CallReply {
  readonly #options: HttpReplyOptions;
  #stream: EventStream | undefined;
  #answers: string[] = [];
  #lastWrite: number;

  constructor(options: HttpReplyOptions) {
    this.#options = options;
    this.#lastWrite = options.now;
  }

  get isAnswered(): boolean {
    return this.#answers.length >= this.#options.answers;
  }

  notify(message: JsonObject, mergeKey?: string): void {
    this.#open()?.push(JSON.stringify(message), mergeKey);
  }

  ask(message: JsonObject): boolean {
    const stream = this.#open();
    stream?.push(JSON.stringify(message));
    return stream !== undefined;
  }

  closeStream(): void {
    if (this.#options.session !== undefined) this.#open()?.disconnect();
  }

  deliver(answered: Answered): void {
    if (!this.#options.accepts.json) this.#open();
    this.#answers.push(answered.text);
    if (this.#stream !== undefined) {
      this.#stream.push(answered.text);
      if (this.isAnswered) this.#stream.finish();
    } else if (this.isAnswered) this.#sendJson(answered);
  }

  /** Called now and then: a call that takes long gets a stream, which a legacy client can come back to, and the stream comments. */
  tick(now: number): void {
    const { session } = this.#options;
    const { streamAfterMs, keepAliveMs } = limits.served;
    const silentMs = now - this.#lastWrite;
    if (this.#stream === undefined ? silentMs < (session ? streamAfterMs : keepAliveMs) : silentMs < keepAliveMs)
      return;
    this.#lastWrite = now;
    const isNew = this.#stream === undefined;
    const stream = this.#open();
    if (!isNew || session === undefined) stream?.keepAlive();
  }

  #sendJson({ code, status: own, isHandedOn }: Answered): void {
    const { response, session, isBatch } = this.#options;
    if (response.destroyed) return;
    const body = isBatch ? batchOf(this.#answers) : (this.#answers[0] as string);
    const usual = code === undefined ? 200 : statusOf(session ? 'legacy' : 'modern', code, isHandedOn);
    const status = isBatch ? 200 : (own ?? usual);
    if (status === 429) response.setHeader('retry-after', '1');
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  }

  #open(): EventStream | undefined {
    if (this.#stream !== undefined) return this.#stream;
    const { response, session, accepts, waiting } = this.#options;
    if (!accepts.events || response.headersSent || response.destroyed) return undefined;
    const stream = session ? session.openStream() : new EventStream({ waiting, kept: NOTHING, retryMs: 0 });
    if (stream === undefined) return undefined;
    const written = streamOf(response);
    written.writeHead(200, streamHeaders);
    stream.attach(written);
    for (const answer of this.#answers) stream.push(answer);
    this.#stream = stream;
    return stream;
  }
}

const NOTHING = { events: 0, chars: 0 };

export const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

const BAD_REQUESTS: readonly number[] = [codes.headerMismatch, codes.missingCapability, codes.unsupportedVersion];

/** A legacy client reads errors in the body of a 200; of a modern one's, those about the request itself have a status. */
export function statusOf(era: ProtocolEra, code: number, isHandedOn: boolean): number {
  if (code === codes.overloaded && !isHandedOn) return 429;
  if (era === 'legacy') return 200;
  if (code === codes.methodNotFound) return 404;
  return BAD_REQUESTS.includes(code) || !isHandedOn ? 400 : 200;
}
