// Owns the tests of conversations on the disk: what survives, what is dropped, what is refused.

import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createConversations } from '../../../src/agent/conversations.ts';
import { JOURNAL_VERSION } from '../../../src/agent/journal.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createFolder } from '../../e2e/runtimes.ts';
import { sentResults } from '../../servers/models/sent.ts';
import { openScene, told } from './scene.ts';

const redact = <Value>(value: Value): Value => value;
const open = (folder: string, more = {}) => createConversations({ folder, ...more }, { clock: systemClock, redact });
const fileOf = (folder: string, id: string) => join(folder, `${id}.jsonl`);

test('a conversation goes on in another process, with its calls and results', async () => {
  const folder = join(createFolder(), 'conversations');
  const script = [{ calls: [{ name: 'mcp__s__echo', arguments: { text: 'hi' } }] }, { text: 'one' }];
  const first = await openScene(script, { conversations: { folder } });
  const { conversationId: id } = await first.agent.run('begin');
  expect(statSync(fileOf(folder, id)).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual([`${id}.jsonl`]);
  const second = await openScene([{ text: 'two' }], { conversations: { folder } });
  expect(await second.agent.latest()).toBe(id);
  const reply = await second.agent.run('go on', { conversation: id, onEvent: second.onEvent });
  expect(reply).toMatchObject({ conversationId: id, text: 'two' });
  expect(told(second.events, 'conversation.started')).toMatchObject([{ isResumed: true }]);
  const [request] = second.requests;
  expect(request && sentResults(request)).toMatchObject([{ text: expect.stringContaining('echo hi') }]);
});

test.each(['known', 'off'] as const)(
  'a secret that the runtime filled in for a server is not written: results.redact = %s',
  async (redaction) => {
    const folder = join(createFolder(), 'conversations');
    const secret = 'tok-4f9a8b7c6d5e4f3a2b1c';
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
    const other = { command: process.execPath, args: ['-e', ''], env: { TOKEN: '${MY_TOKEN}' } };
    const config = join(createFolder(), 'plexus.json');
    writeFileSync(config, JSON.stringify({ mcpServers: { other }, plexus: { results: { redact: redaction } } }));
    const runtimeOptions = { env: { ...process.env, MY_TOKEN: secret }, discover: true, config };
    const { agent, runtime } = await openScene([{ text: `it is ${secret}` }], {
      conversations: { folder },
      runtimeOptions,
    });
    await runtime.ready();
    expect(runtime.redact(secret) === secret).toBe(redaction === 'off');
    const { conversationId: made } = await agent.run(`remember ${secret}`);
    const written = readFileSync(fileOf(folder, made), 'utf8');
    expect(written).toContain('remember');
    expect(written).not.toContain(secret);
  },
);

test('a torn last line is dropped and told, and the next write replaces it', async () => {
  const folder = join(createFolder(), 'conversations');
  const { agent } = await openScene([{ text: 'one' }, { text: 'two' }], { conversations: { folder } });
  const { conversationId: id } = await agent.run('begin');
  // Longer than the next write, which has to leave nothing of it.
  appendFileSync(fileOf(folder, id), `{"role":"user","text":"hal${'f'.repeat(10_000)}`);
  const conversation = await agent.open(id);
  expect(conversation.isTorn).toBe(true);
  expect(conversation.messages.map(({ text }) => text)).toEqual(['begin', 'one']);
  await conversation.run('go on');
  await conversation.close();
  const lines = readFileSync(fileOf(folder, id), 'utf8').trimEnd().split('\n').slice(1);
  expect(lines.map((line) => JSON.parse(line).text)).toEqual(['begin', 'one', 'go on', 'two']);
});

test('calls that a dead process left without a result get one', async () => {
  const folder = join(createFolder(), 'conversations');
  const { agent, requests } = await openScene([{ text: 'one' }, { text: 'two' }], { conversations: { folder } });
  const { conversationId: id } = await agent.run('begin');
  const calls = [{ id: 'c9', name: 'echo', arguments: '{}' }];
  appendFileSync(fileOf(folder, id), `${JSON.stringify({ role: 'assistant', text: '', calls })}\n`);
  await agent.run('go on', { conversation: id });
  expect(requests[1] && sentResults(requests[1])).toEqual([
    { callId: 'c9', text: expect.stringContaining('was not made') },
  ]);
});

const id = 'a'.repeat(32);
const head = { id, createdAt: 1, cwd: '/' };
const files: Readonly<Record<string, readonly [contents: string, problem: string]>> = {
  'of a newer version': [`${JSON.stringify({ version: JOURNAL_VERSION + 1, ...head })}\n`, 'newer'],
  'with a damaged line': [`${JSON.stringify({ version: JOURNAL_VERSION, ...head })}\n{"role":\n{}\n`, 'damaged'],
  'without a head': ['', 'damaged'],
};
test.each(Object.entries(files))('a file %s is refused and stays as it is', async (_, [contents, problem]) => {
  const folder = createFolder();
  writeFileSync(fileOf(folder, id), contents);
  await expect(open(folder).open(id)).rejects.toMatchObject({ code: 'CONVERSATION_UNUSABLE', data: { problem } });
  expect(readFileSync(fileOf(folder, id), 'utf8')).toBe(contents);
  expect(readdirSync(folder)).toEqual([`${id}.jsonl`]);
});

test.each(['b'.repeat(32), '../secret', ''])('there is no conversation %j', async (unknown) => {
  const problem = { code: 'CONVERSATION_UNKNOWN', data: { conversation: unknown } };
  const parent = createFolder();
  writeFileSync(fileOf(parent, 'secret'), `${JSON.stringify({ version: JOURNAL_VERSION, ...head })}\n`);
  mkdirSync(join(parent, 'conversations'));
  await expect(open(join(parent, 'conversations')).open(unknown)).rejects.toMatchObject(problem);
});

test('a conversation that another process has open is refused, and free once that has ended', async () => {
  const folder = createFolder();
  const [one, other] = [open(folder), open(folder)];
  const held = await one.create('/');
  await held.journal.write('sync');
  await expect(other.open(held.id)).rejects.toMatchObject({ data: { problem: 'busy' } });
  await held.close();
  await (await other.open(held.id)).close();
});

test('a process that has lost its lock to another one writes nothing over what that one wrote', async () => {
  const folder = createFolder();
  const first = await open(folder).create('/');
  first.journal.add({ role: 'user', text: 'begin' });
  await first.journal.write('sync');
  // As the lock of a process goes that was asleep for days.
  rmSync(`${fileOf(folder, first.id)}.lock`, { recursive: true });
  const second = await open(folder).open(first.id);
  second.journal.add({ role: 'user', text: 'from the second' });
  await second.journal.write('sync');
  first.journal.add({ role: 'user', text: 'from the first' });
  for (const _ of ['while it is open there', 'and later']) {
    await expect(first.journal.write('sync')).rejects.toMatchObject({ data: { problem: 'busy' } });
    await second.close();
  }
  await first.close();
  const { messages, close } = await open(folder).open(first.id);
  expect(messages.map(({ text }) => text)).toEqual(['begin', 'from the second']);
  await close();
});

test('a killed process keeps no conversation beyond its age, a living one does', async () => {
  const folder = createFolder();
  const conversations = open(folder, { maxAgeMs: 1_000 });
  const held = await conversations.create('/');
  const [, left] = await Promise.all([held.journal.write('sync'), conversations.create('/')]);
  await left.journal.write('sync');
  await left.close();
  const lock = `${fileOf(folder, left.id)}.lock`;
  mkdirSync(lock);
  writeFileSync(join(lock, `1-${randomUUID()}`), '');
  for (const { id: made } of [held, left]) utimesSync(fileOf(folder, made), 1, 1);
  await (await conversations.create('/')).close();
  expect(readdirSync(folder).sort()).toEqual([`${held.id}.jsonl`, `${held.id}.jsonl.lock`]);
  await held.close();
});

test('old conversations, and the oldest of too many, are removed when a new one begins', async () => {
  const folder = createFolder();
  const conversations = open(folder, { maxAgeMs: 10_000_000, maxCount: 2 });
  const ids: string[] = [];
  for (const age of [30_000, 9_000, 5_000, 0]) {
    const { id: made, journal, close } = await open(folder).create('/');
    await journal.write('sync');
    await close();
    const at = Date.now() / 1_000 - age;
    utimesSync(fileOf(folder, made), at, at);
    ids.push(made);
  }
  await (await conversations.create('/')).close();
  expect(readdirSync(folder).sort()).toEqual(
    ids
      .slice(2)
      .map((made) => `${made}.jsonl`)
      .sort(),
  );
});

test('a lock that cannot be read keeps its own conversation, and no other', async () => {
  const folder = createFolder();
  const conversations = open(folder, { maxAgeMs: 10_000_000 });
  const made = [];
  for (let at = 0; at < 2; at++) made.push(await conversations.create('/'));
  for (const [at, { id: each, journal, close }] of made.entries()) {
    await journal.write('sync');
    await close();
    utimesSync(fileOf(folder, each), 2 - at, 2 - at);
  }
  // It is looked at before the other one, which is older.
  const [broken] = made;
  writeFileSync(`${fileOf(folder, broken?.id ?? '')}.lock`, 'a file is in the way');
  await (await conversations.create('/')).close();
  expect(readdirSync(folder).sort()).toEqual([`${broken?.id}.jsonl`, `${broken?.id}.jsonl.lock`]);
});

test('a disk that cannot be written leaves the conversation usable and says so; later writes bring it all', async () => {
  const parent = createFolder();
  const folder = join(parent, 'conversations');
  writeFileSync(folder, 'a file is in the way');
  const script = [{ text: 'one' }, { text: 'two' }];
  const { agent, events, onEvent } = await openScene(script, { conversations: { folder } });
  const conversation = await agent.open();
  expect(await conversation.run('a', { onEvent })).toMatchObject({ text: 'one' });
  expect(told(events, 'conversation.unsaved')).toEqual([
    { type: 'conversation.unsaved', reason: expect.stringContaining(folder) },
  ]);
  rmSync(folder);
  mkdirSync(folder);
  expect(await conversation.run('b', { onEvent })).toMatchObject({ text: 'two' });
  await conversation.close();
  const lines = readFileSync(fileOf(folder, conversation.id), 'utf8').trimEnd().split('\n');
  expect(lines).toHaveLength(5);
});

test('a folder in which nothing can be made leaves the conversation usable too', async () => {
  const { agent, events, onEvent } = await openScene([{ text: 'one' }], { conversations: { folder: '/proc/self' } });
  expect(await agent.run('a', { onEvent })).toMatchObject({ text: 'one' });
  expect(told(events, 'conversation.unsaved', 'conversation.replied')).toMatchObject([
    { type: 'conversation.unsaved' },
    { type: 'conversation.replied' },
  ]);
});

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

/** A disk of its own that can be filled to its last byte, and freed. */
function createSmallDisk() {
  const disk = createFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk]);
  onTestFinished(() => void execFileSync('umount', ['--lazy', disk]));
  const filler = join(disk, 'filler');
  return {
    folder: join(disk, 'conversations'),
    fill() {
      for (const size of [4_096, 1])
        try {
          for (;;) appendFileSync(filler, Buffer.alloc(size));
        } catch (error) {
          expect(error).toMatchObject({ code: 'ENOSPC' });
        }
    },
    free: () => rmSync(filler),
  };
}

