// Owns running the built command line in a folder of its own: a workspace, a home, and nothing of the machine's.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export class Sandbox {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'plexus-sandbox-')));
  readonly home = join(this.folder, 'home');
  readonly workspace = join(this.folder, 'workspace');

  constructor() {
    mkdirSync(this.home);
    mkdirSync(this.workspace);
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

  run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: this.workspace,
      env: { PATH: process.env['PATH'] ?? '', HOME: this.home, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })));
  }

  readonly plexus = (...args: readonly string[]) => this.run(args);

  /** One document on stdout, and nothing else. */
  async json(...args: readonly string[]) {
    return JSON.parse((await this.run([...args, '--json'])).out);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
