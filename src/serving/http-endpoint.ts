// Owns MCP over HTTP on one URL, both eras: a modern request is answered by itself, `initialize` opens a session. A host mounts
// `handle` in its own server, or lets `http-listener.ts` make one.

import { randomUUID } from 'node:crypto';
import type { CancelTimer } from '../kernel/clock.ts';
import { type JsonObject, parseJson } from '../kernel/json.ts';
import { Roster } from '../kernel/roster.ts';
import { limits } from '../model/limits.ts';
import type { MessageId } from '../model/server.ts';
import { type AllowedNames, type Authenticate, faultOfNames } from './access.ts';
import type { Answered, Dispatcher } from './dispatcher.ts';
import { type ServedRequest, type ServedResponse, streamOf } from './http-exchange.ts';
import { HttpReply, statusOf, streamHeaders } from './http-reply.ts';
import { HttpSession } from './http-session.ts';
import {
  type ClientMessage,
  type ClientNotification,
  type ClientRequest,
  errorMessage,
  invalidAnswer,
  readMessage,
  resultMessage,
} from './message.ts';
import { assertHeaders, assertParamHeaders, headerOf, isModern, modernPeer, notifierOf } from './modern-request.ts';
import { PlainResponse } from './plain-response.ts';
import {
  BATCH_VERSION,
  cancelledByClient,
  codes,
  faultOfInitialize,
  invalidRequest,
  legacyVersions,
  negotiated,
  ProtocolError,
} from './protocol.ts';
import { type ReadBody, readBody } from './request-body.ts';
import { isCancelling, type RunningCall } from './running-call.ts';
import type { Peer, Principal } from './service.ts';

export interface HttpEndpointOptions extends AllowedNames {
  readonly authenticate: Authenticate;
}

/** One request, and whose it is. */
interface Visit {
  readonly request: ServedRequest;
  readonly response: ServedResponse;
  readonly principal: Principal;
  /** Set when the access of its principal was withdrawn while it waited. */
  isRefused: boolean;
}

const gone = () => new DOMException('the client closed the connection', 'AbortError');

export class HttpEndpoint {
  readonly #dispatcher: Dispatcher;
  readonly #options: HttpEndpointOptions;
  readonly #sessions = new Map<string, HttpSession>();
  /** Responses that are not complete. */
  readonly #replies = new Roster<HttpReply>();
  /** Bodies that are being read, with the time until which they may arrive: a timer for each would cost more than reading it. */
  readonly #bodies = new Roster<{ readonly giveUp: () => void; readonly until: number }>();
  /** Requests that were admitted, and wait for their body or for the answer to `initialize`. */
  readonly #waiting = new Roster<Visit>();
  #stopTicking: CancelTimer;
  /** The Host of the latest request that was allowed. */
  #lastHost: string | undefined;
  #isClosing = false;

