// Owns one connection of a port of ours, as long as its requests are plain: one after the other they are read and answered here.
// With the first request that is not plain, the connection goes to Node for good.

import type { Socket } from 'node:net';
import { type PlainHead, PlainRequest, readPlainRequest } from './plain-request.ts';
import { PlainResponse } from './plain-response.ts';

export interface PlainConnectionOptions {
  readonly answer: (request: PlainRequest, response: PlainResponse) => void;
  readonly date: () => string;
  /** Gives the connection to Node, with what has been read and not been answered. */
  readonly handOver: (socket: Socket, chunk: Buffer) => void;
  /** The connection has closed, or is Node's. */
  readonly onLeft: (connection: PlainConnection) => void;
}

export class PlainConnection {
  readonly #socket: Socket;
  readonly #options: PlainConnectionOptions;
  #head: PlainHead | undefined;
  /** Of the request that is being answered. */
  #response: PlainResponse | undefined;
  /** Bytes that came before the last request was answered; nothing more is read until then. */
  #early: Buffer | undefined;
  #hasAnswered = false;
  /** How often the listener has looked at it since its last request. */
  #looks = 0;

  constructor(socket: Socket, options: PlainConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('data', this.#onData).on('drain', this.#onDrain).on('end', this.#onEnd);
    socket.on('error', this.#onError).on('close', this.#onClose);
  }

  /** Ends it if it is idle: at once, or if it has been for so many looks. A new connection has its own patience. */
  endIfIdle(looks: { readonly idle: number; readonly fresh: number } = NONE): void {
    // An answer that the client is still taking is not over.
    if (this.#response !== undefined || this.#socket.writableLength > 0) return;
    this.#looks++;
    if (this.#looks > (this.#hasAnswered ? looks.idle : looks.fresh)) this.#socket.destroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#response !== undefined || this.#socket.writableNeedDrain) {
      this.#early = chunk;
      this.#socket.pause();
      return;
    }
    this.#looks = 0;
    const read = readPlainRequest(chunk, this.#head);
    if (read === undefined) {
      this.#leave();
      this.#options.handOver(this.#socket, chunk);
      return;
    }
    this.#head = read.head;
    const request = new PlainRequest(read.head, read.body, this.#socket);
    this.#response = new PlainResponse({ request, date: this.#options.date, onEnd: this.#answered });
    this.#options.answer(request, this.#response);
  };

  readonly #answered = (isLast: boolean): void => {
    this.#response = undefined;
    this.#hasAnswered = true;
    if (isLast) this.#socket.end(() => this.#socket.destroy());
    else this.#goOn();
  };

  /** A client that does not read its answers is not read either. */
  #goOn(): void {
    const early = this.#early;
    if (early === undefined || this.#response !== undefined || this.#socket.writableNeedDrain) return;
    this.#early = undefined;
    this.#socket.resume();
    this.#onData(early);
  }

  readonly #onDrain = (): void => {
    this.#response?.drained();
    this.#goOn();
  };

  /** A client that sends nothing more gets no answer any more either, as with Node. */
  readonly #onEnd = (): void => void this.#socket.end();

  /** The end of the connection follows. */
  readonly #onError = (): void => undefined;

  readonly #onClose = (): void => {
    this.#options.onLeft(this);
    this.#response?.closed();
  };

  #leave(): void {
    const socket = this.#socket;
    socket.off('data', this.#onData).off('drain', this.#onDrain).off('end', this.#onEnd);
    socket.off('error', this.#onError).off('close', this.#onClose);
    this.#options.onLeft(this);
  }
}

const NONE = { idle: 0, fresh: 0 };
