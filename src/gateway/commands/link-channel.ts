// Owns the channel of a command to a server that the gateway runs: a link to the route of that server alone, one message a line.

import type { Socket } from 'node:net';
import type { ServerName } from '../../model/names.ts';
import type { ChannelReport, Message, MessageId } from '../../model/server.ts';
import { ChannelBase } from '../../transport/channel-base.ts';
import { FrameReader } from '../../transport/framing.ts';
import { failureIn } from './told-failure.ts';

export interface LinkChannelOptions {
  readonly server: ServerName;
  readonly maxMessageBytes: number;
  readonly link: () => Promise<Socket>;
}

export class LinkChannel extends ChannelBase {
  readonly #options: LinkChannelOptions;
  readonly #reader: FrameReader;
  #socket: Socket | undefined;
  #reason = 'the gateway has not answered';

  constructor(options: LinkChannelOptions) {
    super(options.server);
    this.#options = options;
    this.#reader = new FrameReader(options.maxMessageBytes, {
      onMessage: (message) => this.#take(message),
      onNoise: (line) => this.onerror?.(new Error(`the gateway sent what is no message: ${line}`)),
      onOversized: (id) => this.tell(this.onoversized, id),
      onEndless: () => this.#socket?.destroy(),
      onCutOff: () => undefined,
    });
  }

  report(): ChannelReport {
    return { reason: this.#reason };
  }

  protected async open(): Promise<void> {
    const socket = await this.#options.link();
    this.#socket = socket;
    this.#reason = 'the gateway ended the connection';
    socket.on('data', (chunk: Buffer) => {
      if (!this.isClosing) this.#reader.push(chunk);
    });
    // An error is followed by the close.
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.destroy());
    socket.on('close', () => this.#ended());
    socket.resume();
  }

  protected canSend(): boolean {
    return this.#socket?.writable === true;
  }

  protected handOn(message: Message): undefined {
    this.#socket?.write(`${JSON.stringify(message)}\n`);
  }

  protected interrupt(): void {
    this.#reason = 'it was closed';
  }

  protected async shutDown(): Promise<void> {
    this.#socket?.destroySoon();
    this.#ended();
  }

  /**
   * A failure in the gateway ends the request as if it had happened here. The status says that the gateway is up: nothing is asked
   * again.
   */
  #take(message: Message): void {
    const failure = failureIn(message);
    if (failure === undefined) this.tell(this.onmessage, message);
    else this.onfailed?.(message['id'] as MessageId, { sent: false, status: 502, cause: failure });
  }

  /** The last messages may still be parsed. */
  #ended(): void {
    const idle = this.isClosing ? undefined : this.#reader.whenIdle();
    if (idle === undefined) this.finish();
    else void idle.then(() => this.finish());
  }
}
