// Owns the HTTP responses that are complete at once: a message as JSON, the refusal of a request, and the bare acceptance of a message
// that has no answer. What a call is answered is written by `http-reply.ts`.

import type { JsonObject } from '../kernel/json.ts';
import type { MessageId } from '../model/server.ts';
import type { ServedRequest, ServedResponse } from './http-exchange.ts';
import { errorMessage } from './message.ts';
import { codes, invalidRequest, ProtocolError } from './protocol.ts';
import type { Principal } from './service.ts';

/** A request that was admitted. */
export interface Visit {
  readonly request: ServedRequest;
  readonly response: ServedResponse;
  /** The person or program that sent it. */
  readonly principal: Principal;
}

export function sendJson(response: ServedResponse, status: number, message: JsonObject): void {
  if (response.headersSent) return;
  const body = JSON.stringify(message);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** For a request whose message was not read: the answer names no id. */
export const refuse = (response: ServedResponse, status: number, error: ProtocolError): void =>
  sendJson(response, status, errorMessage(null, error));

export function refuseMethod(response: ServedResponse): void {
  response.setHeader('allow', 'POST, GET, DELETE');
  refuse(response, 405, invalidRequest('This method is not allowed'));
}

/** The client may come back to the server that follows this one. */
export function refuseStopping(response: ServedResponse, id: MessageId | null = null): void {
  response.setHeader('retry-after', '5').setHeader('connection', 'close');
  sendJson(response, 503, errorMessage(id, new ProtocolError(codes.overloaded, 'The server stops')));
}

export function accept(response: ServedResponse): void {
  response.writeHead(202).end();
}

/** The media types that the client accepts, as far as they matter here. */
export function acceptedBy({ headers: { accept: accepted = '*/*' } }: ServedRequest): {
  readonly events: boolean;
  readonly json: boolean;
} {
  const any = accepted.includes('*/*');
  return { events: any || accepted.includes('text/event-stream'), json: any || accepted.includes('application/json') };
}
