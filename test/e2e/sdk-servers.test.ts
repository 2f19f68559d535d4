// Owns the proof that servers written with the official SDK are spoken to in the era they are best at, questions included.

import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { createRuntime } from '../../src/runtime.ts';
import { verifies } from '../verifies.ts';

const program = fileURLToPath(new URL('../servers/sdk.mjs', import.meta.url));

verifies(
  ['LIF-09', 'EXT-01'],
  'an SDK server is discovered as modern, called, and asked back over several rounds',
  async () => {
    const runtime = await createRuntime({
      discover: false,
      interactive: false,
      servers: {
        both: { command: process.execPath, args: [program] },
        modern: { command: process.execPath, args: [program, '--modern-only'] },
      },
      permissions: [{ tool: 'mcp__*', action: 'allow' }],
      elicit: async ({ message }) => ({
        action: 'accept',
        content: { name: message === 'Who are you?' ? 'Ada' : message },
      }),
    });
    await runtime.ready();
    try {
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
    } finally {
      await runtime.close();
    }
  },
);
