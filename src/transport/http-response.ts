// Owns reading the body of an HTTP response by what its head announces: one message, an event stream, or text to quote.

import type { ParsedJson } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { MessageId } from '../model/server.ts';
import { EventStreamReader } from './event-stream.ts';
import { headerIn, type ResponseHeaders } from './exchange.ts';
import { MessageQueue } from './message-queue.ts';
import { Pieces } from './pieces.ts';
import { printable } from './printable.ts';

/** Why no message can be read from a response. */
export interface UnreadableResponse {
  readonly problem: string;
}

/** How to read the response to a request. */
export function responseKind(status: number, headers: ResponseHeaders): 'message' | 'events' | UnreadableResponse {
  const type = headerIn(headers, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  const coding = codingOf(headers);
  if (coding !== undefined)
    return { problem: `it compressed its answer with ${quoted(coding)}, although it was not asked to` };
  if (type === 'text/event-stream') return 'events';
  if (status === 202 || status === 204)
    return { problem: `it answered HTTP ${status}, and with nothing, to a request` };
  if (type === undefined || type === 'application/json') return 'message';
  return { problem: `its answer is neither JSON nor a stream of events but ${quoted(type)}` };
}

const quoted = (text: string) => printable(text).slice(0, limits.noiseQuoteChars);

/** How the body is compressed, which no request asks for; `undefined` for a plain one. */
export function codingOf(headers: ResponseHeaders): string | undefined {
  const codings = [headers['content-encoding'] ?? []].flat().join().split(',');
  return codings.map((each) => each.trim().toLowerCase()).find((each) => each !== '' && each !== 'identity');
}

export interface ResponseListener {
  onValue(value: unknown): void;
  /** Called with text that stands where a message belongs. */
  onNoise(text: string): void;
  onOversized(id: MessageId | undefined): void;
  /** Called with an event of another type than `message`. */
  onOther?(type: string, data: string): void;
}

/** Reads the bytes after the head. */
export interface ResponseBody {
  /** `false`: the rest is not needed, and the exchange can be aborted. */
  push(chunk: Buffer): boolean;
  /** The body is complete. Not called for a response that broke off. */
  end(): void;
  /** While a long message is parsed: resolves when all that has arrived was delivered. */
  whenIdle(): Promise<void> | undefined;
  /** Delivers nothing any more. */
  stop(): void;
}

/** One JSON value. A body over the limit is reported as the oversized answer to the request `id`. */
export class MessageBody implements ResponseBody {
  readonly #bytes = new Pieces();
  readonly #maxBytes: number;
  readonly #id: MessageId | undefined;
  readonly #listener: ResponseListener;
  readonly #queue = new MessageQueue();

  constructor(maxBytes: number, id: MessageId | undefined, listener: ResponseListener) {
    this.#maxBytes = maxBytes;
    this.#id = id;
    this.#listener = listener;
  }

  push(chunk: Buffer): boolean {
    this.#bytes.push(chunk);
    if (this.#bytes.bytes <= this.#maxBytes) return true;
    this.#listener.onOversized(this.#id);
    return false;
  }

  end(): void {
    const bytes = this.#bytes.take();
    this.#queue.parse(bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? bytes.subarray(3) : bytes, this.#deliver);
  }

  whenIdle(): Promise<void> | undefined {
    return this.#queue.whenIdle();
  }

  stop(): void {
    this.#queue.stop();
  }

  readonly #deliver = (parsed: ParsedJson, text: string): void => {
    if (parsed.ok) this.#listener.onValue(parsed.value);
    else this.#listener.onNoise(text);
  };
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

export class EventBody implements ResponseBody {
  readonly reader: EventStreamReader;
  readonly #queue = new MessageQueue();

  constructor(maxBytes: number, listener: ResponseListener) {
    const deliver = (parsed: ParsedJson, text: string) => {
      if (parsed.ok) listener.onValue(parsed.value);
      else listener.onNoise(text);
    };
    this.reader = new EventStreamReader(maxBytes, {
      onOversized: (id) => this.#queue.run(() => listener.onOversized(id)),
      onEvent: (type, data) => {
        if (data === '') return;
        if (type === '' || type === 'message') this.#queue.parse(data, deliver);
        else this.#queue.run(() => listener.onOther?.(type, data));
      },
    });
  }

  push(chunk: Buffer): boolean {
    this.reader.push(chunk);
    return true;
  }

  end(): void {
    this.reader.end();
  }

  whenIdle(): Promise<void> | undefined {
    return this.#queue.whenIdle();
  }

  stop(): void {
    this.#queue.stop();
  }
}

/** The first bytes of a refusal, which a failure quotes; also usable when the response broke off. A compressed one is not read. */
export class QuotedBody implements ResponseBody {
  readonly #bytes = new Pieces();
  readonly #isPlain: boolean;
  /** Whether the body was read to its end. */
  isWhole = false;

  constructor(headers: ResponseHeaders) {
    this.#isPlain = codingOf(headers) === undefined;
  }

  push(chunk: Buffer): boolean {
    this.#bytes.push(chunk);
    return this.#bytes.bytes <= limits.refusalBytes;
  }

  end(): void {
    this.isWhole = this.#isPlain;
  }

  whenIdle(): undefined {
    return undefined;
  }

  stop(): void {
    // Delivers nothing by itself.
  }

  take(): string {
    return this.#isPlain ? this.#bytes.take().toString('utf8') : '';
  }
}