  constructor(dispatcher: Dispatcher, options: HttpEndpointOptions) {
    this.#dispatcher = dispatcher;
    this.#options = options;
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
    for (const visit of this.#waiting.items()) if (isMeant(visit.principal)) visit.isRefused = true;
    for (const session of [...this.#sessions.values()])
      if (isMeant(session.peer.principal)) this.#endSession(session, reason);
  }

  /** New requests are refused from now on. */
  stop(): void {
    this.#isClosing = true;
    this.#stopTicking();
  }

  #answer(request: ServedRequest, response: ServedResponse): Promise<void> | void {
    const { host, origin } = request.headers;
    // Nearly all requests come to the name that the one before came to, and from no web page.
    if (host === undefined || host !== this.#lastHost || origin !== undefined) {
      const fault = faultOfNames(request, this.#options);
      if (fault !== undefined) return refuse(response, 403, invalidRequest(fault));
      this.#lastHost = host;
      this.#allowOrigin(request, response);
    }
    if (request.method === 'OPTIONS') return answerPreflight(request, response);
    const principal = this.#options.authenticate(request);
    if (principal === undefined) return refuseAccess(response);
    if (this.#isClosing) {
      response.setHeader('retry-after', '5').setHeader('connection', 'close');
      return refuse(response, 503, new ProtocolError(codes.overloaded, 'The server stops'));
    }
    const visit: Visit = { request, response, principal, isRefused: false };
    if (request.method === 'POST') return this.#post(visit);
    if (request.method === 'GET') return this.#get(visit);
    if (request.method === 'DELETE') return this.#delete(visit);
    response.setHeader('allow', 'POST, GET, DELETE');
    return refuse(response, 405, invalidRequest('This method is not allowed'));
  }

  #post(visit: Visit): Promise<void> | void {
    const { request, response } = visit;
    const type = request.headers['content-type'] ?? '';
    if (type !== 'application/json' && !/^application\/json\s*(;|$)/i.test(type))
      return refuse(response, 415, invalidRequest('The Content-Type must be application/json'));
    const { messageBytes } = this.#dispatcher.limits;
    const body = readBody(request, { messageBytes, whenLate: this.#whenLate });
    if (!(body instanceof Promise)) return this.#take(visit, body);
    return this.#unlessRefused(visit, body, (read) => this.#take(visit, read));
  }

  /** Goes on with a request that had to wait, unless the access of its principal was withdrawn meanwhile. */
  async #unlessRefused<Value>(
    visit: Visit,
    wait: Promise<Value>,
    goOn: (value: Value) => Promise<void> | void,
  ): Promise<void> {
    const place = this.#waiting.add(visit);
    const value = await wait.finally(() => this.#waiting.remove(place));
    if (visit.isRefused) refuseAccess(visit.response);
    else await goOn(value);
  }

  /** From here on a call waits for nothing but its handler: every async function on its way would take a promise and a frame more. */
  #take(visit: Visit, body: ReadBody): Promise<void> | void {
    const { request, response } = visit;
    if (body.kind === 'lost') return;
    if (body.kind !== 'read') return refuseBody(response, body.kind);
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
    const work = { requests: [message], peer };
    return checked === undefined ? this.#dispatch(visit, work) : checked.then(() => this.#dispatch(visit, work));
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
    if (isFirst && request.headers['mcp-session-id'] === undefined) return this.#initialize(visit, message);
    const session = this.#sessionOf(visit, message.kind === 'request' ? message.id : null);
    if (session === undefined) return undefined;
    if (message.kind === 'notification') {
      this.#notified(session, message);
      accept(response);
      return undefined;
    }
    return this.#dispatch(visit, { requests: [message], peer: session.peer, session });
  }

  async #initialize(visit: Visit, { id, params }: ClientRequest): Promise<void> {
    const { clock, limits: given } = this.#dispatcher;
    const { response, principal } = visit;
    const fault = faultOfInitialize(params);
    if (fault !== undefined) return sendJson(response, 400, errorMessage(id, fault));
    const protocolVersion = negotiated(params['protocolVersion']);
    const session = new HttpSession(
      { id: randomUUID(), principal, protocolVersion, introduction: params, clock },
      given,
    );
    const opening = this.#dispatcher.initializeResult(session.peer);
    await this.#unlessRefused(visit, opening, (result) => {
      const { refusal } = this.#dispatcher.room;
      if (refusal !== undefined)
        return sendJson(response.setHeader('retry-after', '60'), 503, errorMessage(id, refusal));
      this.#dispatcher.openSession(session);
      this.#sessions.set(session.id, session);
      response.setHeader('mcp-session-id', session.id);
      sendJson(response, 200, resultMessage(id, result));
    });
  }

