// Owns the proof, with real processes, that servers come up, are lost, come back and go away as promised.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Runtime, RuntimeOptions } from '../../src/api.ts';
import type { RuntimeEvent } from '../../src/events.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createMemoryStore } from '../../src/kernel/store.ts';
import { createRuntime } from '../../src/runtime.ts';
import { createFakeServer } from '../../src/testing/fake-server.ts';
import { hostile } from '../servers/hostile.ts';
import { eventually, isRunning, pidsIn } from '../servers/processes.ts';
import { verifies } from '../verifies.ts';

let folder: string;
let open: Runtime[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plexus-lifecycle-'));
  open = [];
});

afterEach(async () => {
  await Promise.all(open.map((runtime) => runtime.close()));
  rmSync(folder, { recursive: true, force: true });
});

const allow = [{ tool: 'mcp__*', action: 'allow' as const }];

async function start(options: RuntimeOptions): Promise<Runtime & { events: RuntimeEvent[] }> {
  const events: RuntimeEvent[] = [];
  const runtime = await createRuntime({
    discover: false,
    cwd: folder,
    home: folder,
    store: createMemoryStore(systemClock),
    permissions: allow,
    interactive: false,
    onEvent: (event) => events.push(event),
    ...options,
  });
  open.push(runtime);
  return { ...runtime, events };
}

const statusOf = (runtime: Runtime, name: string) => runtime.status().find((each) => each.name === name);

verifies(
  ['LIF-02', 'LIF-09'],
  'a legacy server is initialized, listed and called, on the one process it was given',
  async () => {
    const pids = join(folder, 'pids');
    const runtime = await start({ servers: { old: hostile('--pid-file', pids) } });
    expect(statusOf(runtime, 'old')).toMatchObject({ status: 'connected', state: 'connected', protocol: '2025-11-25' });
    const { text } = await runtime.turn().call('mcp__old__echo', { text: 'hello' });
    expect(text).toContain('hello');
    expect(pidsIn(pids)).toEqual([statusOf(runtime, 'old')?.pid]);
  },
);

verifies('LIF-09', 'a modern server is discovered, listed and called, on the one process it was given', async () => {
  const pids = join(folder, 'pids');
  const runtime = await start({ servers: { new: hostile('--era', 'modern', '--pid-file', pids) } });
  expect(statusOf(runtime, 'new')).toMatchObject({ status: 'connected', protocol: '2026-07-28' });
  expect((await runtime.turn().call('mcp__new__add', { a: 2, b: 3 })).text).toContain('5');
  expect(pidsIn(pids)).toHaveLength(1);
});

verifies('LIF-09', 'a server that is silent on the probe, or dies of it, is spoken to in the older era', async () => {
  const runtime = await start({
    servers: { mute: hostile('--silent-discover'), frail: hostile('--exit-on-discover') },
  });
  expect(runtime.status().map(({ name, status, protocol }) => [name, status, protocol])).toEqual([
    ['frail', 'connected', '2025-11-25'],
    ['mute', 'connected', '2025-11-25'],
  ]);
});

verifies(
  'LIF-09',
  'a modern server that starts slower than the probe waits is found to be modern all the same',
  async () => {
    const runtime = await start({ servers: { slow: hostile('--era', 'modern', '--slow', '1500') } });
    expect(statusOf(runtime, 'slow')).toMatchObject({ status: 'connected', protocol: '2026-07-28' });
  },
);

verifies('LIF-10', 'only what has a handler is advertised, and in both eras the caller’s handler answers', async () => {
  const asked: string[] = [];
  const servers = { old: hostile(), new: hostile('--era', 'modern') };
  const runtime = await start({
    servers,
    elicit: async ({ server, message }) => {
      asked.push(`${server}: ${message}`);
      return { action: 'accept', content: { name: 'Ada' } };
    },
  });
  const answers = await Promise.all(['old', 'new'].map((name) => runtime.turn().call(`mcp__${name}__ask`)));
  expect(answers.map(({ isError, text }) => [isError, text.includes('Ada')])).toEqual([
    [false, true],
    [false, true],
  ]);
  expect(asked.map((line) => line.split(':')[0]).sort()).toEqual(['new', 'old']);

  const without = await start({ servers });
  const declined = await Promise.all(['old', 'new'].map((name) => without.turn().call(`mcp__${name}__ask`)));
  expect(declined.map(({ text }) => text.includes('Ada'))).toEqual([false, false]);
});

