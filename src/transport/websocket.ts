// Owns a server behind a WebSocket: one message per frame, and why it is gone when it is gone.
// How it comes to be open is left to `websocket-handshake.ts`; whether a silent one still lives, to the connection.

import { constants } from 'node:buffer';
import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { isObject, parseJson, stringifyBounded } from '../kernel/json.ts';
import { asRuntimeError, RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { Channel, ChannelReport, Message, MessageId } from '../model/server.ts';
import type { Network } from './dial.ts';
import { errorCode } from './error-code.ts';
import { networkReason } from './network-failure.ts';
import { Noise } from './noise.ts';
import { printable } from './printable.ts';

export interface WebSocketOptions {
  readonly server: ServerName;
  readonly url: string;
  /** Sent when the connection is asked for, to this address and no other: redirects are not followed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly network: Network;
  readonly maxMessageBytes: number;
  readonly clock: Clock;
  /** Told each frame that holds no message. */
  readonly onNoise?: ((text: string) => void) | undefined;
}

/** Opens nothing yet: `start` does. */
export function openWebSocket(options: WebSocketOptions): WebSocketChannel {
  return new WebSocketChannel(options);
}

/** One for all sends: a promise of its own for each would cost more than the send. */
const HANDED_ON = Promise.resolve();

/** The code of an end that nothing is wrong with. */
const GOODBYE = 1000;

export class WebSocketChannel implements Channel {
  onmessage?: ((message: Message) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onoversized?: ((id: MessageId | undefined) => void) | undefined;

  readonly #options: WebSocketOptions;
  readonly #noise = new Noise();
  /** Ends an opening that is under way. */
  readonly #giveUp = new AbortController();
  #opening: Promise<void> | undefined;
  #websocket: WebSocket | undefined;
  #gone: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #cancelGrace: CancelTimer | undefined;
  /** Why it is down. The first one counts: what follows are its consequences. */
  #reason: string | undefined;

  constructor(options: WebSocketOptions) {
    this.#options = options;
  }

  /** Resolves when the server has agreed to speak, which is not to say that it answers. */
  async start(): Promise<void> {
    if (this.#closing === undefined) {
      this.#opening ??= this.#open();
      await this.#opening.catch((error: unknown) => {
        if (this.#closing === undefined) throw error;
      });
    }
    if (this.#closing !== undefined) throw this.#lost();
  }

  /** Never waits for the socket: a server that does not read must not hold up its callers. */
  send(message: Message): Promise<void> {
    const websocket = this.#websocket;
    if (websocket === undefined || websocket.readyState !== websocket.OPEN || this.#closing !== undefined) {
      return Promise.reject(this.#lost());
    }
    if (websocket.bufferedAmount > limits.unreadInputBytes) {
      return Promise.reject(this.#lost('it does not read its input'));
    }
    try {
      websocket.send(JSON.stringify(message));
      return HANDED_ON;
    } catch (error) {
      // What cannot be written as JSON; whose fault that is, the caller knows.
      return Promise.reject(error);
    }
  }

  /** From this call on nothing is delivered but `onclose`. */
  close(): Promise<void> {
    this.onmessage = undefined;
    this.onoversized = undefined;
    this.#closing ??= this.#close();
    return this.#closing;
  }

  report(): ChannelReport {
    return { reason: this.#noise.explain(this.#reason ?? this.#silence()), isRemote: true };
  }

  async #open(): Promise<void> {
    const { shakeHands } = await import('./websocket-handshake.ts');
    const maxMessageBytes = Math.max(1, Math.min(this.#options.maxMessageBytes, constants.MAX_STRING_LENGTH));
    await shakeHands({ ...this.#options, maxMessageBytes }, this.#giveUp.signal, this.#attach);
  }

  async #close(): Promise<void> {
    this.#reason ??= 'it was closed';
    this.#giveUp.abort();
    // A start that failed has left nothing, and has told its own caller why.
    await Promise.allSettled([this.#opening]);
    const websocket = this.#websocket;
    if (websocket === undefined || websocket.readyState === websocket.CLOSED) return;
    websocket.close(GOODBYE);
    this.#cancelGrace ??= this.#options.clock.after(limits.goodbyeMs, () => websocket.terminate());
    await this.#gone;
  }

  readonly #attach = (websocket: WebSocket, socket: Socket): void => {
    this.#websocket = websocket;
    websocket.on('message', (data) => this.#read(data));
    websocket.on('ping', () => {
      // Each one is answered: who sends them and reads nothing would fill our memory with answers.
      if (websocket.bufferedAmount > limits.unreadInputBytes) this.#drop('it does not read its input');
    });
    websocket.on('error', (error) => this.#break(error));
    socket.once('error', (error) => {
      this.#reason ??= networkReason(error);
    });
    this.#gone = new Promise((resolve) => {
      websocket.once('close', (code, text) => {
        this.#cancelGrace?.();
        this.#reason ??= describeClose(code, text.toString());
        this.#tell(this.onclose, undefined);
        resolve();
      });
    });
  };

  #read(data: RawData): void {
    if (this.#reason !== undefined) return;
    const text = data.toString().trim();
    if (text === '') return;
    const parsed = parseJson(text);
    if (!parsed.ok) this.#takeNoise(text.slice(0, limits.noiseLineChars));
    else for (const each of Array.isArray(parsed.value) ? parsed.value : [parsed.value]) this.#deliver(each);
  }

  #deliver(value: unknown): void {
    if (isObject(value)) this.#tell(this.onmessage, value);
    else this.#takeNoise(stringifyBounded(value, limits.noiseLineChars));
  }

  #takeNoise(text: string): void {
    if (this.#noise.take(text) === 'flood') this.#drop('it floods its output with text that is not MCP');
    this.#tell(this.#options.onNoise, text);
  }

  /** Without a goodbye: it would not be read. */
  #drop(reason: string): void {
    this.#reason ??= reason;
    this.#websocket?.terminate();
  }

  /** What the server sent cannot be read on from here. `ws` has said so to it, and gives it as long as we would. */
  #break(error: Error): void {
    const code = errorCode(error);
    const isOversized = code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
    this.#reason ??= isOversized
      ? `its message was larger than ${size(this.#options.maxMessageBytes)}`
      : `it breaks the rules of WebSocket (${code ?? 'no code'})`;
    if (isOversized) this.#tell(this.onoversized, undefined);
  }

  /** What a listener throws is its own fault and must not end the reading. */
  #tell<Value>(listener: ((value: Value) => void) | undefined, value: Value): void {
    try {
      listener?.(value);
    } catch (error) {
      this.onerror?.(asRuntimeError(error));
    }
  }

  #silence(): string {
    if (this.#opening === undefined) return 'it has not been started';
    return this.#websocket === undefined ? 'its address has not answered' : 'it has not answered';
  }

  #lost(reason?: string): RuntimeError {
    const report = this.report();
    return new RuntimeError('CONNECTION_LOST', { server: this.#options.server, ...report, ...(reason && { reason }) });
  }
}

/** 1005 and 1006 are never sent: they stand for a goodbye without a code, and for none at all. */
function describeClose(code: number, text: string): string {
  if (code === 1006) return 'it hung up';
  const said = printable(text).trim();
  const words = code === 1005 ? '' : ` with code ${code}`;
  return `it closed the connection${words}${said === '' ? '' : ` (${said})`}`;
}

const MEBIBYTE = 1024 * 1024;
const size = (bytes: number) =>
  bytes < MEBIBYTE ? `${bytes} bytes` : `${Math.round((bytes / MEBIBYTE) * 10) / 10} MiB`;
