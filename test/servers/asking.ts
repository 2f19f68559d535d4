// Owns starting the server that asks back, over any transport, and reading what it was told. It ends with the test.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { ServerConfig } from '../../src/index.ts';
import type { Message } from '../../src/model/server.ts';
import { temporaryFile } from './processes.ts';

const program = fileURLToPath(new URL('./asking.mjs', import.meta.url));

export const carriers = ['stdio', 'http', 'sse', 'ws'] as const;
export type Carrier = (typeof carriers)[number];

/** The older HTTP transport is older than the modern era. */
export const erasOf = (transport: Carrier) =>
  transport === 'sse' ? (['legacy'] as const) : (['legacy', 'modern'] as const);

export interface Asking {
  /** How a runtime is told of it. */
  readonly entry: ServerConfig;
  /** Everything that arrived, oldest first: messages, and what happened besides as `{ event }`. */
  heard(): Message[];
  /** The methods and events alone. */
  methods(): string[];
}

export async function startAsking(transport: Carrier, ...flags: readonly string[]): Promise<Asking> {
  const journal = temporaryFile('journal');
  const words = [program, '--transport', transport, '--journal', journal, ...flags];
  const heard = () =>
    existsSync(journal)
      ? readFileSync(journal, 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line): Message => JSON.parse(line))
      : [];
  const methods = () => heard().map(({ method, event }) => String(method ?? event ?? 'answer'));
  if (transport === 'stdio') return { entry: { command: process.execPath, args: words }, heard, methods };
  return { entry: { url: await listening(words), transport }, heard, methods };
}

async function listening(words: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [...words], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.stdin.end();
    await gone;
  });
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('exit', (code) => reject(new Error(`the asking server exited with ${code} before it listened`)));
  });
  return JSON.parse(line).url;
}
