// Owns one message on its way over HTTP: until its answer was delivered, it was taken note of, or it is certain that
// neither will happen. Asks again and takes up broken streams where that can do no harm; always ends.

import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { isObject } from '../kernel/json.ts';
import type { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Message, MessageId, RequestFailure } from '../model/server.ts';
import { type AnswerBody, EventBody, kindOfAnswer, MessageBody, QuotedBody } from './answer.ts';
import {
  type AnswerHeaders,
  type Exchange,
  type HttpClient,
  type HttpListener,
  type HttpRequest,
  headerIn,
  type Target,
} from './exchange.ts';
import {
  broken,
  errorAnswerIn,
  failureOf,
  isUnknownSession,
  isWrongAddress,
  lost,
  sessionExpired,
  tellsOlderEra,
  unknownMethod,
} from './http-failure.ts';
import { type HeaderBlock, headerValue } from './http-headers.ts';
import { isPassing, retryAdvice } from './retry.ts';

export interface OutgoingRequest {
  readonly target: Target;
  readonly headers: HeaderBlock;
  readonly body: string;
  readonly method: string | undefined;
  /** Of a request; nobody waits for an answer to anything else. */
  readonly id: MessageId | undefined;
  /** Where an answer is looked for: behind the message, or on a stream that someone else reads. */
  readonly answer: 'here' | 'elsewhere';
  readonly repeatable: boolean;
  /** The session it belongs to. */
  readonly session: string | undefined;
  /** What a broken stream is asked for again with; nothing where that is not done. */
  readonly resumeHeaders: HeaderBlock | undefined;
}

