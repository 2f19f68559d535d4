// Owns the other side of a fault: one faulty server, over any transport, which can be killed, frozen and started again.
// Knows no test framework: the soak uses it too.

import { type ChildProcess, spawn } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ServerConfig } from '../../src/index.ts';
import { freePort } from '../free-port.ts';
import { faulty } from '../servers/faulty.ts';

export const transports = ['stdio', 'http', 'sse', 'ws'] as const;
export type Transport = (typeof transports)[number];

/** As `faulty/mcp.mjs` writes it. */
const STRUCK = 'struck';

export interface PeerOptions {
  readonly name: string;
  readonly transport: Transport;
  /** For what it writes down. */
  readonly folder: string;
  readonly flags?: readonly string[];
}

export class Peer {
  readonly options: PeerOptions;
  #child: ChildProcess | undefined;
  #address: { readonly url: string; readonly port: number } | undefined;

  constructor(options: PeerOptions) {
    this.options = options;
  }

  /** How a runtime is told of it. A network server has to have been started. */
  get entry(): ServerConfig {
    if (this.options.transport === 'stdio') return this.#program();
    return { url: this.#address?.url ?? '', transport: this.options.transport };
  }

  /** Of a network server: a stdio one is the runtime's child, and its status tells. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** At the same address as before, with the same flags or others. A stdio server is started by the runtime. */
  async start(flags = this.options.flags): Promise<void> {
    if (this.options.transport === 'stdio') return;
    const port = ['--port', String(this.#address?.port ?? (await freePort()))];
    const stderr = openSync(this.#file('stderr'), 'a');
    const { command, args } = this.#program(flags);
    const child = spawn(command, [...args, ...port], { stdio: ['pipe', 'pipe', stderr] });
    closeSync(stderr);
    this.#child = child;
    if (!child.stdin || !child.stdout) throw new Error('it was started without pipes');
    const { stdout } = child;
    child.stdin.on('error', () => child.kill('SIGKILL'));
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({ input: stdout }).once('line', resolve);
      child.once('exit', () => reject(new Error(`it did not listen: ${linesOf(this.#file('stderr')).join('\n')}`)));
    });
    this.#address = JSON.parse(line);
  }

  /** A network server that has ended by itself or was killed. */
  get isGone(): boolean {
    return this.#child !== undefined && (this.#child.exitCode !== null || this.#child.signalCode !== null);
  }

  /** Resolves when it is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.isGone) return;
    await new Promise((resolve) => {
      child.once('exit', resolve);
      child.kill('SIGKILL');
    });
  }

  async restart(flags?: readonly string[]): Promise<void> {
    await this.kill();
    await this.start(flags);
  }

  /** One fault for the next request of that stage, with the flags it needs; goes off once. */
  plant(fault: string, at: string, flags: Readonly<Record<string, string>> = {}): void {
    // In one step: the server may look at any moment.
    writeFileSync(this.#file('fuse'), JSON.stringify({ fault, at, ...flags }));
    renameSync(this.#file('fuse'), this.#file('bomb'));
  }

  /** No fault with `--times` strikes any more, in this life or the next. */
  heal(): void {
    appendFileSync(this.#file('tally'), '.'.repeat(10_000));
  }

  defuse(): void {
    rmSync(this.#file('bomb'), { force: true });
  }

  /** Every effect that `write` and `put` had, in order, over all its lives. */
  effects(): string[] {
    return linesOf(this.#file('log'));
  }

  /** Everything that arrived, over all its lives: `open`, or a method and what it was asked for. */
  journal(): string[] {
    return linesOf(this.#file('journal')).filter((line) => line !== STRUCK);
  }

  /** What arrived since the first fault struck, or nothing if none has. */
  sinceStrike(): string[] | undefined {
    const lines = linesOf(this.#file('journal'));
    const at = lines.indexOf(STRUCK);
    return at < 0 ? undefined : lines.slice(at + 1);
  }

  pids(): number[] {
    return linesOf(this.#file('pid-file')).map(Number);
  }

  #program(flags = this.options.flags ?? []): { command: string; args: string[] } {
    const files = ['log', 'journal', 'tally', 'bomb', 'pid-file'].flatMap((what) => [`--${what}`, this.#file(what)]);
    return faulty('--transport', this.options.transport, ...files, ...flags);
  }

  #file(what: string): string {
    return join(this.options.folder, `${this.options.name}.${what}`);
  }
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}
