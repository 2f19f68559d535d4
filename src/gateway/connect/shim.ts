// Owns `plexus connect` between its client's pipes and a gateway: passes messages on, both ways and one at a time, and finds the
// next gateway when one is lost. `client-memory.ts` decides what is said then, `join.ts` finds the gateway.

import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import { isObject, type JsonObject, parseJson } from '../../kernel/json.ts';
import type { MessageId } from '../../model/server.ts';
import { ClientMemory } from './client-memory.ts';
import { Lines } from './lines.ts';

export interface ShimOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Opens a link to a gateway, which it may have to start. */
  readonly join: () => Promise<Socket>;
  readonly clock?: Clock;
}

/** A gateway that is lost so often in so short a time would be lost again. */
const LOSSES = { most: 5, withinMs: 10_000 };
/** How long a client that has ended may still get answers. */
const DRAIN_MS = 10_000;
/** How many lines may wait for a gateway before the client has to. */
const MOST_WAITING = 64;

export class ClientShim {
  readonly #options: ShimOptions;
  readonly #clock: Clock;
  readonly #memory: ClientMemory;
  /** Absent while there is no gateway. */
  #link: Socket | undefined;
  /** Lines of the client that wait for a gateway, or for one that reads slowly. */
  readonly #waiting: string[] = [];
  #losses: number[] = [];
  /** The client says nothing more. */
  #hasEnded = false;
  #isOver = false;
  #fail: (error: unknown) => void = () => undefined;
  #finish: () => void = () => undefined;

