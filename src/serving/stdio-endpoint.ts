// Owns MCP over a pair of pipes, both eras: a reader that stops while too many requests wait, a processor that answers them in any
// order, and a writer that keeps the order of its messages. No line ends the server; the end of input drains it.

import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import type { CancelTimer } from '../kernel/clock.ts';
import { type JsonObject, parseJson } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import { CallsById } from './calls-by-id.ts';
import type { Dispatcher } from './dispatcher.ts';
import { LegacySession } from './legacy-session.ts';
import { LineReader, type ReadLine } from './line-reader.ts';
import {
  batchOf,
  type ClientMessage,
  type ClientNotification,
  type ClientRequest,
  errorMessage,
  invalidAnswer,
  readMessage,
  resultMessage,
} from './message.ts';
import { isModern, modernPeer, notifierOf } from './modern-request.ts';
import { Outbox, type Outgoing } from './outbox.ts';
import {
  BATCH_VERSION,
  cancelledByClient,
  codes,
  faultOfInitialize,
  invalidRequest,
  methodNotFound,
  negotiated,
  ProtocolError,
} from './protocol.ts';
import { type CallReply, isCancelling } from './running-call.ts';
import type { Peer, Principal } from './service.ts';

export interface StdioPipes {
  readonly input: Readable;
  readonly output: Writable;
}

export class StdioEndpoint {
  readonly #dispatcher: Dispatcher;
  readonly #pipes: StdioPipes;
  readonly principal: Principal;
  readonly #outbox: Outbox<Outgoing>;
  readonly #calls = new CallsById();
  readonly #answers = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #session: LegacySession | undefined;
  #isBroken = false;

