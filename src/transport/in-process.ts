// Owns the channel to a server that runs inside the host: two connected ends, without a process or bytes in between.

import { asRuntimeError, RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { Channel, ChannelReport, InProcessLaunch, Message, MessageId, RequestFailure } from '../model/server.ts';

/** Calls `serve` with the other end when this end starts. If `serve` fails, both ends close and the report says why. */
export function openInProcess(serve: InProcessLaunch['serve'], server: ServerName): Channel {
  const pair: EndPair = { server, open: true, reason: 'it has not answered' };
  const far: InProcessEnd = new InProcessEnd(pair, () => near);
  const near: InProcessEnd = new InProcessEnd(
    pair,
    () => far,
    () => {
      Promise.resolve(far)
        .then(serve)
        .catch((error: unknown) => far.fail(error));
    },
  );
  return near;
}

/** The state that both ends share. */
interface EndPair {
  readonly server: ServerName;
  open: boolean;
  reason: string;
}

class InProcessEnd implements Channel {
  onmessage?: ((message: Message) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onfailed?: ((id: MessageId, failure: RequestFailure) => void) | undefined;

  readonly #pair: EndPair;
  readonly #peer: () => InProcessEnd;
  #begin: (() => void) | undefined;
  /** Messages that were not delivered yet, in order; the close comes last. */
  readonly #inbox: (Message | 'close')[] = [];

  constructor(pair: EndPair, peer: () => InProcessEnd, begin?: () => void) {
    this.#pair = pair;
    this.#peer = peer;
    this.#begin = begin;
  }

  async start(): Promise<void> {
    this.#begin?.();
    this.#begin = undefined;
    queueMicrotask(() => this.#deliver());
  }

  async send(message: Message): Promise<void> {
    if (!this.#pair.open) throw this.#lost();
    this.#peer().#take(message);
  }

  async close(): Promise<void> {
    if (this.#pair.open) this.#end('it was closed');
    await Promise.resolve();
  }

  report(): ChannelReport {
    return { reason: this.#pair.reason };
  }

  /**
   * The server function failed: the other end gets the error, then both ends close. Requests that the server has not read are
   * reported as not sent, so that none of them is taken for the cause.
   */
  fail(error: unknown): void {
    if (!this.#pair.open) return;
    const near = this.#peer();
    near.onerror?.(asRuntimeError(error));
    const unread = this.#inbox.map(
      (message) => message !== 'close' && message['method'] !== undefined && message['id'],
    );
    this.#end(`its server function failed: ${error instanceof Error ? error.message : String(error)}`);
    for (const id of unread) {
      if (typeof id === 'number' || typeof id === 'string') near.onfailed?.(id, { sent: false, cause: this.#lost() });
    }
  }

  #lost(): RuntimeError {
    return new RuntimeError('CONNECTION_LOST', { server: this.#pair.server, ...this.report() });
  }

  /** The other end still gets messages sent before; this end gets no more. */
  #end(reason: string): void {
    this.#pair.open = false;
    this.#pair.reason = reason;
    this.#inbox.length = 0;
    for (const end of [this, this.#peer()]) end.#take('close');
  }

  #take(message: Message | 'close'): void {
    this.#inbox.push(message);
    queueMicrotask(() => this.#deliver());
  }

  /** Messages wait until `onmessage` is set. */
  #deliver(): void {
    while (this.#inbox.length > 0 && (this.onmessage !== undefined || !this.#pair.open)) {
      const message = this.#inbox.shift();
      try {
        if (message === 'close') this.onclose?.();
        else if (message !== undefined) this.onmessage?.(message);
      } catch (error) {
        this.onerror?.(asRuntimeError(error));
      }
    }
  }
}
