// Owns starting the server that asks back, over any transport, and reading what it was told. It ends with the test.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ServerConfig } from '../../src/index.ts';
import type { Message } from '../../src/model/server.ts';
import { startListening } from './listening.ts';
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
  const words = ['--transport', transport, '--journal', journal, ...flags];
  const heard = () =>
    existsSync(journal)
      ? readFileSync(journal, 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line): Message => JSON.parse(line))
      : [];
  const methods = () => heard().map(({ method, event }) => String(method ?? event ?? 'answer'));
  if (transport === 'stdio') return { entry: { command: process.execPath, args: [program, ...words] }, heard, methods };
  const { url } = await startListening<{ url: string }>(program, ...words);
  return { entry: { url, transport }, heard, methods };
}
