// Owns the legacy sessions of an endpoint: opening one with `initialize`, finding the one that a request names, the stream that a client
// opens with GET, and its end, by DELETE or because it was idle. What a session holds is in `http-session.ts`.

import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../kernel/json.ts';
import type { MessageId } from '../model/server.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { HttpAdmission } from './http-admission.ts';
import { acceptedBy, refuse, refuseStopping, sendJson, type Visit } from './http-answers.ts';
import { streamOf } from './http-exchange.ts';
import { streamHeaders } from './http-reply.ts';
import { HttpSession } from './http-session.ts';
import { type ClientRequest, errorMessage, resultMessage } from './message.ts';
import { headerOf } from './modern-request.ts';
import { codes, faultOfInitialize, invalidRequest, legacyVersions, negotiated, ProtocolError } from './protocol.ts';
import type { Principal } from './service.ts';

interface OpenedSession {
  readonly session: HttpSession;
  /** The answer to `initialize`. */
  readonly result: JsonObject;
}

export class HttpSessions {
  readonly #dispatcher: Dispatcher;
  readonly #admission: HttpAdmission;
  /** By id. */
  readonly #sessions = new Map<string, HttpSession>();
  #isClosing = false;

  constructor(dispatcher: Dispatcher, admission: HttpAdmission) {
    this.#dispatcher = dispatcher;
    this.#admission = admission;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Answers `initialize` with a new session. */
  async open(visit: Visit, { id, params }: ClientRequest): Promise<void> {
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
    await this.#admission.afterWait(visit, opening, (result) => this.#opened(visit, id, { session, result }));
  }

  #opened({ response }: Visit, id: MessageId, { session, result }: OpenedSession): void {
    // A session that no client knows would last until it is idle.
    if (response.destroyed) return;
    const { refusal } = this.#dispatcher.room;
    if (this.#isClosing) refuseStopping(response, id);
    else if (refusal !== undefined) sendJson(response.setHeader('retry-after', '60'), 503, errorMessage(id, refusal));
    else {
      this.#dispatcher.openSession(session);
      this.#sessions.set(session.id, session);
      response.setHeader('mcp-session-id', session.id);
      sendJson(response, 200, resultMessage(id, result));
    }
  }

  /** The principal's session; refuses the request if there is none. A session of another principal does not exist for this one. */
  find({ request, response, principal }: Visit, id: MessageId | null = null): HttpSession | undefined {
    const { headers } = request;
    const sessionId = headerOf(headers, 'mcp-session-id');
    const version = headerOf(headers, 'mcp-protocol-version');
    const session = sessionId === undefined ? undefined : this.#sessions.get(sessionId);
    const refused = (status: number, error: ProtocolError) => sendJson(response, status, errorMessage(id, error));
    if (sessionId === undefined) refused(400, invalidRequest('Invalid request: the header Mcp-Session-Id is missing'));
    else if (session === undefined || session.peer.principal.id !== principal.id)
      refused(404, new ProtocolError(codes.sessionNotFound, 'Session not found'));
    else if (version !== undefined && !legacyVersions.includes(version))
      refused(400, invalidRequest('Invalid request: unsupported protocol version'));
    else {
      session.touch();
      return session;
    }
    return undefined;
  }

  /** Answers GET: messages that belong to no call, or the rest of a stream that broke off. */
  stream(visit: Visit): void {
    const { request, response } = visit;
    const { headers } = request;
    const version = headerOf(headers, 'mcp-protocol-version');
    if (headers['mcp-session-id'] === undefined && version !== undefined && !legacyVersions.includes(version)) {
      response.setHeader('allow', 'POST');
      refuse(response, 405, invalidRequest('This revision has no GET stream'));
      return;
    }
    const session = this.find(visit);
    if (session === undefined) return;
    const lastEventId = headerOf(headers, 'last-event-id');
    const resumed = lastEventId === undefined ? { stream: session.general } : session.resume(lastEventId);
    if (!acceptedBy(request).events) refuse(response, 406, invalidRequest('The client must accept text/event-stream'));
    else if (!session.hasRoom) {
      response.setHeader('retry-after', '5');
      refuse(response, 429, new ProtocolError(codes.overloaded, 'The session has too many streams'));
    } else if (resumed === undefined) refuse(response, 400, invalidRequest('This stream is not kept any more'));
    else {
      const written = streamOf(response);
      written.writeHead(200, streamHeaders);
      written.flushHeaders();
      resumed.stream.attach(written, 'after' in resumed ? resumed.after : undefined);
      written.on('close', () => session.touch());
    }
  }

  /** Answers DELETE. */
  delete(visit: Visit): void {
    const session = this.find(visit);
    if (session === undefined) return;
    this.#end(session, new DOMException('the client ended the session', 'AbortError'));
    visit.response.writeHead(204).end();
  }

  /** No session is opened from now on. */
  stop(): void {
    this.#isClosing = true;
  }

  /** Ends the sessions of some principals, with their calls. */
  end(isMeant: (principal: Principal) => boolean, reason: unknown): void {
    for (const session of [...this.#sessions.values()]) if (isMeant(session.peer.principal)) this.#end(session, reason);
  }

  /** Called now and then. */
  tick(now: number): void {
    for (const session of [...this.#sessions.values()]) {
      session.tick(now);
      if (now - session.idleSince >= this.#dispatcher.limits.sessionIdleMs)
        this.#end(session, new DOMException('the session was idle', 'TimeoutError'));
    }
  }

  #end(session: HttpSession, reason: unknown): void {
    this.#sessions.delete(session.id);
    this.#dispatcher.closeSession(session, reason);
  }
}
