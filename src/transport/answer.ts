// Owns the reading of an HTTP answer, by what its head announces: one message, a stream of them, a no, or nothing at all.

import { parseJson } from '../kernel/json.ts';
import { limits } from '../model/limits.ts';
import type { MessageId } from '../model/server.ts';
import { EventStreamReader } from './event-stream.ts';
import { type AnswerHeaders, headerIn } from './exchange.ts';
import { Pieces } from './pieces.ts';

/** Says what is wrong with an answer from which no message can be read. */
export interface Unreadable {
  readonly problem: string;
}

/** What a request may be answered with. */
export function kindOfAnswer(status: number, headers: AnswerHeaders): 'message' | 'events' | Unreadable {
  const type = headerIn(headers, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  const encoding = headerIn(headers, 'content-encoding') ?? 'identity';
  if (encoding !== 'identity') return { problem: `it packed its answer, unasked, with ${encoding}` };
  if (type === 'text/event-stream') return 'events';
  if (status === 202 || status === 204)
    return { problem: `it answered HTTP ${status}, and with nothing, to a request` };
  if (type === undefined || type === 'application/json') return 'message';
  return { problem: `its answer is neither JSON nor a stream of events but ${type}` };
}

export interface AnswerListener {
  onValue(value: unknown): void;
  /** Text where a message belongs. */
  onNoise(text: string): void;
  onOversized(id: MessageId | undefined): void;
  /** An event that carries no message. */
  onOther?(type: string, data: string): void;
}

/** Reads what comes after the head. `push` says whether there is any use in going on. */
export interface AnswerBody {
  push(chunk: Buffer): boolean;
  /** Only what has come to its end in good order is read to its end. */
  end(): void;
}

/** One value as JSON. Over the limit, the answer is that of the request it was given to. */
export class MessageBody implements AnswerBody {
  readonly #bytes = new Pieces();
  readonly #maxBytes: number;
  readonly #id: MessageId | undefined;
  readonly #listener: AnswerListener;

  constructor(maxBytes: number, id: MessageId | undefined, listener: AnswerListener) {
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
    const text = this.#bytes.take().toString('utf8');
    const parsed = parseJson(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
    if (parsed.ok) this.#listener.onValue(parsed.value);
    else this.#listener.onNoise(text);
  }
}

const BYTE_ORDER_MARK = 0xfeff;

export class EventBody implements AnswerBody {
  readonly reader: EventStreamReader;

  constructor(maxBytes: number, listener: AnswerListener) {
    this.reader = new EventStreamReader(maxBytes, {
      onOversized: (id) => listener.onOversized(id),
      onEvent(type, data) {
        if (data === '') return;
        const isMessage = type === '' || type === 'message';
        const parsed = isMessage ? parseJson(data) : undefined;
        if (parsed === undefined) listener.onOther?.(type, data);
        else if (parsed.ok) listener.onValue(parsed.value);
        else listener.onNoise(data);
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
}

/** The beginning of a text that is only there to be quoted; what of it came before a break counts as well. */
export class QuotedBody implements AnswerBody {
  readonly #bytes = new Pieces();

  push(chunk: Buffer): boolean {
    this.#bytes.push(chunk);
    return this.#bytes.bytes <= limits.refusalBytes;
  }

  end(): void {
    // Whoever quotes it takes it.
  }

  take(): string {
    return this.#bytes.take().toString('utf8');
  }
}
