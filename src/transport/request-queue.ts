// Owns all messages of one channel that are on their way: whom they belong to, which have been silent for too long, and
// which are still to be told of when the channel ends.

import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { asRuntimeError, type RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Channel, Message, MessageId, RequestFailure } from '../model/server.ts';
import type { AnswerHeaders, HttpClient } from './exchange.ts';
import { type OutgoingRequest, Post, type PostOffice } from './post.ts';

/** What the channel itself wants to know. */
export interface PostboxOwner extends Pick<Channel, 'onmessage' | 'onerror' | 'onfailed' | 'onoversized' | 'onsign'> {
  /** The server has said yes to this one. */
  accepted?(letter: OutgoingRequest, headers: AnswerHeaders): void;
  /** Comes before the message is handed on. */
  received(message: Message): void;
  /** Comes after whoever waits was told. */
  refused(letter: OutgoingRequest, failure: RequestFailure): void;
  unreachable(cause: RuntimeError): void;
  /** Nobody waits for an answer any more. */
  quiet?(): void;
}

export interface PostboxOptions {
  readonly client: HttpClient;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  readonly hasToken: boolean;
  readonly hide: (text: string) => string;
  readonly onNoise: ((text: string) => void) | undefined;
}

export class RequestQueue implements PostOffice {
  readonly client: HttpClient;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  readonly hasToken: boolean;
  readonly hide: PostboxOptions['hide'];
  readonly #owner: PostboxOwner;
  readonly #onNoise: PostboxOptions['onNoise'];
  /** Everything for which something is open. */
  readonly #posts = new Set<Post>();
  readonly #waiting = new Map<MessageId, Post>();
  /** Answered, with a stream that the server has not ended yet; oldest first. */
  readonly #lingering = new Set<Post>();
  #cancelWatch: CancelTimer | undefined;

  constructor(owner: PostboxOwner, options: PostboxOptions) {
    this.#owner = owner;
    this.client = options.client;
    this.clock = options.clock;
    this.maxMessageBytes = options.maxMessageBytes;
    this.hasToken = options.hasToken;
    this.hide = options.hide;
    this.#onNoise = options.onNoise;
  }

  /** How many wait for an answer. */
  get waiting(): number {
    return this.#waiting.size;
  }

  send(letter: OutgoingRequest): void {
    const post = new Post(this, letter);
    this.#posts.add(post);
    if (letter.id !== undefined) this.#waiting.set(letter.id, post);
    this.#cancelWatch ??= this.clock.after(limits.httpIdleMs, this.#watch, 'background');
    post.begin();
  }

  abandon(id: MessageId): void {
    const post = this.#waiting.get(id);
    if (post === undefined) return;
    post.abort();
    this.#forget(post);
  }

  /** The channel is over. Who certainly was not heard is told so; what became of the others nobody knows. */
  end(cause: RuntimeError): void {
    const untouched = Array.from(this.#posts).filter((post) => post.isUntouched);
    this.clear();
    for (const { letter } of untouched) this.#tellFailed(letter, { sent: false, cause });
  }

  /** Without a word to anyone. */
  clear(): void {
    for (const post of this.#posts) post.abort();
    this.#posts.clear();
    this.#waiting.clear();
    this.#lingering.clear();
    this.#cancelWatch?.();
    this.#cancelWatch = undefined;
  }

  accepted(post: Post, headers: AnswerHeaders): void {
    this.#owner.accepted?.(post.letter, headers);
  }

  deliver(message: Message): void {
    this.#owner.received(message);
    this.#tell(this.#owner.onmessage, message);
  }

  oversized(id: MessageId | undefined): void {
    this.#tell(this.#owner.onoversized, id);
  }

  noise(text: string): void {
    this.#tell(this.#onNoise, this.hide(text.slice(0, limits.noiseLineChars)));
  }

  sign(id: MessageId): void {
    this.#tell(this.#owner.onsign, id);
  }

  unreachable(cause: RuntimeError): void {
    this.#owner.unreachable(cause);
  }

  answered(post: Post): void {
    this.#waiting.delete(post.letter.id as MessageId);
    this.#lingering.add(post);
    if (this.#waiting.size === 0) this.#owner.quiet?.();
    const [oldest] = this.#lingering;
    if (this.#lingering.size <= limits.answeredStreams || oldest === undefined) return;
    oldest.abort();
    this.#forget(oldest);
  }

  failed(post: Post, failure: RequestFailure): void {
    this.#forget(post);
    this.#tellFailed(post.letter, failure);
    this.#owner.refused(post.letter, failure);
    if (this.#waiting.size === 0) this.#owner.quiet?.();
  }

  done(post: Post): void {
    this.#forget(post);
  }

  #forget(post: Post): void {
    this.#posts.delete(post);
    this.#lingering.delete(post);
    const { id } = post.letter;
    if (id !== undefined && this.#waiting.get(id) === post) this.#waiting.delete(id);
  }

  #tellFailed({ id }: OutgoingRequest, failure: RequestFailure): void {
    if (id === undefined) this.#owner.onerror?.(failure.cause);
    else this.#tell((told: RequestFailure) => this.#owner.onfailed?.(id, told), failure);
  }

  /** One timer for all: it comes when the most silent one would be due, and most have long been answered by then. */
  readonly #watch = (): void => {
    this.#cancelWatch = undefined;
    const now = this.clock.now();
    let soonest = Number.POSITIVE_INFINITY;
    for (const post of Array.from(this.#posts)) {
      const due = post.heardAt + limits.httpIdleMs;
      if (due <= now) post.giveUp();
      else soonest = Math.min(soonest, due);
    }
    if (this.#posts.size === 0) return;
    const nextMs = Math.min(soonest - now, limits.httpIdleMs);
    this.#cancelWatch ??= this.clock.after(nextMs, this.#watch, 'background');
  };

  /** What a listener throws is its own fault and must not end the reading. */
  #tell<Value>(listener: ((value: Value) => void) | undefined, value: Value): void {
    try {
      listener?.(value);
    } catch (error) {
      this.#owner.onerror?.(asRuntimeError(error));
    }
  }
}
