// Owns the proof that servers written with the official SDK are spoken to in the era they are best at, questions included.

import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { verifies } from '../verifies.ts';
import { createFolder, start } from './runtimes.ts';

const program = fileURLToPath(new URL('../servers/sdk.mjs', import.meta.url));

verifies(
  ['LIF-09', 'EXT-01'],
  'an SDK server is discovered as modern, called, and asked back over several rounds',
  async () => {
    const runtime = await start(createFolder(), {
      servers: {
        both: { command: process.execPath, args: [program] },
        modern: { command: process.execPath, args: [program, '--modern-only'] },
      },
      // The era probe never times out on this clock, however slowly the servers start.
      clock: createFakeClock(),
      elicit: async ({ message }) => ({
        action: 'accept',
        content: { name: message === 'Who are you?' ? 'Ada' : message },
      }),
    });
    await runtime.ready();
    expect(runtime.status().map(({ name, protocol, error }) => [name, protocol, error])).toEqual([
      ['both', '2026-07-28', undefined],
      ['modern', '2026-07-28', undefined],
    ]);
    for (const server of ['both', 'modern']) {
      const greeted = await runtime.turn().call(`mcp__${server}__greet`, { name: 'Bob' });
      expect(greeted.content).toEqual([{ type: 'text', text: 'Hello Bob' }]);
      const asked = await runtime.turn().call(`mcp__${server}__ask`);
      expect(asked.content).toEqual([{ type: 'text', text: 'Hello Ada, kept' }]);
    }
  },
);
