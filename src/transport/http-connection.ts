// Owns HTTP/1.1 on one socket: writes a request, reads the response, and says whether the socket can carry another request.
// Knows neither redirects nor servers; `http-message.ts` reads the parts of a response.

import type { Socket } from 'node:net';
import { limits } from '../model/limits.ts';
import type { HeaderBlock } from './http-headers.ts';
import {
  type BodyReader,
  bodyOf,
  HttpFault,
  type ResponseHead,
  type ResponseHeaders,
  readHead,
} from './http-message.ts';

/** The methods must not throw. After `end` or `failed`, no further method is called. */
export interface ResponseHandler {
  /** Called right before the first byte is written, with the connection that carries the request. */
  started(connection: RequestControl): void;
  head(status: number, headers: ResponseHeaders, statusText: string): void;
  data(chunk: Buffer): void;
  end(): void;
  failed(error: Error): void;
}

export interface RequestControl {
  /** Ends the request with its connection; the handler hears `failed`. */
  abort(reason: Error): void;
  /** Until `resume`, neither `data` nor `end` is called, and what the server sends meanwhile stays in the socket. */
  pause(): void;
  resume(): void;
}

/** The parts of a request that depend on the way it takes. */
export interface SentRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly body?: string | undefined;
  /** The path, or the whole address for a proxy. */
  readonly address: string;
  readonly host: string;
  readonly headers: HeaderBlock;
  /** Further headers, for a proxy. */
  readonly routeHeaders: HeaderBlock;
}

export interface ConnectionEvents {
  /** The response is complete, and the connection can carry the next request. */
  onFree(connection: HttpConnection): void;
  onClose(connection: HttpConnection): void;
}

export class HttpConnection implements RequestControl {
  readonly #socket: Socket;
  readonly #events: ConnectionEvents;
  #handler: ResponseHandler | undefined;
  /** Bytes that came and could not be read yet: a part of a head, or everything while the handler pauses. */
  #unread: Buffer | undefined;
  #head: ResponseHead | undefined;
  #body: BodyReader | undefined;
  #isPaused = false;
  #isReading = false;
  /** How long the informational responses before this one were. */
  #hintBytes = 0;
  #hasEnded = false;
  #isClosed = false;
  /** Why the socket failed; told with its close. */
  #fault: Error | undefined;

