// Owns the response to a plain request: one write for an answer that is known as a whole, and Node's own response for one that
// comes in parts.

import { IncomingMessage, ServerResponse, STATUS_CODES, validateHeaderValue } from 'node:http';
import { limits } from '../model/limits.ts';
import type { PlainRequest } from './plain-request.ts';

type ResponseHeaders = Readonly<Record<string, string | number>>;

export interface PlainResponseOptions {
  readonly request: PlainRequest;
  /** The time as HTTP words it, to the second. */
  readonly date: () => string;
  /** Called once, when the whole answer was handed to the socket; with true if the connection ends with it. */
  readonly onEnd: (isLast: boolean) => void;
}

const NO_CONTENT = 204;
const NO_HEADERS: ResponseHeaders = Object.freeze({});
const STAYS = `Connection: keep-alive\r\nKeep-Alive: timeout=${limits.served.idleConnectionMs / 1_000}\r\n\r\n`;
const ENDS = 'Connection: close\r\n\r\n';

export class PlainResponse {
  headersSent = false;
  readonly #options: PlainResponseOptions;
  #status = 200;
  #headers: ResponseHeaders | undefined;
  #onClose: (() => void)[] | undefined;
  #stream: ServerResponse | undefined;

  constructor(options: PlainResponseOptions) {
    this.#options = options;
  }

  get destroyed(): boolean {
    return this.#options.request.socket.destroyed;
  }

  hasHeader(name: string): boolean {
    return this.#headers?.[name] !== undefined;
  }

  setHeader(name: string, value: string): this {
    this.#headers = { ...this.#headers, ...checked({ [name]: value }) };
    return this;
  }

  writeHead(status: number, headers: ResponseHeaders = NO_HEADERS): this {
    checked(headers);
    this.headersSent = true;
    this.#status = status;
    this.#headers = this.#headers === undefined ? headers : { ...this.#headers, ...headers };
    return this;
  }

  end(body = ''): void {
    const { request, date, onEnd } = this.#options;
    const headers = this.#headers ?? NO_HEADERS;
    let head = `HTTP/1.1 ${this.#status} ${STATUS_CODES[this.#status] ?? ''}\r\n`;
    for (const name of Object.keys(headers)) if (name !== 'connection') head += `${name}: ${headers[name]}\r\n`;
    if (headers['content-length'] === undefined && this.#status !== NO_CONTENT)
      head += `content-length: ${Buffer.byteLength(body)}\r\n`;
    const isLast = headers['connection'] === 'close';
    if (request.socket.writable) request.socket.write(`${head}Date: ${date()}\r\n${isLast ? ENDS : STAYS}${body}`);
    onEnd(isLast);
  }

  /** Listens for the end of the connection before the answer. */
  on(_event: 'close', listener: () => void): this {
    this.#onClose = [...(this.#onClose ?? []), listener];
    return this;
  }

  /** Node's own response: from here on the answer is written through it. */
  stream(): ServerResponse {
    this.#stream ??= this.#open();
    return this.#stream;
  }

  /** The connection has closed. */
  closed(): void {
    // Node tells a response that it has made itself.
    if (this.#stream === undefined) this.#tellClosed();
  }

  /** The connection takes more. */
  drained(): void {
    this.#stream?.emit('drain');
  }

  readonly #tellClosed = (): void => {
    for (const listener of this.#onClose ?? []) listener();
  };

  #open(): ServerResponse {
    const { method, url, headers, socket } = this.#options.request;
    const request = new IncomingMessage(socket);
    Object.assign(request, { method, url, headers, httpVersionMajor: 1, httpVersionMinor: 1, httpVersion: '1.1' });
    const stream = new ServerResponse(request);
    for (const [name, value] of Object.entries(this.#headers ?? {})) stream.setHeader(name, value);
    stream.assignSocket(socket);
    stream.on('close', this.#tellClosed);
    stream.on('finish', () => {
      stream.detachSocket(socket);
      this.#options.onEnd(false);
    });
    this.headersSent = true;
    return stream;
  }
}

/** A value with a line break would be another header. */
function checked(headers: ResponseHeaders): ResponseHeaders {
  for (const name of Object.keys(headers)) validateHeaderValue(name, String(headers[name]));
  return headers;
}
