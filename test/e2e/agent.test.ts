// Owns the test of what is left of an agent's conversations when its process is killed while it writes.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createConversations } from '../../src/agent/conversations.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { runs } from '../effort.ts';
import { createFolder } from './runtimes.ts';

const host = fileURLToPath(new URL('agent-host.mjs', import.meta.url));

async function turnsBeforeKill(folder: string, turns: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, [host, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
    if (said.split('\n').length > turns + 1) child.kill('SIGKILL');
  });
  await once(child, 'close');
  return said.split('\n').slice(0, -1);
}

test('killed by -9 during writes, an agent loses no acknowledged turn, and at most one line is torn', async () => {
  const folder = createFolder();
  const conversations = createConversations(
    { folder: join(folder, 'conversations') },
    { clock: systemClock, redact: (value) => value },
  );
  for (let kill = 1; kill <= runs(100); kill++) {
    const [id = '', ...acknowledged] = await turnsBeforeKill(folder, (kill % 7) + 1);
    const { messages, close } = await conversations.open(id);
    await close();
    const prompts = messages.filter(({ role }) => role === 'user').map(({ text }) => text.trim());
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(prompts.slice(0, acknowledged.length)).toEqual(acknowledged);
    const replies = messages.filter(({ role }) => role === 'assistant').map(({ text }) => text.trim());
    expect(replies.slice(0, acknowledged.length)).toEqual(acknowledged);
  }
}, 240_000);