const repliesOf = (count: number) => Array.from({ length: count }, (_, at) => ({ text: `reply ${at}` }));

describe.runIf(isRoot)('on a full disk', () => {
  test('kept and new conversations are usable and say so; with space again everything is written', async () => {
    const { folder, fill, free } = createSmallDisk();
    const { agent, events, onEvent } = await openScene(repliesOf(5), { conversations: { folder } });
    const { conversationId: kept } = await agent.run('a', { onEvent });
    expect(told(events, 'conversation.unsaved')).toEqual([]);
    fill();
    const conversation = await agent.open(kept);
    expect(conversation.messages.map(({ text }) => text)).toEqual(['a', 'reply 0']);
    expect(await conversation.run(`b${'.'.repeat(5_000)}`, { onEvent })).toMatchObject({ text: 'reply 1' });
    expect(await conversation.run('c', { onEvent })).toMatchObject({ text: 'reply 2' });
    expect(await agent.run('another', { onEvent })).toMatchObject({ text: 'reply 3' });
    const full = { type: 'conversation.unsaved', reason: expect.stringContaining('the disk is full') };
    expect(told(events, 'conversation.unsaved')).toEqual([full, full, full]);
    free();
    await conversation.run('d', { onEvent });
    expect(told(events, 'conversation.unsaved')).toHaveLength(3);
    await conversation.close();
    const again = await agent.open(kept);
    expect(again.messages.map(({ text }) => text.slice(0, 7))).toEqual([
      'a',
      'reply 0',
      'b......',
      'reply 1',
      'c',
      'reply 2',
      'd',
      'reply 4',
    ]);
    await again.close();
  });

  test('a conversation that two processes opened is written by the first alone', async () => {
    const { folder, fill, free } = createSmallDisk();
    const { agent } = await openScene(repliesOf(1), { conversations: { folder } });
    const { conversationId: kept } = await agent.run('a');
    fill();
    const [one, other] = [await open(folder).open(kept), await open(folder).open(kept)];
    for (const [name, { journal }] of Object.entries({ one, other })) journal.add({ role: 'user', text: name });
    await expect(one.journal.write('sync')).rejects.toMatchObject({ code: 'STORE_UNWRITABLE' });
    free();
    await one.journal.write('sync');
    const busy = { code: 'CONVERSATION_UNUSABLE', data: { problem: 'busy' } };
    await expect(other.journal.write('sync')).rejects.toMatchObject(busy);
    await one.close();
    await expect(other.journal.write('sync')).rejects.toMatchObject(busy);
    await other.close();
    const { messages } = await open(folder).open(kept);
    expect(messages.map(({ text }) => text)).toEqual(['a', 'reply 0', 'one']);
  });
});