export function idOf({ id }: Message): MessageId | undefined {
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

/** The server's own requests have ids too, which are no answers to ours. */
export function isAnswerTo(id: MessageId | undefined, message: Message): boolean {
  return message['id'] === id && message['method'] === undefined;
}

export interface PostOffice {
  readonly client: HttpClient;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  readonly hasToken: boolean;
  readonly hide: (text: string) => string;
  /** The server has said yes; what it says beside that comes next. */
  accepted(post: Post, headers: AnswerHeaders): void;
  deliver(message: Message): void;
  oversized(id: MessageId | undefined): void;
  noise(text: string): void;
  /** The server is not there: for this message, and for all others. */
  unreachable(cause: RuntimeError): void;
  /** The server is at work on this one. */
  sign(id: MessageId): void;
  /** Nobody waits any more, though its stream may still be open. */
  answered(post: Post): void;
  /** No answer will come, and nothing is open for it any more. */
  failed(post: Post, failure: RequestFailure): void;
  /** Nothing is open for it any more. */
  done(post: Post): void;
}

export class Post implements HttpListener {
  readonly letter: OutgoingRequest;
  /** When the server was last heard; never while it is not its turn. */
  heardAt = 0;
  readonly #office: PostOffice;
  #exchange: Exchange | undefined;
  #cancelPause: CancelTimer | undefined;
  #status = 0;
  #statusText = '';
  #retryAfter: string | undefined;
  /** Set once the head is there. */
  #body: AnswerBody | undefined;
  #retries = 0;
  #resets = 0;
  #resumes = 0;
  /** Set when a stream was taken up again: the event it went on from. */
  #resumedFrom: string | undefined;
  #resumeMs: number = limits.streamResumeMs;
  #isSettled = false;

  constructor(office: PostOffice, letter: OutgoingRequest) {
    this.#office = office;
    this.letter = letter;
  }

  /** Certainly not handled: it waits for a connection, or to be asked again after a no. */
  get isUntouched(): boolean {
    if (this.#isSettled || this.#resumedFrom !== undefined) return false;
    return this.#exchange === undefined ? this.#cancelPause !== undefined : !this.#exchange.sent;
  }

  begin(): void {
    const { target, headers, body } = this.letter;
    this.#ask({ method: 'POST', target, headers, body });
  }

  /** Nothing is told any more. */
  abort(): void {
    this.#isSettled = true;
    this.#cancelPause?.();
    this.#exchange?.abort();
  }

  /** It has been silent for too long. Asking the same again would only be met by the same silence. */
  giveUp(): void {
    this.#exchange?.abort();
    this.#resets = 1;
    const reason = `it was silent for ${limits.httpIdleMs / 1_000} s`;
    this.failed({ sent: true, cause: lost(this.#office.client.server, reason) });
  }

  head(status: number, headers: AnswerHeaders, statusText: string): void {
    this.#hear();
    this.#status = status;
    if (status < 200 || status > 299) {
      this.#statusText = statusText;
      this.#retryAfter = headerIn(headers, 'retry-after');
      this.#body = new QuotedBody();
      return;
    }
    if (this.#resumedFrom === undefined) this.#office.accepted(this, headers);
    if (this.letter.id !== undefined && this.letter.answer === 'here') this.#expectAnswer(headers);
    else {
      this.#isSettled = true;
      this.#body = new QuotedBody();
    }
  }

  data(chunk: Buffer): void {
    this.#hear();
    if (this.#body?.push(chunk) !== false) return;
    this.#exchange?.abort();
    this.#over(undefined);
  }

  end(): void {
    this.#body?.end();
    this.#over(undefined);
  }

  failed(failure: RequestFailure): void {
    if (!failure.sent && failure.status === undefined) {
      if (!this.#isSettled) this.#fail(failure);
      this.#office.unreachable(failure.cause);
    } else if (failure.status !== undefined && !this.#isSettled) this.#fail(failure);
    else this.#over(failure);
  }

  onValue(value: unknown): void {
    if (Array.isArray(value)) for (const each of value) this.onValue(each);
    else if (!isObject(value)) this.onNoise(JSON.stringify(value));
    else {
      if (isAnswerTo(this.letter.id, value)) this.#settle();
      this.#office.deliver(value);
    }
  }

  onNoise(text: string): void {
    this.#office.noise(text);
  }

  onOversized(id: MessageId | undefined): void {
    if (id === this.letter.id) this.#settle();
    this.#office.oversized(id);
  }

  #hear(): void {
    const { id, answer } = this.letter;
    this.heardAt = this.#office.clock.now();
    if (id !== undefined && answer === 'here' && !this.#isSettled) this.#office.sign(id);
  }

  #ask(request: HttpRequest): void {
    this.#cancelPause = undefined;
    this.#body = undefined;
    this.heardAt = this.#office.clock.now();
    this.#exchange = this.#office.client.exchange(request, this);
  }

  #pause(ms: number, next: () => void): void {
    this.heardAt = Number.POSITIVE_INFINITY;
    this.#cancelPause = this.#office.clock.after(ms, next);
  }

  #expectAnswer(headers: AnswerHeaders): void {
    const { maxMessageBytes, client } = this.#office;
    const kind = kindOfAnswer(this.#status, headers);
    if (kind === 'events') this.#body = new EventBody(maxMessageBytes, this);
    else if (kind === 'message') this.#body = new MessageBody(maxMessageBytes, this.letter.id, this);
    else {
      this.#exchange?.abort();
      this.#fail({ sent: true, status: this.#status, cause: broken(client.server, kind.problem) });
    }
  }

  /** The exchange has ended, in good order or by a failure. */
  #over(failure: RequestFailure | undefined): void {
    const body = this.#body;
    this.#exchange = undefined;
    if (this.#isSettled) this.#office.done(this);
    else if (body instanceof EventBody) this.#resume(body.reader.lastEventId, body.reader.retryMs, failure);
    else if (this.#resumedFrom !== undefined) this.#notResumed(body, failure);
    else if (body instanceof QuotedBody) this.#refused(body.take());
    else if (failure === undefined) this.#fail(this.#noAnswer());
    else if (body === undefined && this.letter.repeatable && this.#resets === 0) {
      this.#resets = 1;
      this.begin();
    } else this.#fail(failure);
  }

  #noAnswer(): RequestFailure {
    const cause = broken(this.#office.client.server, 'its answer does not belong to the request');
    return { sent: true, status: this.#status, cause };
  }

  /** A server that numbers its events can be asked for those that are missing. */
  #resume(lastEventId: string | undefined, retryMs: number | undefined, failure: RequestFailure | undefined): void {
    const { resumeHeaders, target } = this.letter;
    const from = lastEventId ?? this.#resumedFrom;
    const place = from === undefined ? undefined : headerValue(from);
    if (from !== this.#resumedFrom) this.#resumes = 0;
    this.#resumeMs = retryMs ?? this.#resumeMs;
    if (resumeHeaders === undefined || place === undefined || this.#resumes === limits.streamResumes) {
      const cause = lost(this.#office.client.server, 'its stream ended before the answer');
      this.#fail(failure ?? { sent: true, cause });
      return;
    }
    this.#resumes += 1;
    this.#resumedFrom = from;
    const headers = [...resumeHeaders, 'last-event-id', place];
    this.#pause(this.#resumeMs, () => this.#ask({ method: 'GET', target, headers }));
  }

  #notResumed(body: AnswerBody | undefined, failure: RequestFailure | undefined): void {
    const refusal = body instanceof QuotedBody ? this.#failureFor(body.take()) : failure;
    if (refusal?.status === undefined || isPassing(refusal.status)) this.#resume(undefined, undefined, refusal);
    else this.#fail(refusal);
  }

  #refused(body: string): void {
    const { id, method, session, repeatable } = this.letter;
    const status = this.#status;
    const said = id === undefined ? undefined : errorAnswerIn(body, id);
    // Where the answers come over another stream, that stream would have ended with the session.
    const mayBeExpired = session !== undefined && (status === 404 || this.letter.answer === 'here');
    const isExpired = mayBeExpired && isUnknownSession(status, said);
    // A login or a session that is gone is no matter of this one request, whatever else is said in its answer.
    const isAnswer = id !== undefined && !isExpired && status !== 401 && status !== 403;
    const answer = isAnswer ? said : undefined;
    const now = this.#office.clock.now();
    const advice = retryAdvice({ status, repeatable, retries: this.#retries, retryAfter: this.#retryAfter, now });
    if (answer !== undefined && !answer.loose) this.#conclude(answer.message);
    else if (advice.kind === 'again') {
      this.#retries += 1;
      this.#pause(advice.afterMs, () => this.begin());
    } else if (answer !== undefined && !isWrongAddress(method, status)) this.#conclude(answer.message);
    else if (isAnswer && method === 'server/discover' && tellsOlderEra(status)) this.#conclude(unknownMethod(id));
    else if (isExpired) this.#fail(sessionExpired(this.#office.client.server, status));
    else this.#fail(this.#failureFor(body, advice.kind === 'too-long' ? advice.waitMs : undefined));
  }

  #failureFor(body: string, waitMs?: number): RequestFailure {
    const { client, hasToken, hide } = this.#office;
    const refusal = {
      status: this.#status,
      statusText: this.#statusText,
      body: hide(body),
      retryAfter: this.#retryAfter,
      waitMs,
    };
    return failureOf(refusal, { server: client.server, method: this.letter.method, hasToken });
  }

  #conclude(message: Message): void {
    this.onValue(message);
    this.#office.done(this);
  }

  /** Nobody waits any more; what the server still says on the stream is heard all the same. */
  #settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#office.answered(this);
  }

  #fail(failure: RequestFailure): void {
    this.#isSettled = true;
    // Whatever became of the asking again: the message itself had arrived.
    this.#office.failed(this, this.#resumedFrom === undefined ? failure : { ...failure, sent: true });
  }
}
