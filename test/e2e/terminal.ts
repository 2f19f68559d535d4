// Owns a real terminal for tests: runs the built program on a pseudo-terminal, shows what a person would see and types keys.

import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { waitFor } from '../wait-for.ts';
import { program, type Sandbox } from './plexus.ts';

const SCRIPT = '/usr/bin/script';

/** The tests of terminals need `script` of util-linux. */
export const hasTerminal = process.platform === 'linux' && existsSync(SCRIPT);

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

export interface Terminal {
  /** Resolves when the screen shows this, after whatever was waited for before. */
  shows(text: string): Promise<void>;
  /** In one piece, as a paste arrives. */
  send(text: string): void;
  /** Key by key: each is on the screen before the next is pressed, and Enter last. */
  type(word: string): Promise<void>;
  /** The program starts only now: what was sent before was typed ahead. */
  start(): void;
  readonly done: Promise<number | null>;
  readonly screen: () => string;
}

/** Opens a terminal whose program waits for `start`. `columns`: its width, if it has one. */
export function openTerminal(box: Sandbox, args: readonly string[], columns = 0): Terminal {
  const go = join(box.folder, `go-${++opened}`);
  const command = [process.execPath, program, ...args].map(quoted).join(' ');
  const line = `stty cols ${columns}; until [ -e ${quoted(go)} ]; do sleep 0.02; done; exec ${command}`;
  const child = spawn(SCRIPT, ['-qec', line, '/dev/null'], {
    cwd: box.workspace,
    env: { PATH: process.env['PATH'] ?? '', HOME: box.home, TERM: 'xterm', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let screen = '';
  let seen = 0;
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    screen += chunk;
  });
  const shows = async (text: string) => {
    const found = await waitFor(() => {
      const at = screen.indexOf(text, seen);
      expect(at, screen).toBeGreaterThanOrEqual(0);
      return at;
    });
    seen = found + text.length;
  };
  /** A question throws away what was typed before it was shown whole: like a person, presses a key again that does not appear. */
  const press = async (key: string) => {
    let pressedAt = Number.NEGATIVE_INFINITY;
    await waitFor(() => {
      if (Date.now() - pressedAt > LOST_KEY_MS) {
        child.stdin.write(key);
        pressedAt = Date.now();
      }
      expect(screen.indexOf(key, seen), screen).toBeGreaterThanOrEqual(0);
    });
    await shows(key);
  };
  return {
    shows,
    send: (text) => void child.stdin.write(text),
    async type(word) {
      for (const key of word) await press(key);
      child.stdin.write('\r');
    },
    start: () => writeFileSync(go, ''),
    done: new Promise((resolve) => child.on('close', resolve)),
    screen: () => screen,
  };
}

/** Much longer than a program needs to show a key. */
const LOST_KEY_MS = 5_000;

let opened = 0;
