// Owns MCP over HTTP on one URL, both eras: reads what a client sent, and has it answered by itself in the modern era, in its session in
// the legacy one. A host mounts `handle` in its own server, or lets `http-listener.ts` make one.

import type { CancelTimer } from '../kernel/clock.ts';
import { type JsonObject, parseJson } from '../kernel/json.ts';
import { Roster } from '../kernel/roster.ts';
import { limits } from '../model/limits.ts';
import type { MessageId } from '../model/server.ts';
import type { Dispatcher } from './dispatcher.ts';
import { type AdmissionOptions, HttpAdmission } from './http-admission.ts';
import { accept, refuse, refuseMethod, refuseStopping, sendJson, type Visit } from './http-answers.ts';
import { HttpCalls } from './http-calls.ts';
import type { ServedRequest, ServedResponse } from './http-exchange.ts';
import { statusOf } from './http-reply.ts';
import type { HttpSession } from './http-session.ts';
import { HttpSessions } from './http-sessions.ts';
import {
  type ClientMessage,
  type ClientNotification,
  type ClientRequest,
  errorMessage,
  invalidAnswer,
  readMessage,
} from './message.ts';
import { assertHeaders, assertParamHeaders, isModern, modernPeer, notifierOf } from './modern-request.ts';
import { PlainResponse } from './plain-response.ts';
import { BATCH_VERSION, cancelledByClient, codes, invalidRequest, ProtocolError } from './protocol.ts';
import { type ReadBody, readBody } from './request-body.ts';
import { isCancelling } from './running-call.ts';
import type { Peer, Principal } from './service.ts';

export class HttpEndpoint {
  readonly #dispatcher: Dispatcher;
  readonly #admission: HttpAdmission;
  readonly #sessions: HttpSessions;
  readonly #calls: HttpCalls;
  /** Bodies that are being read, with the time until which they may arrive: a timer for each would cost more than reading it. */
  readonly #bodies = new Roster<{ readonly giveUp: () => void; readonly until: number }>();
  #stopTicking: CancelTimer;
  #isClosing = false;

  constructor(dispatcher: Dispatcher, options: AdmissionOptions) {
    this.#dispatcher = dispatcher;
    this.#admission = new HttpAdmission(options);
    this.#sessions = new HttpSessions(dispatcher, this.#admission);
    this.#calls = new HttpCalls(dispatcher);
    this.#stopTicking = this.#tickSoon();
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /** Answers one HTTP request; never throws. */
  readonly handle = async (request: ServedRequest, response: ServedResponse): Promise<void> => {
    try {
      await this.#answer(request, response);
    } catch (error) {
      this.#fail(response, error, null);
    }
  };

  #fail(response: ServedResponse, error: unknown, id: MessageId | null): void {
    const told = this.#dispatcher.toldError(error, { era: 'legacy' });
    const status = error instanceof ProtocolError ? (told.status ?? statusOf('modern', told.code, false)) : 500;
    sendJson(response, status, errorMessage(id, told));
  }

  /** Ends the sessions of some principals, with their calls, and refuses their requests that are no calls yet. */
  endSessions(isMeant: (principal: Principal) => boolean, reason: unknown): void {
    this.#admission.withdraw(isMeant);
    this.#sessions.end(isMeant, reason);
  }

  /** New requests are refused from now on. */
  stop(): void {
    this.#isClosing = true;
    this.#sessions.stop();
    this.#stopTicking();
  }

  #answer(request: ServedRequest, response: ServedResponse): Promise<void> | void {
    const principal = this.#admission.admit(request, response);
    if (principal === undefined) return;
    if (this.#isClosing) return refuseStopping(response);
    const visit = { request, response, principal };
    if (request.method === 'POST') return this.#post(visit);
    if (request.method === 'GET') return this.#sessions.stream(visit);
    if (request.method === 'DELETE') return this.#sessions.delete(visit);
    return refuseMethod(response);
  }