  constructor(options: ShimOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#memory = new ClientMemory({
      replayPrefix: `plexus ${process.pid} `,
      outcomeUnknown,
      onRefused: () => this.#fail(new Error('The new gateway refuses this client.')),
    });
  }

  /** Resolves when the client has ended and has got every answer. Rejects when no gateway can be had: then `giveUp` tells the client. */
  async run(): Promise<void> {
    const ended = new Promise<void>((resolve, reject) => {
      this.#finish = () => {
        this.#isOver = true;
        resolve();
      };
      this.#fail = reject;
    });
    // The client is read once there is a gateway, or a failure to tell it of.
    void this.#join([]).finally(() => this.#read());
    try {
      await ended;
    } finally {
      this.#isOver = true;
      this.#link?.destroySoon();
    }
  }

  /** Answers everything that waits, when the shim has failed. */
  giveUp(message: string): void {
    for (const text of this.#waiting) this.#pass(text, this.#fromClient);
    for (const answer of this.#memory.giveUp({ code: INTERNAL, message })) this.#toClient(JSON.stringify(answer));
  }

  #read(): void {
    const { input, output } = this.#options;
    const reader = new Lines(() => this.#toClient(JSON.stringify(TOO_LARGE)));
    const take = (lines: readonly string[]) => {
      this.#waiting.push(...lines);
      this.#pump();
    };
    const end = () => {
      if (this.#hasEnded) return;
      this.#hasEnded = true;
      take(reader.end());
      if (!this.#isOver) this.#clock.after(DRAIN_MS, this.#finish, 'background');
    };
    input.on('data', (chunk: Buffer) => take(reader.push(chunk)));
    input.on('end', end).on('error', end);
    // A client that reads no more is gone.
    output.on('error', () => this.#finish());
  }

  /** Hands on what waits, as much as the gateway takes; the client waits meanwhile. */
  #pump(): void {
    const { input } = this.#options;
    const link = this.#link;
    let hasRoom = link !== undefined && !link.destroyed && !link.writableNeedDrain;
    while (hasRoom && this.#waiting.length > 0) {
      const text = this.#pass(this.#waiting.shift() as string, this.#fromClient);
      if (text !== undefined) hasRoom = (link as Socket).write(`${text}\n`);
    }
    if (this.#waiting.length > MOST_WAITING) input.pause();
    else if (input.isPaused()) input.resume();
    this.#finishIfAnswered();
  }

  /** The gateway takes the end of a link for the end of its client, and cancels what still runs. */
  #finishIfAnswered(): void {
    if (this.#hasEnded && this.#waiting.length === 0 && !this.#memory.awaitsAnswer) this.#finish();
  }

  readonly #fromClient = (message: JsonObject, text: string) => this.#memory.fromClient(message, text);
  readonly #fromGateway = (message: JsonObject, text: string) => this.#memory.fromGateway(message, text);

  /** A batch of the oldest revision is remembered message by message, and stays one line. */
  #pass(text: string, through: (message: JsonObject, text: string) => string | undefined): string | undefined {
    const parsed = parseJson(text);
    if (!parsed.ok) return text;
    if (isObject(parsed.value)) return through(parsed.value, text);
    if (!Array.isArray(parsed.value)) return text;
    const kept = parsed.value.filter(isObject).map((each) => through(each, JSON.stringify(each)));
    const known = kept.filter((each) => each !== undefined);
    if (known.length === parsed.value.length) return text;
    return known.length === 0 ? undefined : `[${known.join(',')}]`;
  }

  /** The gateway gets `first` before anything else. */
  #join(first: readonly string[]): Promise<void> {
    const use = (link: Socket) => {
      if (this.#isOver) return void link.destroy();
      for (const text of first) link.write(`${text}\n`);
      this.#use(link);
      this.#pump();
    };
    return this.#options.join().then(use, (error) => this.#failWhenAsked(error));
  }

  /** A client that has asked nothing yet is told with its first message. */
  #failWhenAsked(error: unknown): void {
    if (this.#waiting.length > 0 || this.#hasEnded || this.#losses.length > 0) this.#fail(error);
    else this.#options.input.once('data', () => this.#fail(error)).resume();
  }

  #use(link: Socket): void {
    const reader = new Lines(() => link.destroy());
    this.#link = link;
    link.on('data', (chunk: Buffer) => {
      for (const line of reader.push(chunk)) {
        const text = this.#pass(line, this.#fromGateway);
        if (text !== undefined && !this.#toClient(text)) this.#holdBack(link);
      }
      this.#finishIfAnswered();
    });
    link.on('drain', () => this.#pump());
    // An error is followed by the close.
    link.on('error', () => link.destroy());
    link.on('end', () => link.destroy());
    link.on('close', () => this.#lost());
    link.resume();
  }

  /** The gateway waits while the client reads slowly. */
  #holdBack(link: Socket): void {
    if (link.isPaused()) return;
    link.pause();
    this.#options.output.once('drain', () => link.resume());
  }

  #toClient(text: string): boolean {
    return this.#options.output.write(`${text}\n`);
  }

  #lost(): void {
    this.#link = undefined;
    if (this.#isOver) return;
    const { toClient, toGateway } = this.#memory.lost();
    for (const message of toClient) this.#toClient(JSON.stringify(message));
    if (this.#hasEnded) {
      this.#finish();
      return;
    }
    const now = this.#clock.now();
    this.#losses = [...this.#losses.filter((at) => now - at < LOSSES.withinMs), now];
    if (this.#losses.length > LOSSES.most) this.#fail(new Error('The gateway ends again and again.'));
    else void this.#join(toGateway);
  }
}

const INTERNAL = -32603;
/** Without an id: it is somewhere in what was not kept. */
const TOO_LARGE: JsonObject = {
  ...{ jsonrpc: '2.0', id: null },
  error: { code: -32600, message: 'Invalid request: the message is too large' },
};

const outcomeUnknown = (id: MessageId, tool: string): JsonObject => ({
  jsonrpc: '2.0',
  id,
  error: {
    code: INTERNAL,
    message: `The gateway ended during the call of "${tool}"; whether it took effect is unknown. Check its effect before calling again.`,
    data: { code: 'OUTCOME_UNKNOWN', remedy: 'check-first' },
  },
});
