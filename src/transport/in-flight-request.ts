// Owns one message in flight over HTTP, until its answer was delivered, the server has accepted it, or neither can happen
// any more. Retries requests and resumes broken streams where that does no harm. Every request ends.

import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { isObject } from '../kernel/json.ts';
import type { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Message, MessageId, RequestFailure } from '../model/server.ts';
import {
  type Exchange,
  type HttpClient,
  type HttpListener,
  type HttpRequest,
  headerIn,
  type ResponseHeaders,
} from './exchange.ts';
import { broken, failureOf, lost, sessionExpired } from './http-failure.ts';
import { headerValue } from './http-headers.ts';
import { EventBody, MessageBody, QuotedBody, type ResponseBody, responseKind } from './http-response.ts';
import { isAnswerTo, type OutgoingRequest } from './outgoing-request.ts';
import { type Refused, verdictOn } from './refusal.ts';
import { isPassing } from './retry.ts';
import type { SessionRefusal } from './session-check.ts';

/** What requests in flight share, and whom they report to: the request queue. */
export interface RequestContext {
  readonly client: HttpClient;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  readonly hasToken: boolean;
  readonly hide: (text: string) => string;
  /** The server has accepted the request with a 2xx status; the body comes next. */
  accepted(request: InFlightRequest, headers: ResponseHeaders): void;
  /** `request`: the message is no answer, and came on the stream of that request. */
  deliver(message: Message, request?: MessageId): void;
  oversized(id: MessageId | undefined): void;
  noise(text: string): void;
  /** The server could not be reached, which concerns all requests. */
  unreachable(cause: RuntimeError): void;
  /** Whether the request was refused because its session is gone. */
  isSessionGone(outgoing: OutgoingRequest, refusal: SessionRefusal): Promise<boolean>;
  /** Finds out whether the session is gone; the request itself is over. */
  doubtSession(outgoing: OutgoingRequest, refusal: SessionRefusal): void;
  /** Bytes arrived for this request: the server is working on it. */
  sign(id: MessageId): void;
  /** The answer was delivered; the response stream may still be open. */
  answered(request: InFlightRequest): void;
  /** No answer will come, and no connection or timer is left. */
  failed(request: InFlightRequest, failure: RequestFailure): void;
  /** No connection or timer is left. */
  done(request: InFlightRequest): void;
}

export class InFlightRequest implements HttpListener {
  readonly outgoing: OutgoingRequest;
  /** When bytes last arrived; `Infinity` during a pause of our own, which is no silence of the server. */
  lastHeardAt = 0;
  readonly #context: RequestContext;
  #exchange: Exchange | undefined;
  #cancelPause: CancelTimer | undefined;
  #status = 0;
  #statusText = '';
  #retryAfter: string | undefined;
  /** Set once the response head has arrived. */
  #body: ResponseBody | undefined;
  #retries = 0;
  #resets = 0;
  #resumes = 0;
  /** Set when a stream was resumed: the id of the event it was resumed after. */
  #resumedFrom: string | undefined;
  #resumeMs: number = limits.streamResumeMs;
  /** Answered, accepted, failed or aborted: nothing more is to be reported. */
  #isSettled = false;

  constructor(context: RequestContext, outgoing: OutgoingRequest) {
    this.#context = context;
    this.outgoing = outgoing;
  }

  /** Certainly not handled: it waits for a connection, or for a retry after a refusal. */
  get isUntouched(): boolean {
    if (this.#isSettled || this.#resumedFrom !== undefined) return false;
    return this.#exchange === undefined ? this.#cancelPause !== undefined : !this.#exchange.sent;
  }

  begin(): void {
    const { target, headers, body, mustNotRepeat } = this.outgoing;
    const maxRedirects = mustNotRepeat ? limits.callRedirects : undefined;
    this.#dispatch({ method: 'POST', target, headers, body, maxRedirects });
  }

  #beginAgain(): void {
    this.outgoing.onRepeat?.();
    this.begin();
  }

  /** Reports nothing from now on. */
  abort(): void {
    this.#isSettled = true;
    this.#body?.stop();
    this.#body = undefined;
    this.#cancelPause?.();
    this.#exchange?.abort();
  }