  /** The socket is paused, and belongs to the connection from now on. */
  constructor(socket: Socket, events: ConnectionEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('end', () => this.#onEnd());
    socket.on('error', (error) => {
      this.#fault ??= error;
    });
    socket.on('close', () => this.#onClose());
    socket.on('timeout', () => socket.destroy());
    socket.resume();
  }

  send(request: SentRequest, handler: ResponseHandler): void {
    const socket = this.#socket;
    this.#handler = handler;
    handler.started(this);
    // The handler may have aborted the request, and with it the socket.
    if (socket.destroyed) return;
    socket.setTimeout(0);
    socket.ref();
    write(socket, request);
  }

  abort(reason: Error): void {
    if (this.#handler !== undefined) this.destroy(reason);
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  /** Whether it can carry another request. */
  get isOpen(): boolean {
    return !this.#socket.destroyed && !this.#hasEnded;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#read();
    if (this.#isPaused) return;
    this.#socket.resume();
    if (this.#isClosed) this.#onClose();
  }

  /** Fails the request under way with this reason. */
  destroy(reason: Error): void {
    this.#fault ??= reason;
    this.#isPaused = false;
    this.#unread = undefined;
    this.#body = undefined;
    this.#socket.destroy();
    if (this.#isClosed) this.#onClose();
  }

  #take(chunk: Buffer): void {
    this.#unread = this.#unread === undefined ? chunk : Buffer.concat([this.#unread, chunk]);
    this.#read();
  }

  #read(): void {
    // The handler may pause and resume within one call of `data`.
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (!this.#isPaused && this.#readPart());
    } catch (error) {
      if (!(error instanceof HttpFault)) throw error;
      this.destroy(error);
    } finally {
      this.#isReading = false;
    }
  }

  /** Returns whether there may be more to read. */
  #readPart(): boolean {
    if (this.#body === FINISHED) return this.#finish();
    const bytes = this.#unread;
    if (bytes === undefined) return false;
    // Bytes that no request asked for: the next response could not be told from them.
    if (this.#handler === undefined) throw new HttpFault('not-http');
    if (this.#body === undefined) return this.#readHead(bytes);
    const { data, used, isDone } = this.#body.read(bytes);
    this.#unread = used === bytes.length ? undefined : bytes.subarray(used);
    // A handler that pauses at the last bytes hears of the end when it resumes.
    if (isDone) this.#body = FINISHED;
    if (data !== undefined) this.#handler.data(data);
    return used > 0;
  }

  #readHead(bytes: Buffer): boolean {
    const end = bytes.indexOf('\r\n\r\n');
    const length = end === -1 ? bytes.length : end + 4;
    if (this.#hintBytes + length > limits.responseHeadBytes) throw new HttpFault('head-too-large');
    if (end === -1) {
      if (!couldBeHead(bytes)) throw new HttpFault('not-http');
      return false;
    }
    const head = readHead(bytes.toString('latin1', 0, end));
    this.#unread = length === bytes.length ? undefined : bytes.subarray(length);
    // An informational response, such as early hints; the real one follows.
    if (head.status < 200) {
      this.#hintBytes += length;
      return true;
    }
    this.#hintBytes = 0;
    this.#head = head;
    this.#body = bodyOf(head) ?? FINISHED;
    this.#handler?.head(head.status, head.headers, head.statusText);
    return true;
  }

  /** The connection is free before the handler hears of the end: a request that follows at once can use it. */
  #finish(): false {
    const [handler, head] = [this.#handler, this.#head];
    this.#handler = undefined;
    this.#head = undefined;
    this.#body = undefined;
    // A server that answers before it has read the request may never read the rest, and nothing that follows it.
    const isClean = this.isOpen && this.#unread === undefined && this.#socket.writableLength === 0;
    if (head === undefined || head.idleMs === 0 || !isClean) this.#socket.destroy();
    else {
      // An idle connection keeps no process alive, and is closed before the server does it.
      this.#socket.setTimeout(head.idleMs);
      this.#socket.unref();
      this.#events.onFree(this);
    }
    handler?.end();
    return false;
  }

  /** Node may tell the end while the handler pauses. A request that is still being written would keep the socket open. */
  #onEnd(): void {
    this.#hasEnded = true;
    if (this.#body?.endsWithConnection === true) this.#body = FINISHED;
    else this.#fault ??= new HttpFault(this.#body?.isMeasured ? 'cut-off' : 'hung-up');
    this.#read();
    this.#socket.destroy();
  }

  #onClose(): void {
    this.#isClosed = true;
    // Bytes that came before the close are read first.
    if (this.#isPaused) return;
    const handler = this.#handler;
    this.#handler = undefined;
    this.#events.onClose(this);
    handler?.failed(this.#fault ?? new HttpFault('hung-up'));
  }
}

/** The body of a response whose last byte was read. */
const FINISHED: BodyReader = { read: () => ({ used: 0, isDone: true }) };

const BEGINNING = Buffer.from('HTTP/1.');
const [CR, LF] = [0x0d, 0x0a];

/** Lines that end without a carriage return are refused at the first, since no end of the head would be found. */
function couldBeHead(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, BEGINNING.length);
  const lineEnd = bytes.indexOf(LF);
  return bytes.compare(BEGINNING, 0, length, 0, length) === 0 && (lineEnd === -1 || bytes[lineEnd - 1] === CR);
}

/** Headers are sent as bytes, the body as UTF-8; in one write where both are the same. */
function write(socket: Socket, { method, address, host, headers, routeHeaders, body }: SentRequest): void {
  const length = body === undefined ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
  const start = `${method} ${address} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  const head = `${start}${linesOf(headers)}${linesOf(routeHeaders)}${length}\r\n`;
  if (isAscii(head)) socket.write(body === undefined ? head : head + body, 'utf8');
  else {
    socket.cork();
    socket.write(head, 'latin1');
    if (body !== undefined) socket.write(body, 'utf8');
    socket.uncork();
  }
}

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text);

const lines = new WeakMap<HeaderBlock, string>();

/** A block is built once and sent with many requests. */
function linesOf(block: HeaderBlock): string {
  const known = lines.get(block);
  if (known !== undefined) return known;
  const parts: string[] = [];
  for (let at = 0; at + 1 < block.length; at += 2) parts.push(`${block[at]}: ${block[at + 1]}\r\n`);
  // A text that is added up piece by piece would keep all its pieces in memory.
  const text = parts.join('');
  lines.set(block, text);
  return text;
}
