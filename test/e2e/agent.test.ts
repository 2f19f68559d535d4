// Owns the tests of an agent with its conversations in a process of its own: many side by side, and killed while it writes.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createConversations } from '../../src/agent/conversations.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { isLong, runs } from '../effort.ts';
import { createFolder } from './runtimes.ts';

const host = fileURLToPath(new URL('agent-host.mjs', import.meta.url));
const load = fileURLToPath(new URL('agent-load.mjs', import.meta.url));

interface Killed {
  readonly id: string;
  /** The turns whose replies the host was given before it died. */
  readonly acknowledged: readonly string[];
}

/** Kills the host some time after so many replies. */
async function killAfter(turns: number, folder: string, conversation: string | undefined): Promise<Killed> {
  const words = [host, folder, ...(conversation === undefined ? [] : [conversation])];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
    if (said.split('\n').length > turns + 1) child.kill('SIGKILL');
  });
  await once(child, 'close');
  const [id = '', ...acknowledged] = said.split('\n').slice(0, -1);
  return { id, acknowledged };
}

const KILLS_OF_ONE = 10;

test('killed by -9 during writes, an agent loses no acknowledged turn, and at most one line is torn', async () => {
  const folder = createFolder();
  const conversations = createConversations(
    { folder: join(folder, 'conversations') },
    { clock: systemClock, redact: (value) => value },
  );
  let acknowledged: string[] = [];
  let known: string | undefined;
  for (let kill = 0; kill < runs(100); kill++) {
    if (kill % KILLS_OF_ONE === 0) [known, acknowledged] = [undefined, []];
    const killed = await killAfter((kill % 7) + 1, folder, known);
    expect(killed.acknowledged.length).toBeGreaterThan(0);
    known = killed.id;
    acknowledged.push(...killed.acknowledged);
    // Opening refuses a file in which any line but the last is damaged.
    const { messages, close } = await conversations.open(killed.id);
    await close();
    for (const wanted of ['user', 'assistant']) {
      const texts = messages.filter(({ role }) => role === wanted).map(({ text }) => text.trim());
      expect(texts.filter((text) => acknowledged.includes(text))).toEqual(acknowledged);
    }
  }
}, 600_000);

test('conversations side by side get every reply once, in order, and memory stays flat after the first tenth', async () => {
  const folder = createFolder();
  const [conversations, turns] = isLong ? [40, 20] : [10, 20];
  const words = ['--expose-gc', load, folder, String(conversations), String(turns)];
  const { stdout } = await promisify(execFile)(process.execPath, words, { maxBuffer: 64 * 1024 * 1024 });
  const { ids, replies, firstMb, lastMb, keptMb } = JSON.parse(stdout);
  const expected = Array.from({ length: conversations }, (_, at) =>
    Array.from({ length: turns }, (_each, turn) => `re ${at}.${turn}`),
  );
  expect(replies).toEqual(expected);
  for (const [at, id] of ids.entries()) {
    const lines = readFileSync(join(folder, 'conversations', `${id}.jsonl`), 'utf8')
      .trimEnd()
      .split('\n')
      .slice(1);
    const written = lines
      .map((line) => JSON.parse(line))
      .filter(({ role, text }) => role === 'assistant' && text !== '');
    expect(written.map(({ text }) => text)).toEqual(expected[at]);
  }
  // Beyond what was said: machine code that the engine still makes, and nothing for each turn.
  expect(lastMb - firstMb - 2 * keptMb).toBeLessThan(2);
}, 600_000);
