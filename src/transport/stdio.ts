// Owns the channel to a server that runs as a child process: messages over its stdin and stdout, and the reason for its end.
// `process-group.ts` starts and ends the process with its descendants, `framing.ts` cuts its output into messages.

import type { CancelTimer, Clock } from '../kernel/clock.ts';
import { limits } from '../model/limits.ts';
import type { ServerName } from '../model/names.ts';
import type { ChannelReport, Message } from '../model/server.ts';
import { ChannelBase } from './channel-base.ts';
import { FrameReader } from './framing.ts';
import { Noise } from './noise.ts';
import { printable } from './printable.ts';
import { openProcessGroup, type ProcessExit, type ProcessGroup } from './process-group.ts';
import { Ring } from './ring.ts';

export interface StdioOptions {
  readonly server: ServerName;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  /** The complete environment of the process; nothing of the host's is added. */
  readonly env: Readonly<Record<string, string>>;
  readonly maxMessageBytes: number;
  readonly clock: Clock;
  /** Called with each line on stdout that is not a message. */
  readonly onNoise?: ((line: string) => void) | undefined;
  /** Called once the program runs. */
  readonly onStart?: ((pid: number) => void) | undefined;
  readonly onStderr?: ((chunk: Buffer) => void) | undefined;
  /** The program installs its server before that can answer. */
  readonly installer?: Installer | undefined;
  /** Removes secrets from the stderr text that a report quotes. */
  readonly redact?: ((text: string) => string) | undefined;
}

export interface Installer {
  /** As a person types it, such as `npx`. */
  readonly name: string;
  /** Asked when the channel closes before the server has answered: whether the installation goes on without its host. */
  readonly goesOn: () => boolean;
  /** How long it may go on then. */
  readonly limitMs: number;
}

/** So much is written before the tick ends: the server begins with it while the host still makes its other calls. */
const FULL_WRITE_CHARS = 2 * 1024;

export function openStdio(options: StdioOptions): StdioChannel {
  return new StdioChannel(options);
}

export class StdioChannel extends ChannelBase {
  readonly #options: StdioOptions;
  /** Dropped at the start: the environment in it takes as much memory as the rest of the channel. */
  #launch: StdioOptions | undefined;
  readonly #reader: FrameReader;
  readonly #stderr = new Ring(limits.stderrBytes);
  readonly #noise = new Noise();
  /** Why the channel stopped reading a server that still writes. */
  #flood: string | undefined;
  #outputEndedFirst = false;
  /** The reader was told that no more will come. */
  #hasEnded = false;
  /** The output ended in the middle of a message. */
  #cutOff = false;
  /** Messages that are written together, since every write is a system call. */
  #outgoing = '';
  /** Something was written in this turn of the event loop: what follows in it, such as calls of other connections, waits for its end. */
  #hasWritten = false;
  #group: ProcessGroup | undefined;
  #closedWhileRunning = false;
  /** Until its first message a server may be about to be installed. */
  #isInstalling: boolean;
  #cancelDrain: CancelTimer | undefined;