verifies(['LIF-05', 'LIF-04'], 'a server is seen as connecting from the first moment', async () => {
  const runtime = await start({
    servers: { stalled: hostile('--stall', 'everything') },
    startup: { whenUncached: 'background', gateMs: 1 },
  });
  expect(statusOf(runtime, 'stalled')).toMatchObject({ status: 'connecting', state: 'connecting', toolCount: 0 });
});

verifies(['LIF-11', 'LIF-12'], 'a server that never answers is given up in time, and its process is gone', async () => {
  const pids = join(folder, 'pids');
  const stalled = {
    ...hostile('--stall', 'initialize', '--pid-file', pids, '--stderr', '20'),
    startupTimeoutMs: 1_200,
  };
  const runtime = await start({ servers: { stalled } });
  expect(statusOf(runtime, 'stalled')?.error).toMatchObject({ code: 'STARTUP_TIMEOUT', remedy: 'retry-later' });
  expect(statusOf(runtime, 'stalled')?.error?.message).toMatch(/within 1\.2 s.*stderr/s);
  const [first = 0] = pidsIn(pids);
  await eventually(() => !isRunning(first));
});

verifies(['CFG-18', 'LIF-01'], 'one broken server of several costs itself, and every change is one event', async () => {
  const runtime = await start({
    servers: {
      well: createFakeServer({ hello: { run: () => 'hi' } }).entry,
      missing: { command: 'plexus-no-such-command' },
      dies: hostile('--exit', '3'),
    },
  });
  const failures = runtime.status().map(({ name, state, error }) => [name, state, error?.code]);
  expect(failures).toEqual([
    ['dies', 'reconnecting', 'CONNECTION_LOST'],
    ['missing', 'blocked', 'SPAWN_FAILED'],
    ['well', 'connected', undefined],
  ]);
  expect(statusOf(runtime, 'dies')?.error?.message).toContain('exited with code 3');
  const changes = runtime.events.filter((event) => event.type === 'connection.changed' && event.server !== 'dies');
  expect(changes.map((event) => 'to' in event && [event.server, event.from, event.to]).sort()).toEqual([
    ['missing', 'connecting', 'blocked'],
    ['missing', 'idle', 'connecting'],
    ['well', 'connecting', 'ready'],
    ['well', 'idle', 'connecting'],
  ]);
  expect(runtime.events.find((event) => event.type === 'startup.completed')).toMatchObject({
    ready: ['well'],
    notReady: [
      { server: 'dies', state: 'reconnecting' },
      { server: 'missing', state: 'blocked' },
    ],
  });
});

test('a killed server comes back by itself, and its tools stay visible meanwhile', async () => {
  const runtime = await start({ servers: { mortal: hostile() } });
  const before = runtime.turn().revision;
  process.kill(statusOf(runtime, 'mortal')?.pid ?? 0, 'SIGKILL');
  await eventually(() => statusOf(runtime, 'mortal')?.status === 'connecting');
  expect(runtime.turn().revision).toBe(before);
  await eventually(() => statusOf(runtime, 'mortal')?.status === 'connected');
  expect((await runtime.turn().call('mcp__mortal__echo', { text: 'back' })).text).toContain('back');
  expect(runtime.turn().revision).toBe(before);
});

test('a call in flight when its server dies ends at once, and says that the outcome is unknown', async () => {
  const runtime = await start({ servers: { mortal: hostile() } });
  const call = runtime.turn().call('mcp__mortal__sleep', { ms: 60_000 });
  process.kill(statusOf(runtime, 'mortal')?.pid ?? 0, 'SIGKILL');
  await expect(call).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN', remedy: 'check-first' });
});