  #post(visit: Visit): Promise<void> | void {
    const { request, response } = visit;
    const type = request.headers['content-type'] ?? '';
    if (type !== 'application/json' && !/^application\/json\s*(;|$)/i.test(type))
      return refuse(response, 415, invalidRequest('The Content-Type must be application/json'));
    const { messageBytes } = this.#dispatcher.limits;
    const body = readBody(request, { messageBytes, whenLate: this.#whenLate });
    if (!(body instanceof Promise)) return this.#take(visit, body);
    return this.#admission.afterWait(visit, body, (read) => this.#take(visit, read));
  }

  /** From here on a call waits for nothing but its handler: every async function on its way would take a promise and a frame more. */
  #take(visit: Visit, body: ReadBody): Promise<void> | void {
    const { request, response } = visit;
    if (body.kind === 'lost') return;
    if (body.kind !== 'read') return refuseBody(response, body.kind);
    // The server may have begun to stop while the body came.
    if (this.#isClosing) return refuseStopping(response);
    const parsed = parseJson(body.text);
    if (!parsed.ok) return refuse(response, 400, new ProtocolError(codes.parse, 'Parse error: the body is not JSON'));
    if (Array.isArray(parsed.value)) return this.#batch(visit, parsed.value);
    const message = readMessage(parsed.value);
    if (message.kind === 'invalid') sendJson(response, 400, invalidAnswer(message));
    else if (message.kind === 'answer') this.#settle(visit, message);
    else {
      const failed = (error: unknown) => this.#fail(response, error, message.kind === 'request' ? message.id : null);
      try {
        const isOfModern = isModern(message.method, message.params, request.headers);
        const done = isOfModern ? this.#modern(visit, message) : this.#legacy(visit, message);
        return done?.catch(failed);
      } catch (error) {
        failed(error);
      }
    }
  }

  #modern(visit: Visit, message: ClientRequest | ClientNotification): Promise<void> | undefined {
    const { request, response, principal } = visit;
    // Modern clients cancel by closing the stream: none of the protocol's own notifications needs to be read.
    if (message.kind === 'notification') {
      const peer = notifierOf(message, principal, request.headers);
      if (peer !== undefined) this.#dispatcher.notified(message.method, message.params, peer);
      accept(response);
      return undefined;
    }
    const peer = modernPeer(message, principal, request.headers);
    assertHeaders(message, request.headers);
    const checked = this.#assertParamHeaders(message, peer, request);
    const posted = { requests: [message], peer };
    if (checked === undefined) return this.#calls.answer(visit, posted);
    return this.#admission.afterWait(visit, checked, () =>
      this.#isClosing ? refuseStopping(response, message.id) : this.#calls.answer(visit, posted),
    );
  }

  /** At once where the service knows the schema at once. */
  #assertParamHeaders(message: ClientRequest, peer: Peer, { headers }: ServedRequest): Promise<void> | undefined {
    const { service } = this.#dispatcher;
    const { name } = message.params;
    if (message.method !== 'tools/call' || typeof name !== 'string' || service.inputSchema === undefined)
      return undefined;
    const schema = service.inputSchema(name, peer);
    const check = (known: JsonObject | undefined) => {
      if (known !== undefined) assertParamHeaders(known, message, headers);
    };
    if (schema instanceof Promise) return schema.then(check);
    check(schema);
    return undefined;
  }

  #legacy(visit: Visit, message: ClientRequest | ClientNotification): Promise<void> | undefined {
    const { request, response } = visit;
    const isFirst = message.kind === 'request' && message.method === 'initialize';
    if (isFirst && request.headers['mcp-session-id'] === undefined) return this.#sessions.open(visit, message);
    const session = this.#sessions.find(visit, message.kind === 'request' ? message.id : null);
    if (session === undefined) return undefined;
    if (message.kind === 'notification') {
      this.#notified(session, message);
      accept(response);
      return undefined;
    }
    return this.#calls.answer(visit, { requests: [message], peer: session.peer, session });
  }

  async #batch(visit: Visit, values: readonly unknown[]): Promise<void> {
    const { request, response } = visit;
    const notAccepted = invalidRequest('Invalid request: batches are not accepted here');
    if (request.headers['mcp-session-id'] === undefined) return refuse(response, 400, notAccepted);
    const session = this.#sessions.find(visit);
    if (session === undefined) return;
    const allowed = session.peer.protocolVersion === BATCH_VERSION;
    if (!allowed || values.length === 0 || values.length > limits.served.batch)
      return refuse(response, 400, notAccepted);
    const messages = values.map(readMessage);
    for (const message of messages) {
      if (message.kind === 'notification') this.#notified(session, message);
      else if (message.kind === 'answer') session.questions.settle(message);
    }
    const requests = messages.filter((message) => message.kind === 'request' || message.kind === 'invalid');
    if (requests.length === 0) return accept(response);
    await this.#calls.answer(visit, { requests, peer: session.peer, session, isBatch: true });
  }

  #notified(session: HttpSession, { method, params }: ClientNotification): void {
    session.touch();
    if (isCancelling(method, params)) session.calls.get(params['requestId'])?.cancel(cancelledByClient());
    else if (method !== 'notifications/initialized') this.#dispatcher.notified(method, params, session.peer);
  }

  #settle(visit: Visit, answer: Extract<ClientMessage, { kind: 'answer' }>): void {
    const session = this.#sessions.find(visit);
    if (session === undefined) return;
    session.questions.settle(answer);
    accept(visit.response);
  }

  #tickSoon(): CancelTimer {
    return this.#dispatcher.clock.after(limits.served.streamAfterMs, () => this.#tick(), 'background');
  }

  readonly #whenLate = (giveUp: () => void): (() => void) => {
    const place = this.#bodies.add({ giveUp, until: this.#dispatcher.clock.now() + this.#dispatcher.limits.bodyMs });
    return () => this.#bodies.remove(place);
  };

  #tick(): void {
    const now = this.#dispatcher.clock.now();
    for (const { giveUp, until } of this.#bodies.items()) if (now >= until) giveUp();
    this.#calls.tick(now);
    this.#sessions.tick(now);
    this.#stopTicking = this.#tickSoon();
  }
}

/** The rest of such a body is not read: the connection ends with the answer. */
function refuseBody(response: ServedResponse, kind: 'too-large' | 'too-slow'): void {
  response.setHeader('connection', 'close');
  if (kind === 'too-large') refuse(response, 413, invalidRequest('The body is too large'));
  else refuse(response, 408, invalidRequest('The body took too long'));
  if (!(response instanceof PlainResponse)) response.on('finish', () => response.req.destroy());
}