  constructor(options: StdioOptions) {
    super(options.server);
    this.#options = { ...options, env: {} };
    this.#launch = options;
    this.#isInstalling = options.installer !== undefined;
    this.#reader = new FrameReader(options.maxMessageBytes, {
      onMessage: (message) => {
        this.#endInstallation();
        this.tell(this.onmessage, message);
      },
      onNoise: (line) => this.#takeNoise(line),
      onOversized: (id) => this.tell(this.onoversized, id),
      onEndless: () => this.#giveUp('it writes one line without an end'),
      onCutOff: () => {
        this.#cutOff = true;
      },
    });
  }

  get pid(): number | undefined {
    return this.#group?.pid;
  }

  report(): ChannelReport {
    const reason = this.#reason();
    const { redact = (text) => text } = this.#options;
    // Redact before cutting: half a secret would not be recognized.
    const stderr = redact(printable(this.#stderr.text())).slice(-limits.stderrQuoteChars);
    const installing = this.#isInstalling && this.#group?.exit === undefined && { isInstalling: true as const };
    if (stderr.trim() !== '') return { reason, stderr, ...installing };
    return { reason: this.#noise.explain(reason), ...installing };
  }

  protected open(): Promise<void> {
    const launch = this.#launch as StdioOptions;
    this.#launch = undefined;
    const installLimitMs = launch.installer?.limitMs;
    return openProcessGroup({ ...launch, installLimitMs }).then((group) => this.#attach(group));
  }

  protected canSend(): boolean {
    return this.#group?.child.stdin.writable === true;
  }

  protected handOn(message: Message): undefined {
    const unread = (this.#group?.child.stdin.writableLength ?? 0) + this.#outgoing.length;
    if (unread > limits.unreadInputBytes) throw this.lost('it does not read its input');
    const line = `${JSON.stringify(message)}\n`;
    if (this.#outgoing === '' && !this.#hasWritten) process.nextTick(this.#writeFirst);
    this.#outgoing += line;
    if (this.#outgoing.length > FULL_WRITE_CHARS) this.#flush();
  }

  protected interrupt(): void {
    this.#closedWhileRunning = this.#group?.exit === undefined;
  }

  protected async shutDown(): Promise<void> {
    this.#flush();
    const isLeft = this.#isInstalling && this.#options.installer?.goesOn() === true && this.#group?.leave();
    if (!isLeft) await this.#group?.end();
    this.#end();
  }

  #endInstallation(): void {
    if (!this.#isInstalling) return;
    this.#isInstalling = false;
    this.#group?.installed();
  }

  #attach(group: ProcessGroup): void {
    this.#group = group;
    const { child } = group;
    this.tell(this.#options.onStart, group.pid);
    child.stdout.on('data', (chunk: Buffer) => {
      // While closing, output is read only so that the process can end; its content is ignored.
      if (this.isClosing) return;
      this.#reader.push(chunk);
      const idle = this.#reader.whenIdle();
      if (idle !== undefined) this.#pauseUntil(idle);
    });
    // What comes only once is listened to with `on`: `once` keeps 200 bytes more for each.
    child.stdout.on('end', () => {
      // A server without output cannot answer any more. A server that is exiting looks the same from here.
      this.#outputEndedFirst = child.stdin.writable;
      void group.end();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr.push(chunk);
      this.tell(this.#options.onStderr, chunk);
    });
    const failed = (error: Error) => this.onerror?.(error);
    for (const stream of [child.stdout, child.stderr]) stream.on('error', failed);
    child.on('exit', () => {
      // A descendant may hold the output open for ever; after this pause the server's own last output has arrived.
      this.#cancelDrain = this.#options.clock.after(limits.drainMs, this.#drained);
    });
    child.on('close', this.#end);
  }

  /** A server that writes faster than its long messages are parsed must not fill the memory. */
  #pauseUntil(idle: Promise<void>): void {
    const stdout = this.#group?.child.stdout;
    stdout?.pause();
    void idle.then(() => stdout?.resume());
  }

  /** Output that was held back by a long message has not been read yet: then the pause begins anew. */
  readonly #drained = (): void => {
    const idle = this.#reader.whenIdle();
    if (idle === undefined || this.isClosing) this.#end();
    else void idle.then(() => (this.#cancelDrain = this.#options.clock.after(limits.drainMs, this.#drained)));
  };

  /** The first messages of a turn are not held up: the server begins with them meanwhile. */
  readonly #writeFirst = (): void => {
    this.#hasWritten = true;
    setImmediate(this.#endTurn);
    this.#flush();
  };

  readonly #endTurn = (): void => {
    this.#hasWritten = false;
    this.#flush();
  };

  readonly #flush = (): void => {
    const lines = this.#outgoing;
    this.#outgoing = '';
    const stdin = this.#group?.child.stdin;
    if (lines !== '' && stdin?.writable) stdin.write(lines);
  };

  readonly #end = (): void => {
    if (this.hasClosed || this.#group === undefined) return;
    if (!this.#hasEnded) this.#reader.end();
    this.#hasEnded = true;
    const idle = this.isClosing ? undefined : this.#reader.whenIdle();
    if (idle !== undefined) {
      void idle.then(this.#end);
      return;
    }
    this.#reader.stop();
    this.#cancelDrain?.();
    this.#group.child.stdout.destroy();
    this.#group.child.stderr.destroy();
    this.finish();
  };

  #takeNoise(line: string): void {
    if (this.isClosing) return;
    if (this.#noise.take(line) === 'flood') this.#giveUp('it floods its output with text that is not MCP');
    this.tell(this.#options.onNoise, line);
  }

  /** Reading a program that writes without end would never stop, so its output is closed and the process ended. */
  #giveUp(reason: string): void {
    if (this.#flood !== undefined) return;
    this.#flood = reason;
    this.#group?.child.stdout.destroy();
    void this.#group?.end();
  }

  #reason(): string {
    if (this.#flood !== undefined) return this.#flood;
    if (this.#closedWhileRunning) return 'it was closed';
    if (this.#group === undefined) return 'it has not been started';
    const { exit, child } = this.#group;
    if (exit !== undefined && !exit.forced) return `${describeExit(exit)}${this.#cutOff ? ', within a message' : ''}`;
    if (this.#outputEndedFirst) return 'it closed its output';
    if (exit !== undefined || !child.stdin.writable) return 'it closed its input';
    return this.#isInstalling ? `${this.#options.installer?.name} is still installing it` : 'it has not answered';
  }
}

function describeExit({ code, signal, afterMs }: ProcessExit): string {
  if (signal !== null) return `it was ended by ${signal}`;
  return `it exited with code ${code} after ${afterMs < 1_000 ? `${afterMs} ms` : `${Math.round(afterMs / 100) / 10} s`}`;
}
