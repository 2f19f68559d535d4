// Owns a server that runs as a child process: messages over its stdin and stdout, and why it is gone when it is gone.
// Its life and its descendants' are left to `process-group.ts`, the cutting of bytes into messages to `framing.ts`.

import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { asRuntimeError, RuntimeError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { Channel, ChannelReport, Message, MessageId } from '../model/server.ts';
import { FrameReader } from './framing.ts';
import { Noise } from './noise.ts';
import { printable } from './printable.ts';
import { type Exit, openProcessGroup, type ProcessGroup } from './process-group.ts';
import { Ring } from './ring.ts';

export interface StdioOptions {
  readonly server: ServerName;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  /** Final and complete. */
  readonly env: Readonly<Record<string, string>>;
  readonly maxMessageBytes: number;
  readonly clock: Clock;
  /** Told each line on stdout that is no message. */
  readonly onNoise?: ((line: string) => void) | undefined;
  /** Told when the program runs, and everything that it writes on stderr. */
  readonly onStart?: ((pid: number) => void) | undefined;
  readonly onStderr?: ((chunk: Buffer) => void) | undefined;
  /** Takes secrets out of what is quoted of that. */
  readonly redact?: ((text: string) => string) | undefined;
}

export function openStdio(options: StdioOptions): StdioChannel {
  return new StdioChannel(options);
}

/** One for all sends: a promise of its own for each would cost more than the send. */
const HANDED_ON = Promise.resolve();

export class StdioChannel implements Channel {
  onmessage?: ((message: Message) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onoversized?: ((id: MessageId | undefined) => void) | undefined;

  readonly #options: StdioOptions;
  /** Until it is started: its environment weighs as much as all the rest of the channel. */
  #launch: StdioOptions | undefined;
  readonly #reader: FrameReader;
  readonly #stderr = new Ring(limits.stderrBytes);
  readonly #noise = new Noise();
  /** Why it is no longer listened to, although it writes. */
  #flood: string | undefined;
  #outputEndedFirst = false;
  /** It ended within a message. */
  #cutOff = false;
  /** What was sent in this tick; written as one, since every write is a system call. */
  #outgoing = '';
  #opening: Promise<void> | undefined;
  #group: ProcessGroup | undefined;
  #closing: Promise<void> | undefined;
  #closedWhileRunning = false;
  #cancelDrain: CancelTimer | undefined;
  #ended = false;

  constructor(options: StdioOptions) {
    this.#options = { ...options, env: {} };
    this.#launch = options;
    this.#reader = new FrameReader(options.maxMessageBytes, {
      onMessage: (message) => this.#tell(this.onmessage, message),
      onNoise: (line) => this.#takeNoise(line),
      onOversized: (id) => this.#tell(this.onoversized, id),
      onEndless: () => this.#giveUp('it writes one line without an end'),
      onCutOff: () => {
        this.#cutOff = true;
      },
    });
  }

  get pid(): number | undefined {
    return this.#group?.pid;
  }

  /** Resolves once the program runs, which is not to say that it answers. */
  async start(): Promise<void> {
    if (this.#closing === undefined) {
      if (this.#launch) this.#opening = openProcessGroup(this.#launch).then((group) => this.#attach(group));
      this.#launch = undefined;
      await this.#opening;
    }
    if (this.#closing !== undefined) throw this.#lost(this.report());
  }

  /** Never waits for the pipe: a server that does not read must not hold up its callers. */
  send(message: Message): Promise<void> {
    const stdin = this.#group?.child.stdin;
    if (!stdin?.writable || this.#closing !== undefined) return Promise.reject(this.#lost(this.report()));
    if (stdin.writableLength + this.#outgoing.length > limits.unreadInputBytes) {
      return Promise.reject(this.#lost({ ...this.report(), reason: 'it does not read its input' }));
    }
    try {
      const line = `${JSON.stringify(message)}\n`;
      if (this.#outgoing === '') process.nextTick(this.#flush);
      this.#outgoing += line;
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
    const reason = this.#reason();
    const { redact = (text) => text } = this.#options;
    // Before it is cut: half a secret is not recognized.
    const stderr = redact(printable(this.#stderr.text())).slice(-limits.stderrQuoteChars);
    if (stderr.trim() !== '') return { reason, stderr };
    return { reason: this.#noise.explain(reason) };
  }

  async #close(): Promise<void> {
    this.#closedWhileRunning = this.#group?.exit === undefined;
    // A start that failed has left nothing, and has told its own caller why.
    await Promise.allSettled([this.#opening]);
    this.#flush();
    await this.#group?.end();
    this.#finish();
  }

  #attach(group: ProcessGroup): void {
    this.#group = group;
    const { child } = group;
    this.#tell(this.#options.onStart, group.pid);
    child.stdout.on('data', (chunk: Buffer) => {
      // What is only read to let the process end is not looked at any more.
      if (this.#closing === undefined) this.#reader.push(chunk);
    });
    child.stdout.once('end', () => {
      // One that cannot answer any more is of no use. An exit that is under way looks the same from here.
      this.#outputEndedFirst = child.stdin.writable;
      void group.end();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr.push(chunk);
      this.#tell(this.#options.onStderr, chunk);
    });
    for (const stream of [child.stdout, child.stderr]) stream.on('error', (error) => this.onerror?.(error));
    child.once('exit', () => {
      // A descendant may hold the output open as long as it likes; by then the server's own last words are here.
      this.#cancelDrain = this.#options.clock.after(limits.drainMs, this.#finish);
    });
    child.once('close', this.#finish);
  }

  readonly #flush = (): void => {
    const lines = this.#outgoing;
    this.#outgoing = '';
    const stdin = this.#group?.child.stdin;
    if (lines !== '' && stdin?.writable) stdin.write(lines);
  };

  readonly #finish = (): void => {
    if (this.#ended || this.#group === undefined) return;
    this.#reader.end();
    this.#ended = true;
    this.#cancelDrain?.();
    this.#group.child.stdout.destroy();
    this.#group.child.stderr.destroy();
    this.#tell(this.onclose, undefined);
  };

  #takeNoise(line: string): void {
    if (this.#closing !== undefined) return;
    if (this.#noise.take(line) === 'flood') this.#giveUp('it floods its output with text that is not MCP');
    this.#tell(this.#options.onNoise, line);
  }

  /** A program that only writes would keep us reading for ever: it loses its output, and with it usually its life. */
  #giveUp(reason: string): void {
    if (this.#flood !== undefined) return;
    this.#flood = reason;
    this.#group?.child.stdout.destroy();
    void this.#group?.end();
  }

  /** What a listener throws is its own fault and must not end the reading. */
  #tell<Value>(listener: ((value: Value) => void) | undefined, value: Value): void {
    try {
      listener?.(value);
    } catch (error) {
      this.onerror?.(asRuntimeError(error));
    }
  }

  #reason(): string {
    if (this.#flood !== undefined) return this.#flood;
    if (this.#closedWhileRunning) return 'it was closed';
    if (this.#group === undefined) return 'it has not been started';
    const { exit, child } = this.#group;
    if (exit !== undefined && !exit.forced) return `${describeExit(exit)}${this.#cutOff ? ', within a message' : ''}`;
    if (this.#outputEndedFirst) return 'it closed its output';
    return exit === undefined && child.stdin.writable ? 'it has not answered' : 'it closed its input';
  }

  #lost(report: ChannelReport): RuntimeError {
    return new RuntimeError('CONNECTION_LOST', { server: this.#options.server, ...report });
  }
}

function describeExit({ code, signal, afterMs }: Exit): string {
  if (signal !== null) return `it was ended by ${signal}`;
  return `it exited with code ${code} after ${afterMs < 1_000 ? `${afterMs} ms` : `${Math.round(afterMs / 100) / 10} s`}`;
}