  async #batch(visit: Visit, values: readonly unknown[]): Promise<void> {
    const { request, response } = visit;
    const notAccepted = invalidRequest('Invalid request: batches are not accepted here');
    if (request.headers['mcp-session-id'] === undefined) return refuse(response, 400, notAccepted);
    const session = this.#sessionOf(visit, null);
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
    await this.#dispatch(visit, { requests, peer: session.peer, session, isBatch: true });
  }

  #dispatch(visit: Visit, work: Work): Promise<void> | undefined {
    const { request, response } = visit;
    const { requests, peer, session, isBatch = false } = work;
    const accepts = acceptedBy(request);
    if (!accepts.events && !accepts.json) {
      refuse(response, 406, invalidRequest('The client must accept application/json and text/event-stream'));
      return undefined;
    }
    const { clock, limits: given } = this.#dispatcher;
    const reply = new HttpReply({
      response,
      session,
      accepts,
      isBatch,
      waiting: given.waiting,
      answers: requests.length,
      now: clock.now(),
    });
    const place = this.#replies.add(reply);
    const target = { response, peer, session };
    const over = () => {
      this.#replies.remove(place);
      session?.touch();
    };
    const failed = (error: unknown) => {
      over();
      throw error;
    };
    try {
      const [only] = requests;
      const answering: Promise<unknown> | undefined =
        only !== undefined && !isBatch
          ? this.#answerOne(only, reply, target)
          : Promise.all(requests.map((message) => this.#answerOne(message, reply, target)));
      if (answering !== undefined) return answering.then(over, failed);
    } catch (error) {
      failed(error);
    }
    over();
    return undefined;
  }

  /** At once where the handler answers at once. */
  #answerOne(
    message: ClientMessage,
    reply: HttpReply,
    { response, peer, session }: { response: ServedResponse; peer: Peer; session: HttpSession | undefined },
  ): Promise<void> | undefined {
    if (message.kind !== 'request') {
      if (message.kind === 'invalid')
        reply.deliver({ text: JSON.stringify(invalidAnswer(message)), code: message.code, isHandedOn: false });
      return undefined;
    }
    if (session?.calls.has(message.id)) {
      const fault = invalidRequest('Invalid request: a request with this id is being answered');
      reply.deliver({ text: JSON.stringify(errorMessage(message.id, fault)), code: fault.code, isHandedOn: false });
      return undefined;
    }
    let call: RunningCall | undefined;
    const onCall = (made: RunningCall) => {
      call = made;
      if (session !== undefined) session.calls.set(message.id, made);
      else if (response.destroyed) made.cancel(gone());
    };
    const deliver = (answered: Answered) => {
      session?.calls.delete(message.id);
      reply.deliver(answered);
    };
    const answering = this.#dispatcher.answer({ request: message, peer, reply, onCall });
    if (!(answering instanceof Promise)) {
      deliver(answering);
      return undefined;
    }
    if (session === undefined) response.on('close', () => !reply.isAnswered && call?.cancel(gone()));
    return answering.then(deliver);
  }

  #notified(session: HttpSession, { method, params }: ClientNotification): void {
    session.touch();
    if (isCancelling(method, params)) session.calls.get(params['requestId'])?.cancel(cancelledByClient());
    else if (method !== 'notifications/initialized') this.#dispatcher.notified(method, params, session.peer);
  }

  #settle(visit: Visit, answer: Extract<ClientMessage, { kind: 'answer' }>): void {
    const session = this.#sessionOf(visit, null);
    if (session === undefined) return;
    session.questions.settle(answer);
    accept(visit.response);
  }

  async #get(visit: Visit): Promise<void> {
    const { request, response } = visit;
    const version = headerOf(request.headers, 'mcp-protocol-version');
    if (request.headers['mcp-session-id'] === undefined && version !== undefined && !legacyVersions.includes(version)) {
      response.setHeader('allow', 'POST');
      return refuse(response, 405, invalidRequest('This revision has no GET stream'));
    }
    const session = this.#sessionOf(visit, null);
    if (session === undefined) return;
    if (!acceptedBy(request).events)
      return refuse(response, 406, invalidRequest('The client must accept text/event-stream'));
    if (!session.hasRoom) {
      response.setHeader('retry-after', '5');
      return refuse(response, 429, new ProtocolError(codes.overloaded, 'The session has too many streams'));
    }
    const lastEventId = headerOf(request.headers, 'last-event-id');
    const resumed = lastEventId === undefined ? { stream: session.general } : session.resume(lastEventId);
    if (resumed === undefined) return refuse(response, 400, invalidRequest('This stream is not kept any more'));
    const written = streamOf(response);
    written.writeHead(200, streamHeaders);
    written.flushHeaders();
    resumed.stream.attach(written, 'after' in resumed ? resumed.after : undefined);
    written.on('close', () => session.touch());
  }

  #delete(visit: Visit): void {
    const session = this.#sessionOf(visit, null);
    if (session === undefined) return;
    this.#endSession(session, new DOMException('the client ended the session', 'AbortError'));
    visit.response.writeHead(204).end();
  }

  /** The principal's session; refuses the request if there is none. A session of another principal does not exist for this one. */
  #sessionOf({ request, response, principal }: Visit, id: string | number | null): HttpSession | undefined {
    const { headers } = request;
    const sessionId = headerOf(headers, 'mcp-session-id');
    const version = headerOf(headers, 'mcp-protocol-version');
    const session = sessionId === undefined ? undefined : this.#sessions.get(sessionId);
    if (sessionId === undefined)
      sendJson(
        response,
        400,
        errorMessage(id, invalidRequest('Invalid request: the header Mcp-Session-Id is missing')),
      );
    else if (session === undefined || session.peer.principal.id !== principal.id)
      sendJson(response, 404, errorMessage(id, new ProtocolError(codes.sessionNotFound, 'Session not found')));
    else if (version !== undefined && !legacyVersions.includes(version))
      sendJson(response, 400, errorMessage(id, invalidRequest(`Invalid request: unsupported protocol version`)));
    else {
      session.touch();
      return session;
    }
    return undefined;
  }

  #endSession(session: HttpSession, reason: unknown): void {
    this.#sessions.delete(session.id);
    this.#dispatcher.closeSession(session, reason);
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
    for (const reply of this.#replies.items()) reply.tick(now);
    for (const session of [...this.#sessions.values()]) {
      session.tick(now);
      if (now - session.idleSince >= this.#dispatcher.limits.sessionIdleMs)
        this.#endSession(session, new DOMException('the session was idle', 'TimeoutError'));
    }
    this.#stopTicking = this.#tickSoon();
  }

  #allowOrigin({ headers: { origin } }: ServedRequest, response: ServedResponse): void {
    if (origin === undefined || !this.#options.origins.includes(origin)) return;
    response.setHeader('access-control-allow-origin', origin);
    response.setHeader('access-control-expose-headers', 'Mcp-Session-Id, WWW-Authenticate, Retry-After');
    response.setHeader('vary', 'Origin');
  }
}

interface Work {
  readonly requests: readonly ClientMessage[];
  readonly peer: Peer;
  readonly session?: HttpSession;
  readonly isBatch?: boolean;
}

function acceptedBy({ headers: { accept = '*/*' } }: ServedRequest): {
  readonly events: boolean;
  readonly json: boolean;
} {
  const any = accept.includes('*/*');
  return { events: any || accept.includes('text/event-stream'), json: any || accept.includes('application/json') };
}

function accept(response: ServedResponse): void {
  response.writeHead(202).end();
}

function answerPreflight({ headers }: ServedRequest, response: ServedResponse): void {
  if (!response.hasHeader('access-control-allow-origin')) {
    response.setHeader('allow', 'POST, GET, DELETE');
    refuse(response, 405, invalidRequest('This method is not allowed'));
    return;
  }
  response.writeHead(204, {
    'access-control-allow-methods': 'POST, GET, DELETE',
    'access-control-allow-headers': headers['access-control-request-headers'] ?? '',
    'access-control-max-age': '600',
  });
  response.end();
}

/** The rest of such a body is not read: the connection ends with the answer. */
function refuseBody(response: ServedResponse, kind: 'too-large' | 'too-slow'): void {
  response.setHeader('connection', 'close');
  if (kind === 'too-large') refuse(response, 413, invalidRequest('The body is too large'));
  else refuse(response, 408, invalidRequest('The body took too long'));
  if (!(response instanceof PlainResponse)) response.on('finish', () => response.req.destroy());
}

function refuseAccess(response: ServedResponse): void {
  response.setHeader('www-authenticate', 'Bearer');
  refuse(response, 401, invalidRequest('The request needs the token of this server'));
}

const refuse = (response: ServedResponse, status: number, error: ProtocolError): void =>
  sendJson(response, status, errorMessage(null, error));

function sendJson(response: ServedResponse, status: number, message: JsonObject): void {
  if (response.headersSent) return;
  const body = JSON.stringify(message);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