  /** Called when the server was silent for too long. No retry: it would most likely meet the same silence. */
  giveUp(): void {
    this.#exchange?.abort();
    this.#resets = 1;
    const reason = `it was silent for ${limits.httpIdleMs / 1_000} s`;
    this.failed({ sent: true, cause: lost(this.#context.client.server, reason) });
  }

  head(status: number, headers: ResponseHeaders, statusText: string): void {
    this.#noteBytes();
    this.#status = status;
    if (status < 200 || status > 299) {
      this.#statusText = statusText;
      this.#retryAfter = headerIn(headers, 'retry-after');
      this.#body = new QuotedBody(headers);
      return;
    }
    if (this.#resumedFrom === undefined) this.#context.accepted(this, headers);
    if (this.outgoing.id !== undefined && this.outgoing.answerOn === 'response') this.#expectAnswer(headers);
    else {
      this.#isSettled = true;
      this.#body = new QuotedBody(headers);
    }
  }

  data(chunk: Buffer): Promise<void> | undefined {
    this.#noteBytes();
    if (this.#body?.push(chunk) !== false) return this.#body?.whenIdle();
    this.#exchange?.abort();
    this.#over(undefined);
    return undefined;
  }

  end(): void {
    this.#body?.end();
    this.#whenRead(() => this.#over(undefined));
  }

  /** A long message of the body may still be parsed, although the exchange is over. */
  #whenRead(next: () => void): void {
    const body = this.#body;
    const idle = body?.whenIdle();
    if (idle === undefined) next();
    else void idle.then(() => body === this.#body && next());
  }

  redirected(): void {
    if (this.#resumedFrom === undefined) this.outgoing.onRepeat?.();
  }

  failed(failure: RequestFailure): void {
    this.#whenRead(() => this.#failed(failure));
  }

  #failed(failure: RequestFailure): void {
    if (!failure.sent && failure.status === undefined) {
      if (!this.#isSettled) this.#fail(failure);
      this.#context.unreachable(failure.cause);
    } else if (failure.status !== undefined && !this.#isSettled) this.#fail(failure);
    else this.#over(failure);
  }

  onValue(value: unknown): void {
    if (Array.isArray(value)) for (const each of value) this.onValue(each);
    else if (!isObject(value)) this.onNoise(JSON.stringify(value));
    else {
      if (isAnswerTo(this.outgoing.id, value)) this.#settle();
      this.#context.deliver(value, value['method'] === undefined ? undefined : this.outgoing.id);
    }
  }

  onNoise(text: string): void {
    this.#context.noise(text);
  }

  onOversized(id: MessageId | undefined): void {
    if (id === this.outgoing.id) this.#settle();
    this.#context.oversized(id);
  }

  #noteBytes(): void {
    const { id, answerOn } = this.outgoing;
    this.lastHeardAt = this.#context.clock.now();
    if (id !== undefined && answerOn === 'response' && !this.#isSettled) this.#context.sign(id);
  }

  #dispatch(request: HttpRequest): void {
    this.#cancelPause = undefined;
    this.#body = undefined;
    this.lastHeardAt = this.#context.clock.now();
    this.#exchange = this.#context.client.exchange(request, this);
  }

  #pause(ms: number, next: () => void): void {
    this.lastHeardAt = Number.POSITIVE_INFINITY;
    this.#cancelPause = this.#context.clock.after(ms, next);
  }

  #expectAnswer(headers: ResponseHeaders): void {
    const { maxMessageBytes, client } = this.#context;
    const kind = responseKind(this.#status, headers);
    if (kind === 'events') this.#body = new EventBody(maxMessageBytes, this);
    else if (kind === 'message') this.#body = new MessageBody(maxMessageBytes, this.outgoing.id, this);
    else {
      this.#exchange?.abort();
      this.#fail({ sent: true, status: this.#status, cause: broken(client.server, kind.problem) });
    }
  }

  /** The HTTP exchange has ended, with a complete response or with a failure. */
  #over(failure: RequestFailure | undefined): void {
    const body = this.#body;
    this.#exchange = undefined;
    if (this.#isSettled) this.#context.done(this);
    else if (body instanceof EventBody) this.#resume(body.reader.lastEventId, body.reader.retryMs, failure);
    else if (this.#resumedFrom !== undefined) this.#notResumed(body, failure);
    else if (body instanceof QuotedBody) this.#refused(body.take(), body.isWhole);
    else if (failure === undefined) this.#fail(this.#noAnswer());
    else if (body === undefined && this.outgoing.repeatable && this.#resets === 0) {
      this.#resets = 1;
      this.#beginAgain();
    } else this.#fail(failure);
  }

  #noAnswer(): RequestFailure {
    const cause = broken(this.#context.client.server, 'its answer does not belong to the request');
    return { sent: true, status: this.#status, cause };
  }

  /** A server that numbers its events can send the missing ones on a new stream. */
  #resume(lastEventId: string | undefined, retryMs: number | undefined, failure: RequestFailure | undefined): void {
    const { resumeHeaders, target } = this.outgoing;
    const from = lastEventId ?? this.#resumedFrom;
    const lastIdHeader = from === undefined ? undefined : headerValue(from);
    if (from !== this.#resumedFrom) this.#resumes = 0;
    this.#resumeMs = retryMs ?? this.#resumeMs;
    if (resumeHeaders === undefined || lastIdHeader === undefined || this.#resumes === limits.streamResumes) {
      const cause = lost(this.#context.client.server, 'its stream ended before the answer');
      this.#fail(failure ?? { sent: true, cause });
      return;
    }
    this.#resumes += 1;
    this.#resumedFrom = from;
    const headers = [...resumeHeaders, 'last-event-id', lastIdHeader];
    this.#pause(this.#resumeMs, () => this.#dispatch({ method: 'GET', target, headers }));
  }

  #notResumed(body: ResponseBody | undefined, failure: RequestFailure | undefined): void {
    const refusal = body instanceof QuotedBody ? this.#failureFor(body.take()) : failure;
    if (refusal?.status === undefined || isPassing(refusal.status)) this.#resume(undefined, undefined, refusal);
    else this.#fail(refusal);
  }

  #refused(body: string, isWhole: boolean): void {
    const verdict = verdictOn(this.#refusedWith(body, isWhole));
    const refusal = { id: this.outgoing.id as MessageId, status: this.#status, body };
    switch (verdict.kind) {
      case 'answer':
        this.#conclude(verdict.message);
        break;
      case 'retry':
        this.#retries += 1;
        this.#pause(verdict.afterMs, () => this.#beginAgain());
        return;
      case 'session-expired':
        this.#fail(sessionExpired(this.#context.client.server, this.#status));
        return;
      case 'check-session':
        void this.#checkSession(refusal, verdict.message);
        return;
      case 'failure': {
        const failure = this.#failureFor(body, verdict.waitMs);
        this.#fail(verdict.mayBeHandled ? { ...failure, sent: true } : failure);
      }
    }
    if (verdict.doubtsSession) this.#context.doubtSession(this.outgoing, refusal);
  }

  #refusedWith(body: string, isWhole: boolean): Refused {
    const { id, method, session, answerOn, repeatable, mustNotRepeat } = this.outgoing;
    const isInSession = session !== undefined;
    // Over HTTP+SSE the shared stream would have ended with the session, so only a 404 counts there.
    const mayExpireBy400 = isInSession && answerOn === 'response';
    return {
      ...{ status: this.#status, body, isWhole, retryAfter: this.#retryAfter, retries: this.#retries },
      ...{ id, method, repeatable, mustNotRepeat, isInSession, mayExpireBy400, now: this.#context.clock.now() },
    };
  }

  async #checkSession(refusal: SessionRefusal, answer: Message): Promise<void> {
    const { client } = this.#context;
    this.lastHeardAt = Number.POSITIVE_INFINITY;
    const isGone = await this.#context.isSessionGone(this.outgoing, refusal);
    if (this.#isSettled) return;
    if (isGone) this.#fail(sessionExpired(client.server, refusal.status));
    else this.#conclude(answer);
  }

  #failureFor(body: string, waitMs?: number): RequestFailure {
    const { client, hasToken, hide } = this.#context;
    const refusal = { status: this.#status, statusText: hide(this.#statusText), body: hide(body), waitMs };
    return failureOf(refusal, { server: client.server, method: this.outgoing.method, hasToken });
  }

  #conclude(message: Message): void {
    this.onValue(message);
    this.#context.done(this);
  }

  /** The request is answered. Further messages on its stream are still delivered. */
  #settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#context.answered(this);
  }

  #fail(failure: RequestFailure): void {
    this.#isSettled = true;
    // A failed attempt to resume does not change that the message itself had reached the server.
    this.#context.failed(this, this.#resumedFrom === undefined ? failure : { ...failure, sent: true });
  }
}
