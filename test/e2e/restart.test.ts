// Owns the proof of restarts beyond one server and its calls: approvals and other entries of the name, resources, runtimes that
// share a server, views that have one for themselves.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { RuntimeOptions } from '../../src/api.ts';
import { isObject, type JsonObject } from '../../src/kernel/json.ts';
import { createMemoryStore } from '../../src/kernel/store.ts';
import { limits } from '../../src/model/limits.ts';
import type { Channel, Message } from '../../src/model/server.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { faulty } from '../servers/faulty.ts';
import { eventually, isRunning, pidsIn } from '../servers/processes.ts';
import { endOf } from '../unit/call/stages.ts';
import { verifies } from '../verifies.ts';
import { createFolder, createRawServer, type Started, start, statusOf, textOf } from './runtimes.ts';

/** Runtimes in one folder, and files of servers. A call of `ask` is in flight until its question is answered. */
function createWorld() {
  const folder = createFolder();
  const pids = join(folder, 'pids');
  const questions: (() => void)[] = [];
  const elicit = () =>
    new Promise<{ action: 'accept'; content: JsonObject }>((resolve) => {
      questions.push(() => resolve({ action: 'accept', content: { name: 'Ada' } }));
    });
  const begin = async (view: Pick<Started, 'turn'>) => {
    const asked = questions.length;
    const call = view.turn().call('mcp__files__ask');
    const answer = endOf(call.then(textOf));
    const finish = await eventually(() => questions[asked]);
    return { answer, finish };
  };
  return {
    folder,
    begin,
    server: (...flags: string[]) => faulty('--pid-file', pids, ...flags),
    pids: () => pidsIn(pids),
    write: (file: string, entry: JsonObject) =>
      writeFileSync(join(folder, file), JSON.stringify({ mcpServers: { files: entry } })),
    start: (options: RuntimeOptions) => start(folder, { discover: true, watch: false, elicit, ...options }),
  };
}

const pidOf = (runtime: Started) => statusOf(runtime, 'files').pid ?? 0;
const echo = (view: Pick<Started, 'turn'>, text: string) => view.turn().call('mcp__files__echo', { text }).then(textOf);
const toolsOf = (runtime: Started) => runtime.turn().tools.map(({ id }) => id.tool);

describe('an entry of the workspace', () => {
  verifies(['LIF-07', 'TRU-01'], 'that is revoked ends at once, also while its calls may finish', async () => {
    for (const how of ['open', 'restarted', 'private'] as const) {
      const { write, server, begin, pids, start: open } = createWorld();
      const store = createMemoryStore(createFakeClock());
      write('.mcp.json', server());
      const runtime = await open({ store, approve: async () => 'always', env: envOf() });
      const { answer } = await begin(how === 'private' ? runtime.view({ perClient: true }) : runtime);
      const former = pids().at(-1) ?? 0;
      if (how === 'restarted') {
        write('.mcp.json', server('--tools', '1'));
        await runtime.reload();
        expect(isRunning(former)).toBe(true);
      }
      await store.delete('approvals/files');
      await runtime.reload();
      expect(await answer, how).toBe('OUTCOME_UNKNOWN');
      await eventually(() => !isRunning(former));
    }
  });

  verifies(
    ['LIF-07', 'TRU-01'],
    'that changed shows no tools before it is approved, while a call in flight finishes',
    async () => {
      const { write, server, begin, start: open } = createWorld();
      let isTrusted = true;
      write('.mcp.json', server());
      const runtime = await open({ approve: async () => (isTrusted ? 'session' : 'no'), env: envOf() });
      const { answer, finish } = await begin(runtime);
      isTrusted = false;
      write('.mcp.json', server('--tools', '1'));
      await runtime.reload();
      expect([toolsOf(runtime), statusOf(runtime, 'files').state]).toEqual([[], 'connecting']);
      finish();
      expect(await answer).toContain('Ada');
      await eventually(() => statusOf(runtime, 'files').state === 'needs-approval');
      expect(toolsOf(runtime)).toEqual([]);
    },
  );

  verifies(['LIF-07', 'TRU-01'], 'whose approval cannot be read ends, and keeps no other from starting', async () => {
    const { write, server, folder, start: open } = createWorld();
    const memory = createMemoryStore(createFakeClock());
    let isBroken = false;
    const get = async (key: string) => {
      if (isBroken && key === 'approvals/files') throw new Error('the disk is broken');
      return memory.get(key);
    };
    write('.mcp.json', server());
    const runtime = await open({ store: { ...memory, get }, approve: async () => 'always', env: envOf() });
    await runtime.ready();
    const former = pidOf(runtime);
    isBroken = true;
    const mcpServers = { files: server(), other: faulty() };
    writeFileSync(join(folder, '.mcp.json'), JSON.stringify({ mcpServers }));
    await runtime.reload();
    await eventually(() => !isRunning(former));
    await runtime.ready({ servers: ['other'], orThrow: true });
    expect(runtime.errors.map(String)).toContain('Error: the disk is broken');
    expect(statusOf(runtime, 'files').status).not.toBe('connected');
  });

  const envOf = () => ({ PATH: process.env['PATH'] });
});

