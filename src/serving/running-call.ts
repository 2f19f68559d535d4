// Owns one request while its handler runs: cancelling it, its progress and log messages, its questions, and its one answer. Where
// the messages go is the transport's; a modern call moves to another reply with each retry.

import { isObject, type JsonObject } from '../kernel/json.ts';
import type { LogLevel, MessageId } from '../model/server.ts';
import { type ClientRequest, notification } from './message.ts';
import { LOG } from './outbox.ts';
import { metaKeys } from './protocol.ts';
import type { Peer, ProgressReport, QuestionMethod, ServedCall, ServedMethod } from './service.ts';

/** The way back to the client for one request. */
export interface CallReply {
  /** A message with a merge key may give way while the client reads slowly. */
  notify(message: JsonObject, mergeKey?: string): void;
  /** Sends a legacy question; false where no stream can carry it. */
  ask(message: JsonObject): boolean;
  closeStream(): void;
}

export type AskClient = (
  call: RunningCall,
  question: { readonly method: QuestionMethod; readonly params: JsonObject; readonly key: string | undefined },
) => Promise<JsonObject>;

interface Waiter {
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (reason: unknown) => void;
}

const levels: readonly LogLevel[] = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

export const isLogLevel = (value: unknown): value is LogLevel => levels.includes(value as LogLevel);

/** Without a wanted level a legacy client gets all of its call's messages, a modern one none. */
export function isWanted(level: LogLevel, wanted: LogLevel | undefined): boolean {
  return wanted === undefined || levels.indexOf(level) >= levels.indexOf(wanted);
}

const NO_META: JsonObject = Object.freeze({});

export const metaOf = ({ _meta: meta }: JsonObject): JsonObject => (isObject(meta) ? meta : NO_META);

export class RunningCall implements ServedCall {
  readonly id: MessageId;
  readonly method: string;
  readonly params: JsonObject;
  readonly meta: JsonObject;
  readonly peer: Peer;
  /** How many questions of the call wait for an answer. */
  openQuestions = 0;
  readonly #ask: AskClient;
  #reply: CallReply;
  /** `_meta` of the latest request: a retry has its own progress token and log level. */
  #latestMeta: JsonObject;
  #controller: AbortController | undefined;
  #onCancel: ((reason: unknown) => void) | undefined;
  #cancelled: { readonly reason: unknown } | undefined;
  #waiter: Waiter | undefined;
  /** Set once the handler has ended; kept for a client that comes back later. */
  #outcome: { readonly result: JsonObject } | { readonly reason: unknown } | undefined;

  constructor(
    request: ClientRequest,
    options: { readonly peer: Peer; readonly reply: CallReply; readonly ask: AskClient },
  ) {
    this.id = request.id;
    this.method = request.method;
    this.params = request.params;
    this.meta = metaOf(request.params);
    this.#latestMeta = this.meta;
    this.peer = options.peer;
    this.#reply = options.reply;
    this.#ask = options.ask;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#cancelled !== undefined) this.#controller.abort(this.#cancelled.reason);
    return this.#controller.signal;
  }

  get isCancelled(): boolean {
    return this.#cancelled !== undefined;
  }

  get hasEnded(): boolean {
    return this.#outcome !== undefined;
  }

  get reply(): CallReply {
    return this.#reply;
  }

  /** Runs the handler. `onEnd` is called when it has ended, which after a cancellation may be later than the answer. */
  run(handler: ServedMethod, onEnd: () => void): JsonObject | Promise<JsonObject> {
    let made: JsonObject | Promise<JsonObject>;
    try {
      if (this.#cancelled !== undefined) throw this.#cancelled.reason;
      made = handler(this);
    } catch (reason) {
      this.#end({ reason }, onEnd);
      throw reason;
    }
    if (!(made instanceof Promise)) {
      this.#end({ result: made }, onEnd);
      return made;
    }
    made.then(
      (result) => this.#end({ result }, onEnd),
      (reason: unknown) => this.#end({ reason }, onEnd),
    );
    return this.#next();
  }

  /** A retry: the handler goes on, and its next outcome goes to this reply. */
  continueOn(reply: CallReply, params: JsonObject): Promise<JsonObject> {
    this.#reply = reply;
    this.#latestMeta = metaOf(params);
    return this.#next();
  }

  /** Answers the present request while the handler goes on waiting; false if no request waits for an answer. */
  answerMeanwhile(result: JsonObject): boolean {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.resolve(result);
    return waiter !== undefined;
  }

  onCancel(listener: (reason: unknown) => void): void {
    this.#onCancel = listener;
    if (this.#cancelled !== undefined) listener(this.#cancelled.reason);
  }

  /** The answer is given at once, whatever the handler does with its signal. */
  cancel(reason: unknown, answer: unknown = reason): void {
    if (this.#cancelled !== undefined || this.#outcome !== undefined) return;
    this.#cancelled = { reason };
    this.#controller?.abort(reason);
    this.#onCancel?.(reason);
    this.#waiter?.reject(answer);
    this.#waiter = undefined;
  }

  progress({ progress, total, message }: ProgressReport): void {
    const token = this.#latestMeta['progressToken'];
    if ((typeof token !== 'string' && typeof token !== 'number') || this.#isOver()) return;
    const params = {
      progressToken: token,
      progress,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message }),
    };
    this.#reply.notify(notification('notifications/progress', params), `progress ${token}`);
  }

  log(level: LogLevel, data: unknown, logger?: string): void {
    if (this.#isOver() || !this.#wants(level)) return;
    const params = { level, data, ...(logger !== undefined && { logger }) };
    this.#reply.notify(notification('notifications/message', params), LOG);
  }

  notify(method: string, params: JsonObject, mergeKey?: string): void {
    if (!this.#isOver()) this.#reply.notify(notification(method, params), mergeKey);
  }

  ask(method: QuestionMethod, params: JsonObject, { key }: { readonly key?: string } = {}): Promise<JsonObject> {
    return this.#ask(this, { method, params, key });
  }

  closeStream(): void {
    this.#reply.closeStream();
  }

  #wants(level: LogLevel): boolean {
    if (this.peer.era === 'legacy') return isWanted(level, this.peer.session?.level);
    const wanted = this.#latestMeta[metaKeys.logLevel];
    return isLogLevel(wanted) && isWanted(level, wanted);
  }

  #isOver(): boolean {
    return this.#cancelled !== undefined || this.#outcome !== undefined;
  }

  #next(): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      if (this.#cancelled !== undefined) reject(this.#cancelled.reason);
      else if (this.#outcome === undefined) this.#waiter = { resolve, reject };
      else if ('result' in this.#outcome) resolve(this.#outcome.result);
      else reject(this.#outcome.reason);
    });
  }

  #end(outcome: { readonly result: JsonObject } | { readonly reason: unknown }, onEnd: () => void): void {
    this.#outcome = outcome;
    const waiter = this.#waiter;
    this.#waiter = undefined;
    if ('result' in outcome) waiter?.resolve(outcome.result);
    else waiter?.reject(outcome.reason);
    onEnd();
  }
}

export const isCancelling = (
  method: string,
  params: JsonObject,
): params is JsonObject & { readonly requestId: MessageId } =>
  method === 'notifications/cancelled' && 'requestId' in params;