  constructor(dispatcher: Dispatcher, pipes: StdioPipes, principal: Principal = { id: `pipe-${randomUUID()}` }) {
    this.#dispatcher = dispatcher;
    this.#pipes = pipes;
    this.principal = principal;
    this.#outbox = new Outbox(dispatcher.limits.waiting, ({ text }) => this.#isBroken || pipes.output.write(text));
    pipes.output.on('drain', () => this.#outbox.resume());
    pipes.output.on('error', () => this.#break());
    pipes.output.on('close', () => this.#break());
  }

  /** Resolves at the end of input, when every answer has been written. */
  async run(): Promise<void> {
    const reader = new LineReader(this.#dispatcher.limits.messageBytes);
    try {
      for await (const chunk of this.#pipes.input)
        for (const line of reader.push(chunk)) {
          while (this.#dispatcher.places.isFull) await this.#dispatcher.places.whenRoom();
          if (this.#outbox.waiting >= this.#dispatcher.limits.waiting) await this.#whenRead();
          if (this.#stopping.signal.aborted) break;
          this.#read(line);
        }
      for (const line of reader.end()) this.#read(line);
    } catch (error) {
      // A broken input is the end of it; what was read is still answered.
      if (!this.#stopping.signal.aborted) this.#dispatcher.report(error);
    }
    await this.#drain();
  }

  /** Reads no more, if the client is meant; what was read is still answered. */
  stop(isMeant: (principal: Principal) => boolean = () => true): void {
    if (!isMeant(this.principal)) return;
    this.#stopping.abort();
    this.#pipes.input.destroy();
  }

  /** Resolves when the client has read what waits for it, or the server stops. */
  #whenRead(): Promise<void> {
    const { signal } = this.#stopping;
    return new Promise((resolve) => {
      const goOn = () => {
        signal.removeEventListener('abort', goOn);
        resolve();
      };
      signal.addEventListener('abort', goOn);
      void this.#outbox.whenEmpty().then(goOn);
    });
  }

  #read(line: ReadLine): void {
    if (line.kind === 'too-long') {
      this.#send(errorMessage(line.id, invalidRequest('Invalid request: the message is too large')));
      return;
    }
    const parsed = parseJson(line.text);
    if (!parsed.ok) this.#send(errorMessage(null, new ProtocolError(codes.parse, 'Parse error: the line is not JSON')));
    else if (Array.isArray(parsed.value)) this.#readBatch(parsed.value);
    else
      this.#process(readMessage(parsed.value), (answer) => {
        if (answer !== undefined) this.#write(answer);
      });
  }

  #readBatch(values: readonly unknown[]): void {
    const allowed = this.#session?.peer.protocolVersion === BATCH_VERSION;
    if (!allowed || values.length === 0 || values.length > limits.served.batch) {
      this.#send(errorMessage(null, invalidRequest('Invalid request: batches are not accepted here')));
      return;
    }
    const messages = values.map(readMessage);
    let missing = messages.filter(({ kind }) => kind === 'request' || kind === 'invalid').length;
    const answers: string[] = [];
    const collect = (answer: string | undefined) => {
      if (answer !== undefined) answers.push(answer);
      missing--;
      if (missing === 0 && answers.length > 0) this.#write(batchOf(answers));
    };
    for (const message of messages) this.#process(message, collect);
  }

  /** `answer` is called once for a request or an invalid message, without a message if it was cancelled. */
  #process(message: ClientMessage, answer: (text: string | undefined) => void): void {
    if (message.kind === 'invalid') answer(JSON.stringify(invalidAnswer(message)));
    else if (message.kind === 'answer') this.#session?.questions.settle(message);
    else if (message.kind === 'notification') this.#notified(message);
    else {
      const answering = this.#answer(message).then(answer);
      this.#answers.add(answering);
      void answering.finally(() => this.#answers.delete(answering));
    }
  }

  async #answer(request: ClientRequest): Promise<string | undefined> {
    try {
      if (this.#calls.has(request.id))
        throw invalidRequest('Invalid request: a request with this id is being answered');
      if (isModern(request.method, request.params))
        return await this.#dispatch(request, modernPeer(request, this.principal));
      if (this.#session !== undefined) return await this.#dispatch(request, this.#session.peer);
      if (request.method === 'initialize') return JSON.stringify(await this.#initialize(request));
      return JSON.stringify(this.#beforeInitialize(request));
    } catch (error) {
      return JSON.stringify(errorMessage(request.id, this.#dispatcher.toldError(error, { era: 'legacy' })));
    }
  }

  async #dispatch(request: ClientRequest, peer: Peer): Promise<string | undefined> {
    const calls = this.#session?.peer === peer ? this.#session.calls : this.#calls;
    const answered = await this.#dispatcher.answer({
      ...{ request, peer, reply: this.#reply },
      onCall: (call) => {
        calls.set(request.id, call);
        this.#calls.set(request.id, call);
      },
    });
    calls.delete(request.id);
    this.#calls.delete(request.id);
    return answered.isCancelled === true ? undefined : answered.text;
  }

  async #initialize({ id, params }: ClientRequest): Promise<JsonObject> {
    const fault = faultOfInitialize(params);
    if (fault !== undefined) throw fault;
    const { clock, limits: given } = this.#dispatcher;
    const session = new LegacySession({
      ...{ id: randomUUID(), principal: this.principal, introduction: params, clock, questionMs: given.questionMs },
      protocolVersion: negotiated(params['protocolVersion']),
      send: (message, mergeKey) => this.#send(message, mergeKey),
    });
    // Before the result is made: requests that follow at once belong to the session.
    this.#session = session;
    try {
      this.#dispatcher.openSession(session);
      return resultMessage(id, await this.#dispatcher.initializeResult(session.peer));
    } catch (error) {
      this.#session = undefined;
      this.#dispatcher.closeSession(session, error);
      throw error;
    }
  }

  #beforeInitialize({ id, method }: ClientRequest): JsonObject {
    if (method === 'ping') return resultMessage(id, {});
    if (!this.#dispatcher.hasMethod(method)) throw methodNotFound(method);
    return errorMessage(id, invalidRequest('Invalid request: initialize comes first'));
  }

  #notified(message: ClientNotification): void {
    const { method, params } = message;
    if (isCancelling(method, params)) {
      this.#calls.get(params.requestId)?.cancel(cancelledByClient());
      return;
    }
    const peer = isModern(method, params) ? notifierOf(message, this.principal) : this.#session?.peer;
    if (peer !== undefined && method !== 'notifications/initialized') this.#dispatcher.notified(method, params, peer);
  }

  readonly #reply: CallReply = {
    notify: (message, mergeKey) => this.#send(message, mergeKey),
    ask: (message) => {
      this.#send(message);
      return true;
    },
    closeStream: () => undefined,
  };

  #send(message: JsonObject, mergeKey?: string): void {
    this.#write(JSON.stringify(message), mergeKey);
  }

  #write(text: string, mergeKey?: string): void {
    this.#outbox.push({ text: `${text}\n`, ...(mergeKey !== undefined && { mergeKey }) });
  }

  /** Answers what was asked; a call that waits for the client has lost it, and a subscription its listener. */
  async #drain(): Promise<void> {
    const reason = new DOMException('the client has closed the connection', 'AbortError');
    for (const call of this.#calls.all())
      if (call.openQuestions > 0 || call.method === 'subscriptions/listen') call.cancel(reason);
    let stopTimer: CancelTimer | undefined;
    const timeUp = new Promise<void>((resolve) => {
      stopTimer = this.#dispatcher.clock.after(limits.served.drainMs, resolve, 'process');
    });
    await Promise.race([Promise.all(this.#answers), timeUp]);
    this.#cancelAll(reason);
    if (this.#session !== undefined) this.#dispatcher.closeSession(this.#session, reason);
    this.#dispatcher.suspended.endAll(reason, ({ id }) => id === this.principal.id);
    await Promise.race([this.#whenWritten(), timeUp]);
    stopTimer?.();
  }

  /** Resolves when the pipe has taken all messages, or takes none any more. */
  async #whenWritten(): Promise<void> {
    await this.#outbox.whenEmpty();
    if (!this.#isBroken) await new Promise<void>((resolve) => this.#pipes.output.write('', () => resolve()));
  }

  #cancelAll(reason: unknown): void {
    for (const call of this.#calls.all()) call.cancel(reason);
  }

  /** The client reads no more: its calls are cancelled, and reading ends. */
  #break(): void {
    this.#isBroken = true;
    this.#outbox.resume();
    this.#cancelAll(new DOMException('the client has closed the connection', 'AbortError'));
    this.#pipes.input.destroy();
  }
}