verifies(['LIF-07', 'CFG-02'], 'a server that an entry from elsewhere shadows ends at once', async () => {
  const { write, server, begin, start: open, folder } = createWorld();
  const servers: Record<string, NonNullable<RuntimeOptions['servers']>[string]> = {};
  write('fleet.json', server());
  const runtime = await open({ config: join(folder, 'fleet.json'), servers });
  const { answer } = await begin(runtime);
  const former = pidOf(runtime);
  servers['files'] = server('--tools', '1');
  await runtime.reload();
  expect([await answer, isRunning(former)]).toEqual(['OUTCOME_UNKNOWN', false]);
  await runtime.ready();
  expect(toolsOf(runtime)).toContain('tool_1');
});

describe('resources during a restart', () => {
  /** A server in process whose answers to `resources/read` come when they are let go. */
  async function startShelf() {
    const capabilities = { tools: {}, resources: { subscribe: true } };
    const held: (() => void)[] = [];
    const raw = createRawServer(capabilities, {
      'resources/list': () => ({ resources: [{ uri: 'note://1', name: 'one' }] }),
      'resources/read': () => ({ contents: [{ uri: 'note://1', text: 'read' }] }),
      'resources/subscribe': () => ({}),
      'resources/unsubscribe': () => ({}),
    });
    const serve = (channel: Channel) => raw.entry.serve(holding(channel, held));
    const clock = createFakeClock();
    const servers: Record<string, NonNullable<RuntimeOptions['servers']>[string]> = { notes: { serve } };
    const runtime = await start(createFolder(), { clock, servers });
    const edit = async (change: JsonObject) => {
      servers['notes'] = { serve, ...change };
      await runtime.reload();
    };
    return { raw, runtime, clock, edit, held };
  }

  const holding = (channel: Channel, held: (() => void)[]): Channel =>
    new Proxy(channel, {
      get(target, key) {
        if (key === 'send')
          return (message: Message) =>
            isObject(message['result']) && 'contents' in message['result']
              ? new Promise<void>((resolve) => held.push(() => resolve(target.send(message))))
              : target.send(message);
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
      set: (target, key, value) => Reflect.set(target, key, value, target),
    });

  verifies(['LIF-07', 'RES-01'], 'finish as calls do, and are asked for again where they were cut', async () => {
    const { raw, runtime, clock, edit, held } = await startShelf();
    const first = runtime.resources.read('note://1', { server: 'notes' });
    await clock.advance(0);
    await edit({ logLevel: 'error' });
    expect(raw.received('initialize')).toHaveLength(1);
    held.shift()?.();
    expect((await first).contents).toMatchObject([{ text: 'read' }]);
    await clock.advance(0);
    expect(raw.received('initialize')).toHaveLength(2);
    const second = runtime.resources.read('note://1', { server: 'notes' });
    await clock.advance(0);
    await edit({ logLevel: 'alert' });
    await clock.advance(limits.restartDrainMs);
    expect([raw.received('initialize').length, raw.received('resources/read').length]).toEqual([3, 3]);
    held.at(-1)?.();
    expect((await second).contents).toMatchObject([{ text: 'read' }]);
  });

  verifies(['LIF-07', 'RES-04'], 'are told of as long as the old session lives, and by the new one', async () => {
    const { raw, runtime, clock, edit, held } = await startShelf();
    const heard: string[] = [];
    const subscribing = runtime.resources.subscribe('note://1', ({ uri }) => heard.push(uri), { server: 'notes' });
    await clock.advance(0);
    await subscribing;
    const reading = runtime.resources.read('note://1', { server: 'notes' });
    await clock.advance(0);
    await edit({ logLevel: 'error' });
    await raw.say('notifications/resources/updated', { uri: 'note://1' });
    await clock.advance(limits.updates.gatherMs);
    expect([heard, raw.received('resources/subscribe').length]).toEqual([['note://1'], 1]);
    held.shift()?.();
    await reading;
    await clock.advance(limits.updates.gatherMs);
    expect([heard, raw.received('resources/subscribe').length], 'what may have been missed').toEqual([
      ['note://1', 'note://1'],
      2,
    ]);
    await raw.say('notifications/resources/updated', { uri: 'note://1' });
    await clock.advance(limits.updates.gatherMs);
    expect(heard).toHaveLength(3);
  });

  verifies(['LIF-07', 'RES-04'], 'are followed or not as the setting says now', async () => {
    const { raw, runtime, clock, edit, held } = await startShelf();
    const read = async () => {
      const reading = runtime.resources.read('note://1', { server: 'notes' });
      await clock.advance(0);
      held.shift()?.();
      await reading;
      await clock.advance(0);
      return ['subscribe', 'unsubscribe'].map((each) => raw.received(`resources/${each}`).length);
    };
    expect(await read()).toEqual([0, 0]);
    await edit({ subscriptions: true });
    expect(await read()).toEqual([1, 0]);
    await edit({});
    expect(await read()).toEqual([1, 1]);
    expect(raw.received('initialize')).toHaveLength(1);
  });
});

describe('two runtimes that share a server', () => {
  verifies(['LIF-07', 'EXT-13'], 'share it on with other live settings, each by its own', async () => {
    const { server, pids, write, start: open, folder } = createWorld();
    for (const file of ['one.json', 'other.json']) write(file, server());
    const [one, other] = [
      await open({ config: join(folder, 'one.json') }),
      await open({ config: join(folder, 'other.json') }),
    ];
    write('other.json', { ...server(), title: 'mine', enabledTools: ['echo'] });
    await other.reload();
    expect([pidOf(one), pidOf(other)]).toEqual([pids()[0], pids()[0]]);
    expect([toolsOf(other), toolsOf(one).length > 1]).toEqual([['echo'], true]);
  });

  verifies(
    ['LIF-07', 'EXT-13'],
    'part when one restarts, which waits for its own calls and not for the other’s',
    async () => {
      const { server, pids, write, start: open, folder, begin } = createWorld();
      for (const file of ['one.json', 'other.json']) write(file, server());
      const [one, other] = [
        await open({ config: join(folder, 'one.json') }),
        await open({ config: join(folder, 'other.json') }),
      ];
      const { answer, finish } = await begin(one);
      write('other.json', { ...server(), logLevel: 'error' });
      await other.reload();
      expect(await echo(other, 'at once')).toBe('at once');
      expect([pidOf(one), pidOf(other)]).toEqual(pids());
      finish();
      expect(await answer).toContain('Ada');
    },
  );
});

describe('a view with a server of its own', () => {
  verifies(['LIF-07', 'EXT-13'], 'has it restarted as others have, in the same moment', async () => {
    const { server, pids, write, start: open, folder, begin } = createWorld();
    write('one.json', server());
    const runtime = await open({ config: join(folder, 'one.json') });
    const view = runtime.view({ perClient: true });
    const { answer, finish } = await begin(view);
    const [, own = 0] = pids();
    write('one.json', { ...server(), title: 'live' });
    await runtime.reload();
    write('one.json', server('--tools', '1'));
    await runtime.reload();
    const next = echo(view, 'next');
    finish();
    expect([await answer, await next]).toEqual([expect.stringContaining('Ada'), 'next']);
    expect(isRunning(own)).toBe(false);
    await eventually(() => pids().length === 4);
  });

  verifies(['LIF-07', 'EXT-13'], 'goes over to the shared one where the entry says so, after its calls', async () => {
    const { server, pids, write, start: open, folder, begin } = createWorld();
    write('one.json', { ...server(), perClient: true });
    const runtime = await open({ config: join(folder, 'one.json') });
    const view = runtime.view();
    const { answer, finish } = await begin(view);
    const [, own = 0] = pids();
    write('one.json', server());
    await runtime.reload();
    expect([await echo(view, 'shared'), isRunning(own)]).toEqual(['shared', true]);
    finish();
    expect(await answer).toContain('Ada');
    await eventually(() => !isRunning(own));
    expect(pids()).toHaveLength(3);
  });

  verifies(['LIF-07', 'TDN-02'], 'cuts what still drains when it is closed', async () => {
    const { server, pids, write, start: open, folder, begin } = createWorld();
    write('one.json', { ...server(), perClient: true });
    const runtime = await open({ config: join(folder, 'one.json') });
    const view = runtime.view();
    const { answer } = await begin(view);
    const [, own = 0] = pids();
    write('one.json', server());
    await runtime.reload();
    await view.close();
    expect([await answer, isRunning(own)]).toEqual(['OUTCOME_UNKNOWN', false]);
  });
});
