// Owns running the command line in folders of its own: a workspace, a home, and nothing of the developer's machine.
// Most checks run `runCli` in this process; `spawn` starts the built program, for what only a process can show.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { CliIo } from '../../src/cli/io.ts';
import { runCli } from '../../src/cli/main.ts';
import { removeFolder } from '../remove-folder.ts';

export const program = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));

/** How a run ended, in this process or in its own. */
export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  /** Added to a PATH and a HOME. */
  readonly env?: Readonly<Record<string, string>>;
  /** Counts from the workspace, which it is by default. */
  readonly cwd?: string;
  /** All of standard input; empty by default. */
  readonly input?: string | Uint8Array;
}

export interface SpawnOptions extends RunOptions {
  /** The test goes on writing to `child.stdin`, or never ends it. */
  readonly keepsStdinOpen?: boolean;
}

export interface Started {
  readonly child: ChildProcessWithoutNullStreams;
  /** What it has printed so far. */
  readonly seen: { readonly out: string; readonly err: string };
  readonly done: Promise<Ran>;
}

export class Sandbox {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'plexus-sandbox-')));
  readonly home = join(this.folder, 'home');
  readonly workspace: string;

  /** `.`: the workspace is the folder itself, with the home folder in it. */
  constructor(workspace: 'workspace' | '.' = 'workspace') {
    this.workspace = join(this.folder, workspace);
    mkdirSync(this.home);
    mkdirSync(this.workspace, { recursive: true });
  }

  /** A path that begins with `~` lies in the home folder, any other in the workspace. */
  path(file: string): string {
    return file.startsWith('~/') ? join(this.home, file.slice(2)) : join(this.workspace, file);
  }

  write(file: string, content: unknown): string {
    const path = this.path(file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
    return path;
  }

  /** In this process, with its own streams, folders and variables. */
  async run(args: readonly string[], { input = '', ...options }: RunOptions = {}): Promise<Ran> {
    const [stdout, stderr] = [new Captured(), new Captured()];
    const io: CliIo = {
      ...this.#place(options),
      home: this.home,
      stdin: new PassThrough().end(input),
      stdout,
      stderr,
      isTerminal: () => false,
      columns: () => undefined,
      printNow: (bytes) => bytes,
      onInterrupt: () => undefined,
      interrupt: unexpected,
      exit: unexpected,
    };
    const code = await runCli(args, io);
    return { code, out: stdout.text, err: stderr.text };
  }

  /** The built program, in a process of its own. */
  spawn(args: readonly string[], { input = '', keepsStdinOpen = false, ...options }: SpawnOptions = {}): Started {
    const child = spawn(process.execPath, [program, ...args], this.#place(options));
    // It may end before it has read all of its input: how it ended says enough.
    child.stdin.on('error', () => undefined);
    if (keepsStdinOpen) child.stdin.write(input);
    else child.stdin.end(input);
    const seen = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      seen.out += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      seen.err += chunk;
    });
    const done = new Promise<Ran>((resolve) => child.on('close', (code) => resolve({ code, ...seen })));
    return { child, seen, done };
  }

  readonly plexus = (...args: readonly string[]) => this.run(args);

  /** One document on stdout, and nothing else. */
  async json(...args: readonly string[]) {
    return JSON.parse((await this.run([...args, '--json'])).out);
  }

  remove(): Promise<void> {
    return removeFolder(this.folder);
  }

  #place({ env, cwd = '.' }: Omit<RunOptions, 'input'>) {
    return { cwd: join(this.workspace, cwd), env: { PATH: process.env['PATH'] ?? '', HOME: this.home, ...env } };
  }
}

/** Keeps what is written to it. */
class Captured extends Writable {
  readonly #chunks: Uint8Array[] = [];

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }
}

function unexpected(): never {
  throw new Error('Only a real process is interrupted or ended at once; start one with spawn().');
}
