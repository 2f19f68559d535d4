// Owns the proof that a file of the workspace cannot have tools called without asking the user.

import { expect } from 'vitest';
import { verifies } from '../../verifies.ts';
import { loadFolder } from './folder.ts';

const entry = {
  command: 'x',
  approval: 'approve',
  tools: {
    read: { approval: 'approve', outbound: false, toolTimeoutMs: 5 },
    send: { approval: 'prompt', outbound: true },
  },
};
const text = JSON.stringify({ mcpServers: { it: entry } });

verifies(
  ['PER-02', 'PER-07'],
  'what it says against asking is ignored and told; what it says for asking counts',
  async () => {
    const { definitions, diagnostics } = await loadFolder({ '.mcp.json': text });
    const { approval, tools } = definitions[0]?.settings ?? {};
    expect([approval, tools]).toEqual([
      undefined,
      { read: { toolTimeoutMs: 5 }, send: { approval: 'prompt', outbound: true } },
    ]);
    expect(diagnostics.map(({ loosens }) => loosens)).toEqual([
      '"approval" = "approve"',
      '"tools" = {"read":{"approval":"approve","outbound":false}}',
    ]);
  },
);

verifies('PER-07', 'in a file of one’s own it counts', async () => {
  const { definitions } = await loadFolder({ 'home/.config/plexus/mcp.json': text });
  expect(definitions[0]?.settings).toMatchObject({ approval: 'approve', tools: entry.tools });
});