verifies(
  'TDN-01',
  'a disconnected server is gone with its process and with its own tools, and with no one else’s',
  async () => {
    const runtime = await start({
      servers: { a: hostile(), a_b: createFakeServer({ keep: { run: () => '' } }).entry },
    });
    const pid = statusOf(runtime, 'a')?.pid ?? 0;
    const frozen = runtime.turn();
    await runtime.disconnect('a');
    expect({ running: isRunning(pid), tools: runtime.turn().tools.map(({ name }) => name) }).toEqual({
      running: false,
      tools: ['mcp__a_b__keep'],
    });
    await expect(frozen.call('mcp__a__echo', { text: '' })).rejects.toMatchObject({ code: 'SERVER_UNKNOWN' });
  },
);

verifies('TDN-05', 'what a disconnect takes out of the catalog is told by name', async () => {
  const runtime = await start({ servers: { a: createFakeServer({ x: { run: () => '' } }).entry } });
  await runtime.disconnect('a');
  expect(runtime.events.filter((event) => event.type === 'catalog.changed')).toMatchObject([
    { added: ['mcp__a__x'], removed: [] },
    { added: [], removed: ['mcp__a__x'] },
  ]);
});

verifies(
  ['TDN-03', 'EXT-08'],
  'a close leaves nothing, though a server ignores EOF and SIGTERM and has a grandchild',
  async () => {
    const pids = join(folder, 'pids');
    const runtime = await start({
      servers: { stubborn: hostile('--ignore-eof', '--ignore-sigterm', '--grandchild', '--pid-file', pids) },
    });
    await eventually(() => pidsIn(pids).length === 2);
    const startedAt = Date.now();
    await runtime.close();
    expect(pidsIn(pids).map(isRunning)).toEqual([false, false]);
    expect(Date.now() - startedAt).toBeLessThan(10_000);
  },
);

verifies(
  ['TDN-02', 'TDN-04'],
  'a runtime is disposed of with all its servers, also in the middle of a start',
  async () => {
    const pids = join(folder, 'pids');
    const runtime = await start({
      servers: { one: hostile('--pid-file', pids), two: hostile('--stall', 'everything', '--pid-file', pids) },
      startup: { whenUncached: 'background', gateMs: 1 },
    });
    await eventually(() => pidsIn(pids).length === 2);
    await runtime[Symbol.asyncDispose]();
    expect(pidsIn(pids).map(isRunning)).toEqual([false, false]);
    expect(runtime.status().map(({ status }) => status)).toEqual(['disconnected', 'disconnected']);
  },
);

test('a reload keeps what did not change, replaces what did, and closes what is gone', async () => {
  const file = join(folder, 'fleet.json');
  const write = (servers: unknown) => writeFileSync(file, JSON.stringify({ mcpServers: servers }));
  write({ kept: hostile(), changed: hostile(), gone: hostile() });
  const runtime = await start({ discover: true, config: file });
  const pid = (name: string) => statusOf(runtime, name)?.pid ?? 0;
  const before = { kept: pid('kept'), changed: pid('changed'), gone: pid('gone') };
  write({ kept: hostile(), changed: hostile('--tools', '1'), added: hostile() });
  await runtime.reload();
  await runtime.ready();
  expect(runtime.status().map(({ name, status }) => [name, status])).toEqual([
    ['added', 'connected'],
    ['changed', 'connected'],
    ['kept', 'connected'],
  ]);
  expect(pid('kept')).toBe(before.kept);
  expect([before.changed, before.gone].map(isRunning)).toEqual([false, false]);
});

verifies(
  'TRU-01',
  'a server that a file in the workspace defines does not start before a person approved it',
  async () => {
    const pids = join(folder, 'pids');
    writeFileSync(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: { theirs: hostile('--pid-file', pids) } }));
    const env = { PATH: process.env['PATH'], HOME: folder };
    const runtime = await start({ discover: true, env });
    expect(statusOf(runtime, 'theirs')).toMatchObject({
      status: 'disconnected',
      state: 'needs-approval',
      error: { code: 'SERVER_UNTRUSTED', remedy: 'ask-user' },
    });
    expect(pidsIn(pids)).toEqual([]);

    const requests: unknown[] = [];
    const asked = await start({
      discover: true,
      env,
      approve: async (request) => {
        requests.push(request.kind);
        return 'once';
      },
    });
    expect(statusOf(asked, 'theirs')?.status).toBe('connected');
    expect(requests).toEqual(['server']);
  },
);
