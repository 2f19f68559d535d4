// Owns the oldest way over HTTP (2024-11-05): one stream of events for all that a client is sent, and an address for all that it sends. A
// stream is served like a pair of pipes, and ends with its connection.

import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { PassThrough, Writable } from 'node:stream';
import type { Clock } from '../kernel/clock.ts';
import { limits } from '../model/limits.ts';
import { type AllowedNames, type Authenticate, faultOfNames } from './access.ts';
import { type HttpHandler, type ServedRequest, type ServedResponse, streamOf } from './http-exchange.ts';
import { streamHeaders } from './http-reply.ts';
import { readBody } from './request-body.ts';
import type { Principal } from './service.ts';
import type { ServingRoom } from './serving-room.ts';
import type { StdioPipes } from './stdio-endpoint.ts';

export interface SseEndpointOptions extends AllowedNames {
  readonly authenticate: Authenticate;
  /** The path to which clients send their messages. */
  readonly messages: string;
  readonly room: ServingRoom;
  readonly clock: Clock;
  /** The server stops: no new client is taken. */
  readonly isOver: () => boolean;
  /** Called with what the host's `authenticate` or its service threw; clients are not told its text. */
  readonly report: (error: unknown) => void;
  /** Serves one client over a pair of pipes. */
  readonly serve: (pipes: StdioPipes, principal: Principal) => Promise<void>;
}

interface SseStream {
  readonly principal: Principal;
  readonly input: PassThrough;
}

export class SseEndpoint {
  readonly #options: SseEndpointOptions;
  readonly #streams = new Map<string, SseStream>();

  constructor(options: SseEndpointOptions) {
    this.#options = options;
  }

  /** Answers GET with the stream. */
  readonly stream: HttpHandler = (request, response) =>
    this.#orFailed(response, () => this.#openStream(request, response));

  /** Takes one message of a client; its answer comes on the stream. */
  readonly message: HttpHandler = (request, response) =>
    this.#orFailed(response, () => this.#takeMessage(request, response));

  async #orFailed(response: ServedResponse, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.report(error);
      if (response.headersSent) response.end();
      else refuse(response, 500, 'Internal error');
    }
  }

  async #openStream(request: ServedRequest, answered: ServedResponse): Promise<void> {
    const principal = this.#admitted(request, answered, 'GET');
    if (principal === undefined) return;
    const response = streamOf(answered);
    const { serve, clock, room, messages, isOver } = this.#options;
    if (isOver()) return refuse(response.setHeader('retry-after', '5'), 503, 'The server stops');
    const full = room.refusal;
    if (full !== undefined) return refuse(response.setHeader('retry-after', '60'), 503, full.message);
    const id = randomUUID();
    const input = new PassThrough();
    const output = eventsTo(response);
    this.#streams.set(id, { principal, input });
    response.writeHead(200, streamHeaders);
    response.write(`event: endpoint\ndata: ${messages}?sessionId=${id}\n\n`);
    const comment = () => {
      response.write(': \n\n');
      stopComments = clock.after(limits.served.keepAliveMs, comment, 'background');
    };
    let stopComments = clock.after(limits.served.keepAliveMs, comment, 'background');
    response.on('close', () => {
      stopComments();
      this.#streams.delete(id);
      input.end();
      output.destroy();
    });
    // Each stream is a client of its own.
    await serve({ input, output }, { ...principal, id: `${principal.id}\n${id}` });
    response.end();
  }

  async #takeMessage(request: ServedRequest, response: ServedResponse): Promise<void> {
    const principal = this.#admitted(request, response, 'POST');
    if (principal === undefined) return;
    const id = new URL(request.url ?? '', 'http://localhost').searchParams.get('sessionId') ?? '';
    const stream = this.#streams.get(id);
    if (stream === undefined || stream.principal.id !== principal.id) return refuse(response, 404, 'Session not found');
    const { clock, room } = this.#options;
    const { messageBytes, bodyMs } = room.limits;
    const body = await readBody(request, {
      messageBytes,
      whenLate: (giveUp) => clock.after(bodyMs, giveUp, 'background'),
    });
    if (body.kind === 'lost') return;
    if (body.kind !== 'read') return refuse(response, body.kind === 'too-large' ? 413 : 408, 'The body is too much');
    // It may have ended while the body came.
    if (this.#streams.get(id) !== stream) return refuse(response, 404, 'Session not found');
    if (stream.input.writableNeedDrain) return refuse(response, 429, 'Too many messages wait');
    // JSON has no line break but between its parts.
    stream.input.write(`${body.text.replace(/[\r\n]+/g, ' ')}\n`);
    response.writeHead(202).end('Accepted');
  }

  #admitted(request: ServedRequest, response: ServedResponse, method: string): Principal | undefined {
    const fault = faultOfNames(request, this.#options);
    const principal = fault === undefined ? this.#options.authenticate(request) : undefined;
    if (fault !== undefined) refuse(response, 403, fault);
    else if (principal === undefined) {
      response.setHeader('www-authenticate', 'Bearer');
      refuse(response, 401, 'The request needs the token of this server');
    } else if (request.method !== method) {
      response.setHeader('allow', method);
      refuse(response, 405, 'This method is not allowed');
    } else return principal;
    return undefined;
  }
}

/** Writes each line as an event, no faster than the client reads. */
function eventsTo(response: ServerResponse): Writable {
  return new Writable({
    write(line: Buffer, _encoding, done) {
      if (response.write(`event: message\ndata: ${line.toString().trim()}\n\n`)) done();
      else response.once('drain', () => done());
    },
  });
}

function refuse(response: ServedResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(message);
}
