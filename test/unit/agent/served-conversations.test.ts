// Owns the tests of how many conversations of a served agent stay open, of the rules that one is opened with, and of its folder.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openConversation } from '../../../src/agent/conversation.ts';
import { createConversations } from '../../../src/agent/conversations.ts';
import { isServedName } from '../../../src/agent/served-agent.ts';
import { createServedConversations } from '../../../src/agent/served-conversations.ts';
import { createFolders } from '../../../src/agent/served-folders.ts';
import { SandboxStates } from '../../../src/agent/served-sandbox.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { limits } from '../../../src/model/limits.ts';
import { createFolder } from '../../e2e/runtimes.ts';
import { sentResults } from '../../servers/models/sent.ts';
import { waitFor } from '../../wait-for.ts';
import { openScene } from './scene.ts';

const redact = <Value>(value: Value): Value => value;

test('beyond the most that stay open, the one that was idle longest is closed; one in use never is', async () => {
  const { runtime, model } = await openScene([]);
  const folder = createFolder();
  const place = { folder: join(folder, 'conversations') };
  const kept = createConversations(place, { clock: systemClock, redact });
  const reported: unknown[] = [];
  const conversations = createServedConversations({
    ...{ options: { runtime, model }, kept, models: [], sandboxes: new SandboxStates(), clock: systemClock },
    folders: createFolders({ cwd: folder, runtime, served: undefined }),
    report: (error) => reported.push(error),
  });
  const begin = () => conversations.begin(folder, { owner: 'me' });
  const used = await begin();
  const idle = [];
  // One after the other: the disk decides which of several that begin at once is the oldest.
  for (let count = 0; count < limits.servedAgent.open; count++) idle.push(await begin());
  for (const lease of idle) lease.release();
  const last = await begin();
  last.release();
  // One that was closed without a word was never written, so that it is not there any more.
  const [oldest = used, second = used] = idle;
  await waitFor(() => expect(conversations.resume(String(oldest?.id), 'me')).rejects.toThrow('no conversation'));
  await conversations.resume(String(second?.id), 'me').then(
    ({ release }) => release(),
    () => undefined,
  );
  await expect(conversations.resume(String(used?.id), 'me')).resolves.toMatchObject({ id: used?.id });
  await expect(conversations.resume(String(used?.id), 'you')).rejects.toThrow('no conversation');
  await conversations.close();
  expect(reported).toEqual([]);
});

test('a client that guesses an id does not come between a conversation and its owner', async () => {
  const { runtime, model } = await openScene([]);
  const folder = createFolder();
  const kept = createConversations({ folder: join(folder, 'conversations') }, { clock: systemClock, redact });
  const conversations = createServedConversations({
    ...{ options: { runtime, model }, kept, models: [], sandboxes: new SandboxStates(), clock: systemClock },
    folders: createFolders({ cwd: folder, runtime, served: undefined }),
    report: (error) => expect.unreachable(String(error)),
  });
  const { id, journal, close } = await kept.create(folder, { owner: 'me' });
  await journal.write('sync');
  await close();
  const asked = ['you', 'me', 'you', 'me'].map((owner) => conversations.resume(id, owner));
  const got = await Promise.allSettled(asked);
  expect(got.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled']);
  await conversations.close();
});

test('rules beside those of the options only tighten', async () => {
  const call = { calls: [{ name: 'mcp__s__echo', arguments: { text: 'hi' } }, { name: 'mcp__s__fail' }] };
  const { runtime, model, requests } = await openScene([call, { text: 'done' }], {
    runtimeOptions: { permissions: [] },
  });
  const permissions = [{ tool: 'mcp__s__echo', action: 'allow' }] as const;
  const furtherRules = [{ tool: 'mcp__s__fail', action: 'allow' }] as const;
  const options = { runtime, model, permissions };
  const conversation = openConversation(options, { file: undefined, clock: systemClock, furtherRules });
  await conversation.run('begin');
  await conversation.close();
  const texts = requests[1] ? sentResults(requests[1]).map(({ text }) => text) : [];
  expect(texts).toEqual([expect.stringContaining('echo hi'), expect.not.stringContaining('broken')]);
});

test('without further folders only the own one counts', async () => {
  const { runtime } = await openScene([]);
  const own = createFolder();
  const folders = createFolders({ cwd: own, runtime, served: undefined });
  expect(folders.find('.')).toBe(own);
  expect(() => folders.find('/')).toThrow('does not work in the folder /');
  expect((await folders.lease(own)).runtime).toBe(runtime);
});

test.each([
  ['plexus', true],
  ['co_code-2', true],
  ['', false],
  ['a b', false],
  ['../x', false],
  ['x'.repeat(49), false],
])('the name %j is allowed: %s', (name, isAllowed) => {
  expect(isServedName(name)).toBe(isAllowed);
});
