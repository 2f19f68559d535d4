// Owns what all channels do alike: open once, close once, refuse to send before and after, and report a listener's error.
// How a channel opens, hands on a message and shuts down is left to its own file.

import { asRuntimeError, RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import {
  type Channel,
  type ChannelReport,
  HANDED_ON,
  type Message,
  type MessageId,
  type RequestFailure,
  type SendOptions,
} from '../model/server.ts';

export abstract class ChannelBase implements Channel {
  onmessage?: Channel['onmessage'];
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onfailed?: ((id: MessageId, failure: RequestFailure) => void) | undefined;
  onoversized?: ((id: MessageId | undefined) => void) | undefined;
  onsign?: ((id: MessageId) => void) | undefined;

  /** Set by the first `close()` and never reset. */
  protected isClosing = false;
  readonly #server: ServerName;
  #opening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #isClosed = false;

  constructor(server: ServerName) {
    this.#server = server;
  }

  /** Runs at most once, at the first `start()`. A rejection must leave no process and no socket behind. */
  protected abstract open(): Promise<void>;
  /** Whether the process, socket or request queue for messages exists and takes them. */
  protected abstract canSend(): boolean;
  /** Hands on one message. Returns a promise only for a message that must have arrived before the next one may go out. */
  protected abstract handOn(message: Message, options: SendOptions | undefined): Promise<void> | undefined;
  /** The synchronous first step of closing: makes an opening under way end soon. A returned promise is waited for. */
  protected abstract interrupt(): unknown;
  /** Runs once the opening has settled; closes everything it left and then calls `finish()`. */
  protected abstract shutDown(): Promise<void>;
  abstract report(): ChannelReport;

  protected get hasStarted(): boolean {
    return this.#opening !== undefined;
  }

  protected get hasClosed(): boolean {
    return this.#isClosed;
  }

  /** Resolves when messages can be sent. That does not mean that the server answers any. */
  async start(): Promise<void> {
    if (!this.isClosing) {
      this.#opening ??= this.open();
      await this.#opening.catch((error: unknown) => {
        if (!this.isClosing) throw error;
      });
    }
    if (this.isClosing) throw this.lost();
  }

  /** Never waits for the server: a server that does not read must not hold up its callers. */
  send(message: Message, options?: SendOptions): Promise<void> {
    if (this.isClosing || !this.canSend()) return Promise.reject(this.lost());
    try {
      return this.handOn(message, options) ?? HANDED_ON;
    } catch (error) {
      // The server does not read its input, or the message cannot be written as JSON, which is the caller's mistake.
      return Promise.reject(error);
    }
  }

  /** From this call on the channel delivers nothing but `onclose`. */
  close(): Promise<void> {
    this.onmessage = undefined;
    this.onerror = undefined;
    this.onfailed = undefined;
    this.onoversized = undefined;
    this.onsign = undefined;
    this.isClosing = true;
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Calls a listener. An error that the listener throws goes to `onerror` and does not stop the channel from reading. */
  tell<Value>(listener: ((value: Value) => void) | undefined, value: Value): void {
    try {
      listener?.(value);
    } catch (error) {
      this.onerror?.(asRuntimeError(error));
    }
  }

  async #close(): Promise<void> {
    // An opening that failed has left nothing open, and `start()` has told its caller why.
    await Promise.allSettled([this.interrupt(), this.#opening]);
    await this.shutDown();
  }

  /** The channel is down: calls `onclose`, at most once. */
  protected finish(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.tell(this.onclose, undefined);
  }

  /** The failure of a start or a send; `reason` replaces the one that the report gives. */
  protected lost(reason?: string): RuntimeError {
    const report = this.report();
    return new RuntimeError('CONNECTION_LOST', { server: this.#server, ...report, ...(reason && { reason }) });
  }
}
