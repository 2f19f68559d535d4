// Owns the words for one HTTP request and its response: Node's own, or those of a plain request, which the listener reads itself.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PlainRequest } from './plain-request.ts';
import { PlainResponse } from './plain-response.ts';

export type ServedRequest = IncomingMessage | PlainRequest;
export type ServedResponse = ServerResponse | PlainResponse;

/** The part of a request that is there before its body. */
export type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'socket'>;

export type HttpHandler = (request: ServedRequest, response: ServedResponse) => void | Promise<void>;

/** For an answer that comes in parts. */
export const streamOf = (response: ServedResponse): ServerResponse =>
  response instanceof PlainResponse ? response.stream() : response;
