// Owns telling apart the JSON-RPC messages of a client: requests, notifications, answers to our questions, and anything else.

import { isObject, type JsonObject } from '../kernel/json.ts';
import type { MessageId } from '../model/server.ts';
import { codes, type ProtocolError } from './protocol.ts';

export interface ClientRequest {
  readonly kind: 'request';
  readonly id: MessageId;
  readonly method: string;
  readonly params: JsonObject;
}

export interface ClientNotification {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: JsonObject;
}

/** An answer to a question that we asked the client. */
export interface ClientAnswer {
  readonly kind: 'answer';
  readonly id: MessageId;
  readonly result?: unknown;
  readonly error?: unknown;
}

export interface InvalidMessage {
  readonly kind: 'invalid';
  /** Null where the message has no valid id. */
  readonly id: MessageId | null;
  readonly code: number;
  readonly problem: string;
}

export type ClientMessage = ClientRequest | ClientNotification | ClientAnswer | InvalidMessage;

const NO_PARAMS: JsonObject = Object.freeze({});

export function readMessage(value: unknown): ClientMessage {
  if (!isObject(value)) return invalid(null, 'a message is an object');
  const { jsonrpc, id, method, params = NO_PARAMS } = value;
  const known = isId(id) ? id : null;
  if (jsonrpc !== '2.0') return invalid(known, 'jsonrpc must be "2.0"');
  if (method === undefined) return readAnswer(value, known);
  if (typeof method !== 'string') return invalid(known, 'method must be a string');
  if (id !== undefined && known === null) return invalid(null, 'id must be a string or a whole number');
  if (!isObject(params)) {
    if (known === null) return invalid(null, 'params must be an object');
    return {
      kind: 'invalid',
      id: known,
      code: codes.invalidParams,
      problem: 'Invalid params: params must be an object',
    };
  }
  return known === null ? { kind: 'notification', method, params } : { kind: 'request', id: known, method, params };
}

function readAnswer(value: JsonObject, id: MessageId | null): ClientMessage {
  const hasResult = value['result'] !== undefined;
  if (hasResult === (value['error'] !== undefined)) return invalid(id, 'it is neither a request nor an answer');
  if (id === null) return invalid(null, 'an answer has the id of its question');
  return { kind: 'answer', id, ...(hasResult ? { result: value['result'] } : { error: value['error'] }) };
}

function invalid(id: MessageId | null, problem: string): InvalidMessage {
  return { kind: 'invalid', id, code: codes.invalidRequest, problem: `Invalid request: ${problem}` };
}

const isId = (value: unknown): value is MessageId => typeof value === 'string' || Number.isSafeInteger(value);

export const resultMessage = (id: MessageId, result: JsonObject): JsonObject => ({ jsonrpc: '2.0', id, result });

export function errorMessage(
  id: MessageId | null,
  { code, message, data }: Pick<ProtocolError, 'code' | 'message' | 'data'>,
): JsonObject {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } };
}

export const invalidAnswer = ({ id, code, problem }: InvalidMessage): JsonObject =>
  errorMessage(id, { code, message: problem, data: undefined });

export const notification = (method: string, params: JsonObject): JsonObject => ({ jsonrpc: '2.0', method, params });

/** The texts of the answers to a batch, as one message. */
export const batchOf = (answers: readonly string[]): string => `[${answers.join(',')}]`;
