// Owns the channel to a server behind a WebSocket: one message per frame, and the reason for its end.
// `websocket-handshake.ts` opens the socket; the health check of `connection/` finds out whether a silent server still lives.

import { constants } from 'node:buffer';
import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import type { CancelTimer } from '../kernel/clock.ts';
import { isObject, type ParsedJson, stringifyBounded } from '../kernel/json.ts';
import { isRefusedLogin } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ChannelReport, Message } from '../model/server.ts';
import { ChannelBase } from './channel-base.ts';
import { errorCode } from './error-code.ts';
import type { HeaderBlock } from './http-headers.ts';
import type { RemoteChannelOptions } from './http-options.ts';
import { MessageQueue } from './message-queue.ts';
import { networkReason } from './network-failure.ts';
import { Noise } from './noise.ts';
import { printable } from './printable.ts';

/** Opens nothing yet: `start()` does. */
export function openWebSocket(options: RemoteChannelOptions): WebSocketChannel {
  return new WebSocketChannel(options);
}

/** The close code for a normal end. */
const NORMAL_CLOSURE = 1000;

export class WebSocketChannel extends ChannelBase {
  readonly #options: RemoteChannelOptions;
  readonly #noise = new Noise();
  readonly #queue = new MessageQueue();
  /** Aborts an opening that is under way. */
  readonly #giveUp = new AbortController();
  #websocket: WebSocket | undefined;
  /** Resolves when the socket is closed. */
  #gone: Promise<void> | undefined;
  #cancelGrace: CancelTimer | undefined;
  /** Why the channel is down. The first reason stays: later ones are its consequences. */
  #reason: string | undefined;

  constructor(options: RemoteChannelOptions) {
    super(options.server);
    this.#options = options;
  }

  report(): ChannelReport {
    return { reason: this.#noise.explain(this.#reason ?? this.#silence()), isRemote: true };
  }

  protected async open(): Promise<void> {
    const { shakeHands } = await import('./websocket-handshake.ts');
    const maxMessageBytes = Math.max(1, Math.min(this.#options.maxMessageBytes, constants.MAX_STRING_LENGTH));
    const { login, url, headers } = this.#options;
    for (let repeats = 0; ; repeats++) {
      const signed = (await login?.headersFor({ method: 'GET', url })) ?? [];
      const sent = { ...headers, ...recordOf(signed) };
      try {
        await shakeHands({ ...this.#options, headers: sent, maxMessageBytes }, this.#giveUp.signal, this.#attach);
        return;
      } catch (error) {
        const verdict = isRefusedLogin(error) ? await login?.onRefused(signed, { status: 401, repeats }) : undefined;
        if (verdict !== 'again') throw verdict ?? error;
      }
    }
  }

  protected canSend(): boolean {
    const websocket = this.#websocket;
    return websocket !== undefined && websocket.readyState === websocket.OPEN;
  }

  protected handOn(message: Message): undefined {
    const websocket = this.#websocket as WebSocket;
    if (websocket.bufferedAmount > limits.unreadInputBytes) throw this.lost('it does not read its input');
    websocket.send(JSON.stringify(message));
  }

  protected interrupt(): void {
    this.#reason ??= 'it was closed';
    this.#queue.stop();
    this.#giveUp.abort();
  }

  protected async shutDown(): Promise<void> {
    const websocket = this.#websocket;
    if (websocket === undefined) return;
    // Its end may still have waited for a long message.
    if (websocket.readyState === websocket.CLOSED) {
      this.finish();
      return;
    }
    websocket.close(NORMAL_CLOSURE);
    this.#cancelGrace ??= this.#options.clock.after(limits.goodbyeMs, () => websocket.terminate());
    await this.#gone;
  }

  readonly #attach = (websocket: WebSocket, socket: Socket): void => {
    this.#websocket = websocket;
    websocket.on('message', (data) => this.#read(data));
    websocket.on('ping', () => {
      // `ws` answers each ping: a server that sends pings and reads nothing would fill our memory with answers.
      if (websocket.bufferedAmount > limits.unreadInputBytes) this.#drop('it does not read its input');
    });
    websocket.on('error', (error) => this.#break(error));
    const setReason = (error: Error) => {
      this.#reason ??= networkReason(error);
    };
    socket.once('error', (error) => this.#queue.run(() => setReason(error)));
    this.#gone = new Promise((resolve) => {
      websocket.once('close', (code, text) => {
        this.#cancelGrace?.();
        const finish = () => {
          this.#reason ??= describeClose(code, text.toString());
          this.finish();
          resolve();
        };
        if (this.isClosing) finish();
        else this.#queue.run(finish);
      });
    });
  };

  #read(data: RawData): void {
    if (this.#reason !== undefined) return;
    const text = data.toString().trim();
    if (text === '') return;
    this.#queue.parse(text, this.#take);
    const idle = this.#queue.whenIdle();
    if (idle === undefined) return;
    // A server that writes faster than its long messages are parsed must not fill the memory.
    this.#websocket?.pause();
    void idle.then(() => this.#websocket?.resume());
  }

  readonly #take = (parsed: ParsedJson, text: string): void => {
    if (this.#reason !== undefined) return;
    if (!parsed.ok) this.#takeNoise(text.slice(0, limits.noiseLineChars));
    else for (const each of Array.isArray(parsed.value) ? parsed.value : [parsed.value]) this.#deliver(each);
  };

  #deliver(value: unknown): void {
    if (isObject(value)) this.tell(this.onmessage, value);
    else this.#takeNoise(stringifyBounded(value, limits.noiseLineChars));
  }

  #takeNoise(text: string): void {
    if (this.#noise.take(text) === 'flood') this.#drop('it floods its output with text that is not MCP');
    this.tell(this.#options.onNoise, text);
  }

  /** Closes without a closing frame, which such a server would not read. */
  #drop(reason: string): void {
    this.#reason ??= reason;
    this.#websocket?.terminate();
  }

  /** Nothing after this frame can be read. `ws` has already sent the close frame and waits `limits.goodbyeMs` for the server's. */
  #break(error: Error): void {
    const code = errorCode(error);
    const isOversized = code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
    this.#reason ??= isOversized
      ? `its message was larger than ${size(this.#options.maxMessageBytes)}`
      : `it breaks the rules of WebSocket (${code ?? 'no code'})`;
    if (isOversized) this.tell(this.onoversized, undefined);
  }

  #silence(): string {
    if (!this.hasStarted) return 'it has not been started';
    return this.#websocket === undefined ? 'its address has not answered' : 'it has not answered';
  }
}

const recordOf = (block: HeaderBlock) =>
  Object.fromEntries(block.flatMap((name, at) => (at % 2 === 0 ? [[name, block[at + 1] ?? '']] : [])));

/** 1005 and 1006 are never sent: `ws` reports them for a close frame without a code and for a missing close frame. */
function describeClose(code: number, text: string): string {
  if (code === 1006) return 'it hung up';
  const explanation = printable(text).trim();
  const withCode = code === 1005 ? '' : ` with code ${code}`;
  return `it closed the connection${withCode}${explanation === '' ? '' : ` (${explanation})`}`;
}

const MEBIBYTE = 1024 * 1024;
const size = (bytes: number) =>
  bytes < MEBIBYTE ? `${bytes} bytes` : `${Math.round((bytes / MEBIBYTE) * 10) / 10} MiB`;
