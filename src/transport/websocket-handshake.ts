// Owns opening a WebSocket: the opening request, and what a refusal means.
// Import it lazily: it loads the `ws` package and all of `node:tls`.

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import { dial, type Network } from './dial.ts';
import { errorCode } from './error-code.ts';
import { broken, failureOf, lost } from './http-failure.ts';
import { networkReason } from './network-failure.ts';
import { printable } from './printable.ts';

export interface Handshake {
  readonly server: ServerName;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly network: Network;
  readonly maxMessageBytes: number;
}

/** Called synchronously when the socket opens, since the first message may follow at once. */
export type OnOpen = (websocket: WebSocket, socket: Socket) => void;

const SUBPROTOCOL = 'mcp';

/** Headers that the handshake itself sets; an entry cannot set them. */
const RESERVED_HEADERS = /^(sec-websocket-.*|connection|upgrade|content-length|transfer-encoding)$/i;

/** On failure or abort, rejects once no socket is open any more. */
export async function shakeHands(handshake: Handshake, signal: AbortSignal, onOpen: OnOpen): Promise<void> {
  const { server, network } = handshake;
  const url = addressOf(handshake);
  const socket = await dial({ server, url, network }, signal);
  const abort = () => socket.destroy();
  signal.addEventListener('abort', abort);
  try {
    await opened(handshake, url, socket, onOpen);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function opened(handshake: Handshake, url: URL, socket: Socket, onOpen: OnOpen): Promise<void> {
  const { server } = handshake;
  return new Promise((resolve, reject) => {
    let failure: RuntimeError | undefined;
    const fail = () => reject(failure ?? lost(server, 'it hung up'));
    socket.once('close', fail);
    const websocket = requestWebSocket(handshake, url, socket);
    if (websocket instanceof RuntimeError) {
      failure = websocket;
      socket.destroy();
      return;
    }
    websocket.once('upgrade', (response: IncomingMessage) => {
      failure = settleSubprotocol(server, response);
    });
    websocket.once('unexpected-response', (_request, response: IncomingMessage) => {
      failure = refusal(handshake, url, response);
      websocket.terminate();
    });
    const onError = (error: Error) => {
      failure ??= breakdown(server, error);
      socket.destroy();
    };
    websocket.on('error', onError);
    websocket.once('open', () => {
      socket.off('close', fail);
      websocket.off('error', onError);
      onOpen(websocket, socket);
      resolve();
    });
  });
}

/** Without compression: a small frame must not become a large message, and messages are small anyway. */
function requestWebSocket(
  { server, headers, maxMessageBytes }: Handshake,
  url: URL,
  socket: Socket,
): WebSocket | RuntimeError {
  const options = {
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !RESERVED_HEADERS.test(name))),
    createConnection: () => socket,
    followRedirects: false,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    // Invalid UTF-8 spoils one text and must not end the connection.
    skipUTF8Validation: true,
    closeTimeout: limits.goodbyeMs,
  };
  try {
    const websocket = new WebSocket(url, [SUBPROTOCOL], options);
    // The socket was paused so far; the listeners of `ws` are in place before its first data event.
    socket.resume();
    return websocket;
  } catch (error) {
    const problem = `server "${server}" has a header that cannot be sent (${errorCode(error) ?? 'no code'})`;
    return new RuntimeError('CONFIG_INVALID', { problem }, { cause: error });
  }
}

function addressOf({ server, url }: Handshake): URL {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !/^(ws|http)s?:$/.test(address.protocol)) {
    const problem = `the url of server "${server}" begins neither with ws:// nor with wss://`;
    throw new RuntimeError('CONFIG_INVALID', { problem });
  }
  address.hash = '';
  return address;
}

/** A server that names no subprotocol is accepted; `ws` alone would reject it. */
function settleSubprotocol(server: ServerName, { headers }: IncomingMessage): RuntimeError | undefined {
  headers['sec-websocket-protocol'] ??= SUBPROTOCOL;
  const chosen = headers['sec-websocket-protocol'];
  if (chosen === SUBPROTOCOL) return undefined;
  return broken(server, `it speaks the subprotocol "${quoted(chosen)}" instead of "${SUBPROTOCOL}"`);
}

function refusal({ server, headers }: Handshake, url: URL, response: IncomingMessage): RuntimeError {
  const { statusCode: status = 0, statusMessage: statusText = '' } = response;
  if (status < 300) return broken(server, `it answered HTTP ${status} instead of opening a WebSocket`);
  if (status < 400)
    return broken(server, `it redirects (HTTP ${status}), and redirects of a WebSocket are not followed`);
  const hasToken = url.username !== '' || Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  // Counts as `initialize`: the opening request is the first one, so its refusal can mean a wrong address.
  return failureOf({ status, statusText, body: '' }, { server, method: 'initialize', hasToken }).cause;
}

function breakdown(server: ServerName, error: Error): RuntimeError {
  const code = errorCode(error);
  if (code === undefined) return broken(server, 'its answer does not open a WebSocket', error);
  if (code.startsWith('HPE_')) return broken(server, `it does not answer in HTTP (${code})`, error);
  return lost(server, networkReason(error), error);
}

const quoted = (text: string) => printable(text).slice(0, limits.noiseQuoteChars);
