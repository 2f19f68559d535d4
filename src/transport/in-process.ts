// Owns a server that runs inside the host: two ends of one line, without a process or bytes in between.

import { asRuntimeError, RuntimeError } from '../model/errors.ts';
import type { ServerName } from '../model/names.ts';
import type { Channel, ChannelReport, InProcessLaunch, Message } from '../model/server.ts';

/** `serve` is given the other end when this one starts. If it fails, the line closes and the report says why. */
export function openInProcess(serve: InProcessLaunch['serve'], server: ServerName): Channel {
  const line: Line = { server, open: true, reason: 'it has not answered' };
  const far: End = new End(line, () => near);
  const near: End = new End(
    line,
    () => far,
    () => {
      Promise.resolve(far)
        .then(serve)
        .catch((error: unknown) => far.fail(error));
    },
  );
  return near;
}

/** What both ends share. */
interface Line {
  readonly server: ServerName;
  open: boolean;
  reason: string;
}

class End implements Channel {
  onmessage?: ((message: Message) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;

  readonly #line: Line;
  readonly #peer: () => End;
  #begin: (() => void) | undefined;
  /** What has come and was not heard yet, in order; the close comes last. */
  readonly #inbox: (Message | 'close')[] = [];

  constructor(line: Line, peer: () => End, begin?: () => void) {
    this.#line = line;
    this.#peer = peer;
    this.#begin = begin;
  }

  async start(): Promise<void> {
    this.#begin?.();
    this.#begin = undefined;
    queueMicrotask(() => this.#hear());
  }

  async send(message: Message): Promise<void> {
    if (!this.#line.open) throw new RuntimeError('CONNECTION_LOST', { server: this.#line.server, ...this.report() });
    this.#peer().#take(message);
  }

  async close(): Promise<void> {
    if (this.#line.open) this.#end('it was closed');
    await Promise.resolve();
  }

  report(): ChannelReport {
    return { reason: this.#line.reason };
  }

  /** The server function did not hold: told to the other end, then the line closes. */
  fail(error: unknown): void {
    if (!this.#line.open) return;
    this.#peer().onerror?.(asRuntimeError(error));
    this.#end(`its server function failed: ${error instanceof Error ? error.message : String(error)}`);
  }

  /** The other end still hears what was sent before; this one hears nothing more. */
  #end(reason: string): void {
    this.#line.open = false;
    this.#line.reason = reason;
    this.#inbox.length = 0;
    for (const end of [this, this.#peer()]) end.#take('close');
  }

  #take(message: Message | 'close'): void {
    this.#inbox.push(message);
    queueMicrotask(() => this.#hear());
  }

  /** What arrives before anyone listens waits. */
  #hear(): void {
    while (this.#inbox.length > 0 && (this.onmessage !== undefined || !this.#line.open)) {
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
