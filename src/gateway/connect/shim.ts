// Owns `plexus connect` between its client's pipes and a gateway: passes messages on, both ways and one at a time, and finds the
// next gateway when one is lost. `client-memory.ts` decides what is said then, `join.ts` finds the gateway.

import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import { isObject, type JsonObject, parseJson } from '../../kernel/json.ts';
import { limits } from '../../model/limits.ts';
import type { MessageId } from '../../model/server.ts';
import { LineReader, type ReadLine } from '../../serving/line-reader.ts';
import { ClientMemory } from './client-memory.ts';

export interface ShimOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Opens a link to a gateway, which it may have to start. */
  readonly join: () => Promise<Socket>;
  readonly clock?: Clock;
}

/** A gateway that is lost so often in so short a time would be lost again. */
const LOSSES = { most: 5, withinMs: 10_000 };
/** The longest line of a gateway: longer than any answer that it passes on. */
const ANSWER_BYTES = 512 * 1024 * 1024;

export class Shim {
  readonly #options: ShimOptions;
  readonly #clock: Clock;
  readonly #memory: ClientMemory;
  #link: Promise<Socket>;
  /** The line of the client that waits for a gateway. */
  #held: string | undefined;
  #losses: number[] = [];
  #hasEnded = false;
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
    this.#link = options.join().then((socket) => this.#use(socket));
    // Told to the client with its first message.
    this.#link.catch(ignoreLost);
  }

  /** Resolves when the client has ended and has got every answer. Rejects when no gateway can be had: then `giveUp` tells the client. */
  async run(): Promise<void> {
    const { output } = this.#options;
    const ended = new Promise<void>((resolve, reject) => {
      this.#finish = resolve;
      this.#fail = reject;
    });
    // A client that reads no more is gone.
    output.on('error', () => this.#finish());
    void this.#read().catch((error) => this.#fail(error));
    try {
      await ended;
    } finally {
      this.#hasEnded = true;
      void this.#link.then((socket) => socket.destroySoon(), ignoreLost);
    }
  }

  /** Answers everything that waits, when the shim has failed. */
  giveUp(message: string): void {
    this.#pass(this.#held ?? '[]', (each, text) => this.#memory.fromClient(each, text));
    for (const answer of this.#memory.giveUp({ code: INTERNAL, message })) this.#toClient(JSON.stringify(answer));
  }

  async #read(): Promise<void> {
    const reader = new LineReader(limits.serving.messageBytes);
    for await (const chunk of this.#options.input) for (const line of reader.push(chunk)) await this.#fromClient(line);
    for (const line of reader.end()) await this.#fromClient(line);
    await this.#link;
    this.#hasEnded = true;
    this.#clock.after(limits.served.drainMs, this.#finish, 'background');
    this.#finishIfAnswered();
  }

  /** The gateway takes the end of a link for the end of its client, and cancels what still runs. */
  #finishIfAnswered(): void {
    if (this.#hasEnded && !this.#memory.awaitsAnswer) this.#finish();
  }

  async #fromClient(line: ReadLine): Promise<void> {
    if (line.kind === 'too-long') {
      const error = { code: INVALID_REQUEST, message: 'Invalid request: the message is too large' };
      this.#toClient(JSON.stringify({ jsonrpc: '2.0', id: line.id, error }));
      return;
    }
    this.#held = line.text;
    for (;;) {
      const link = this.#link;
      const socket = await link;
      // The gateway was lost while this line waited: it goes to the next one.
      if (socket.destroyed) await lossIsSeen();
      if (link !== this.#link) continue;
      this.#held = undefined;
      const text = this.#pass(line.text, (message, text) => this.#memory.fromClient(message, text));
      if (text !== undefined && !socket.write(`${text}\n`)) await whenWritable(socket);
      return;
    }
  }

  /** A batch of the oldest revision is remembered message by message, and stays one line. */
  #pass(text: string, through: (message: JsonObject, text: string) => string | undefined): string | undefined {
    const parsed = parseJson(text);
    if (!parsed.ok) return text;
    if (isObject(parsed.value)) return through(parsed.value, text);
    if (!Array.isArray(parsed.value)) return text;
    const kept = parsed.value.filter(isObject).map((each) => through(each, JSON.stringify(each)));
    const known = kept.filter((each) => each !== undefined);
    return known.length === parsed.value.length ? text : known.length === 0 ? undefined : `[${known.join(',')}]`;
  }

  #use(socket: Socket): Socket {
    const reader = new LineReader(ANSWER_BYTES);
    socket.on('data', (chunk: Buffer) => {
      for (const line of reader.push(chunk)) {
        const text =
          line.kind === 'line'
            ? this.#pass(line.text, (each, text) => this.#memory.fromGateway(each, text))
            : undefined;
        if (text !== undefined && !this.#toClient(text)) this.#holdBack(socket);
      }
      this.#finishIfAnswered();
    });
    // An error is followed by the close.
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.destroy());
    socket.on('close', () => this.#lost());
    socket.resume();
    return socket;
  }

  /** The gateway waits while the client reads slowly. */
  #holdBack(socket: Socket): void {
    socket.pause();
    this.#options.output.once('drain', () => socket.resume());
  }

  #toClient(text: string): boolean {
    return this.#options.output.write(`${text}\n`);
  }

  #lost(): void {
    const { toClient, toGateway } = this.#memory.lost();
    for (const message of toClient) this.#toClient(JSON.stringify(message));
    if (this.#hasEnded) {
      this.#finish();
      return;
    }
    const now = this.#clock.now();
    this.#losses = [...this.#losses.filter((at) => now - at < LOSSES.withinMs), now];
    if (this.#losses.length > LOSSES.most) {
      this.#fail(new Error('the gateway ends again and again'));
      return;
    }
    this.#link = this.#options.join().then((socket) => {
      for (const text of toGateway) socket.write(`${text}\n`);
      return this.#use(socket);
    });
    this.#link.catch((error) => this.#fail(error));
  }
}

const INTERNAL = -32603;
const INVALID_REQUEST = -32600;

const outcomeUnknown = (id: MessageId, tool: string): JsonObject => ({
  jsonrpc: '2.0',
  id,
  error: {
    code: INTERNAL,
    message: `The gateway ended during the call of "${tool}"; whether it took effect is unknown. Check its effect before calling again.`,
    data: { code: 'OUTCOME_UNKNOWN', remedy: 'check-first' },
  },
});

const whenWritable = (socket: Socket) =>
  new Promise<void>((resolve) => {
    socket.once('drain', resolve).once('close', resolve);
  });

/** A socket tells of its end right after it. */
const lossIsSeen = () => new Promise<void>((resolve) => setImmediate(resolve));

/** The shim has told of the failure already. */
const ignoreLost = () => false;
