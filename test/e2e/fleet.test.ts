// Owns the proof of how a fleet as a whole behaves: who is started when, who is waited for, what stays when files change, and
// that a server in process is one like any other. Who shares a connection with whom is in `sharing.test.ts`.

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMemoryStore } from '../../src/kernel/store.ts';
import { limits } from '../../src/model/limits.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { faulty } from '../servers/faulty.ts';
import { eventually, isRunning, pidsIn } from '../servers/processes.ts';
import { createTappedServer } from '../unit/call/journey.ts';
import { endOf } from '../unit/call/stages.ts';
import { verifies } from '../verifies.ts';
import { createFolder, createRawServer, type Started, start, statusOf, textOf } from './runtimes.ts';

const freshnessOf = (runtime: Started) => runtime.turn().tools.map(({ name, freshness }) => `${name} ${freshness}`);
const reader = () => createTappedServer({ read: { run: () => 'done' } });

/** Runtimes one after the other, with one memory and one time. */
function createWorld() {
  const clock = createFakeClock();
  return { folder: createFolder(), clock, store: createMemoryStore(clock) };
}

/** Starts lazy servers once, to learn their tools. */
const atStart = { startup: { lazyList: 'at-start' } } as const;

describe('a lazy server', () => {
  verifies('TRN-09', 'that was never listed is started when the model asks for it, and then shown', async () => {
    const { folder, ...world } = createWorld();
    const [server, other] = [reader(), reader()];
    const about = { lifecycle: 'lazy', description: 'Documents of the team.' } as const;
    const servers = { files: { ...server.entry, ...about }, other: { ...other.entry, lifecycle: 'lazy' as const } };
    const runtime = await start(folder, { ...world, servers });
    expect([server.starts(), other.starts(), statusOf(runtime, 'files').state]).toEqual([0, 0, 'idle']);
    const turn = runtime.turn();
    expect(turn.tools.map(({ name, description }) => [name, description])).toEqual([
      [
        'mcp_start',
        'Start a server whose tools are not known yet, and load them. Servers: files (Documents of the team.), other',
      ],
    ]);
    const unknown = await turn.call('mcp_start', { server: 'filse' });
    expect([unknown.isError, unknown.text]).toEqual([true, expect.stringContaining('Did you mean files?')]);
    expect(server.starts()).toBe(0);
    const started = await turn.call('mcp_start', { server: 'files' });
    expect(started.structured).toEqual({ tools: [{ name: 'mcp__files__read', server: 'files', loaded: true }] });
    expect([server.starts(), other.starts()]).toEqual([1, 0]);
    expect(freshnessOf(runtime)).toEqual(['mcp__files__read live', 'mcp_start live']);
    expect(textOf(await runtime.turn().call('mcp__files__read'))).toBe('done');
    await runtime.turn().call('mcp_start', { server: 'other' });
    expect(freshnessOf(runtime), 'none is left').toEqual(['mcp__files__read live', 'mcp__other__read live']);
  });

  verifies('TRN-09', 'is started to learn its tools where the setting says so', async () => {
    const { folder, ...world } = createWorld();
    const server = reader();
    const servers = { files: { ...server.entry, lifecycle: 'lazy' as const } };
    const config = join(folder, 'fleet.json');
    writeFileSync(config, JSON.stringify({ plexus: { lazyList: 'at-start' } }));
    const runtime = await start(folder, { ...world, discover: true, config, watch: false, servers });
    expect([server.starts(), freshnessOf(runtime)]).toEqual([1, ['mcp__files__read live']]);
  });

  verifies('TRN-09', 'is not started by waiting for all servers, by a reload or by other servers’ calls', async () => {
    const { folder, ...world } = createWorld();
    const [server, other] = [reader(), reader()];
    const servers = { files: { ...server.entry, lifecycle: 'lazy' as const }, other: other.entry };
    await (await start(folder, { ...world, ...atStart, servers })).close();
    const before = server.starts();
    const runtime = await start(folder, { ...world, servers });
    await runtime.ready();
    await runtime.reload();
    expect(await runtime.ready()).toEqual({ ready: ['other'], notReady: [] });
    expect(textOf(await runtime.turn().call('mcp__other__read'))).toBe('done');
    expect([server.starts() - before, freshnessOf(runtime)]).toEqual([
      0,
      ['mcp__files__read cached', 'mcp__other__read live'],
    ]);
    expect(textOf(await runtime.turn().call('mcp__files__read'))).toBe('done');
    expect(server.starts() - before).toBe(1);
  });

  verifies('TRN-09', 'that was never listed is told by a search for its name or description', async () => {
    const { folder, ...world } = createWorld();
    const about = { lifecycle: 'lazy', description: 'Documents of the team.' } as const;
    const servers = { files: { ...reader().entry, ...about }, up: reader().entry };
    const config = { extraSources: [{ name: 'editor', read: () => ({ plexus: { toolSearch: 'on' } }) }] };
    const runtime = await start(folder, { ...world, ...config, servers });
    const hint = 'Server "files" has not been started: mcp_start starts it and loads its tools.';
    for (const query of ['team documents', 'files'])
      expect(textOf(await runtime.turn().call('mcp_search', { query })), query).toContain(hint);
    expect(textOf(await runtime.turn().call('mcp_search', { query: 'weather' }))).not.toContain(hint);
    const permissions = [{ tool: 'mcp__files__*', action: 'deny' }] as const;
    const denied = await start(folder, { ...world, ...config, servers, permissions });
    expect(textOf(await denied.turn().call('mcp_search', { query: 'files' }))).not.toContain(hint);
  });

  verifies('TRN-09', 'is started without a question, unless a rule asks about its tools', async () => {
    const { folder, ...world } = createWorld();
    const server = reader();
    const servers = { files: { ...server.entry, lifecycle: 'lazy' as const } };
    const asking = [{ tool: 'mcp__files__*', action: 'ask' }] as const;
    const asked = await start(folder, { ...world, servers, permissions: asking });
    expect(await endOf(asked.turn().call('mcp_start', { server: 'files' }))).toBe('APPROVAL_REFUSED');
    expect(server.starts()).toBe(0);
    const free = await start(folder, { ...world, servers, permissions: [] });
    expect((await free.turn().call('mcp_start', { server: 'files' })).isError).toBe(false);
    expect(server.starts()).toBe(1);
    expect(await endOf(free.turn().call('mcp__files__read')), 'its tools ask as ever').toBe('APPROVAL_REFUSED');
  });

  verifies('TRN-09', 'that no rule lets the model use is not offered', async () => {
    const { folder, ...world } = createWorld();
    const servers = { files: { ...reader().entry, lifecycle: 'lazy' as const } };
    const permissions = [{ tool: 'mcp__files__*', action: 'deny' }] as const;
    expect((await start(folder, { ...world, servers, permissions })).turn().tools).toEqual([]);
  });

  verifies(
    'TRN-11',
    'is started once to learn its tools where that is wanted, and from then on by its first call',
    async () => {
      const { folder, ...world } = createWorld();
      const server = reader();
      const servers = { files: { ...server.entry, lifecycle: 'lazy' as const } };
      const first = await start(folder, { ...world, servers, ...atStart });
      expect([server.starts(), freshnessOf(first)]).toEqual([1, ['mcp__files__read live']]);
      await first.close();

      const second = await start(folder, { ...world, servers });
      expect([server.starts(), freshnessOf(second)]).toEqual([1, ['mcp__files__read cached']]);
      expect(statusOf(second, 'files')).toMatchObject({
        ...{ state: 'idle', status: 'disconnected', toolCount: 1, lifecycle: 'lazy' },
      });
      expect(await second.ready(), 'it is where it should be').toEqual({ ready: [], notReady: [] });
      expect(textOf(await second.turn().call('mcp__files__read'))).toBe('done');
      await second.ready();
      expect([server.starts(), freshnessOf(second), statusOf(second, 'files').state]).toEqual([
        2,
        ['mcp__files__read live'],
        'connected',
      ]);
    },
  );

  verifies('TRN-11', 'that fails to start when it is called says so, and its tools stay', async () => {
    const { folder, ...world } = createWorld();
    const server = reader();
    const servers = { files: { ...server.entry, lifecycle: 'lazy' as const, reconnect: 'none' as const } };
    await (await start(folder, { ...world, servers, ...atStart })).close();
    server.fails = true;
    const runtime = await start(folder, { ...world, servers });
    expect(await endOf(runtime.turn().call('mcp__files__read'))).toBe('CONNECTION_LOST');
    expect(freshnessOf(runtime)).toEqual(['mcp__files__read cached']);
  });

  test('shows from memory only what its entry offers now', async () => {
    const { folder, ...world } = createWorld();
    const server = createTappedServer({ read: { run: () => 'done' }, write: { run: () => 'done' } });
    const entry = { ...server.entry, lifecycle: 'lazy' as const };
    await (await start(folder, { ...world, servers: { files: entry }, ...atStart })).close();
    const runtime = await start(folder, { ...world, servers: { files: { ...entry, disabledTools: ['write'] } } });
    expect([server.starts(), freshnessOf(runtime)]).toEqual([1, ['mcp__files__read cached']]);
    await expect(runtime.turn().call('mcp__files__write')).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' });
  });

  test('that is asked for by name is started now', async () => {
    const { folder, ...world } = createWorld();
    const [one, other] = [reader(), reader()];
    const lazy = { lifecycle: 'lazy' } as const;
    const servers = { one: { ...one.entry, ...lazy }, other: { ...other.entry, ...lazy } };
    await (await start(folder, { ...world, servers, ...atStart })).close();
    const runtime = await start(folder, { ...world, servers, only: ['one'] });
    expect([one.starts(), other.starts()]).toEqual([2, 1]);
    expect(runtime.status().map(({ name, state }) => [name, state])).toEqual([
      ['one', 'connected'],
      ['other', 'disabled'],
    ]);
  });

  verifies('LIF-07', 'keeps its tools when its entry changes in something that does not concern them', async () => {
    const folder = createFolder();
    const file = join(folder, 'fleet.json');
    const pids = join(folder, 'pids');
    const write = (title: string) => {
      const entry = { ...faulty('--pid-file', pids), lifecycle: 'lazy', title };
      writeFileSync(file, JSON.stringify({ mcpServers: { files: entry } }));
    };
    write('before');
    const { store } = createWorld();
    await (await start(folder, { discover: true, config: file, store, ...atStart })).close();
    const runtime = await start(folder, { discover: true, config: file, store });
    const before = freshnessOf(runtime);
    expect(before).toContain('mcp__files__echo cached');
    write('after');
    await runtime.reload();
    expect([statusOf(runtime, 'files').title, freshnessOf(runtime), pidsIn(pids).length]).toEqual(['after', before, 1]);
    expect(textOf(await runtime.turn().call('mcp__files__echo', { text: 'hello' }))).toBe('hello');
  });
});

describe('a manual server', () => {
  verifies('TRN-11', 'is started by a person only, and says so to a call', async () => {
    const { folder, ...world } = createWorld();
    const server = reader();
    const servers = { files: { ...server.entry, lifecycle: 'manual' as const } };
    const first = await start(folder, { ...world, servers });
    expect([server.starts(), freshnessOf(first), await first.ready()]).toEqual([0, [], { ready: [], notReady: [] }]);
    first.reconnect('files');
    expect(await first.ready()).toEqual({ ready: ['files'], notReady: [] });
    expect(textOf(await first.turn().call('mcp__files__read'))).toBe('done');
    await first.close();

    const second = await start(folder, { ...world, servers });
    expect(freshnessOf(second)).toEqual(['mcp__files__read cached']);
    await expect(second.turn().call('mcp__files__read')).rejects.toMatchObject({
      code: 'SERVER_DENIED',
      data: { because: expect.stringContaining('by hand') },
    });
    expect(server.starts()).toBe(1);
  });
});

verifies(
  'TRN-10',
  'a server that nobody calls is stopped; its tools stay on offer, and a call brings it back',
  async () => {
    const { folder, ...world } = createWorld();
    const server = reader();
    const runtime = await start(folder, { ...world, servers: { files: { ...server.entry, idleStopMs: 300_000 } } });
    const { revision } = runtime.turn();
    await world.clock.advance(299_999);
    expect(statusOf(runtime, 'files').state).toBe('connected');
    await world.clock.advance(1);
    expect(statusOf(runtime, 'files')).toMatchObject({ state: 'idle', status: 'disconnected', toolCount: 1 });
    expect([freshnessOf(runtime), runtime.turn().revision]).toEqual([['mcp__files__read stale'], revision]);
    await world.clock.advance(3_600_000);
    expect([server.starts(), await runtime.ready()]).toEqual([1, { ready: [], notReady: [] }]);
    expect(await runtime.turn().call('mcp__files__read')).toMatchObject({ isError: false, meta: { attempts: 1 } });
    await runtime.ready();
    expect([server.starts(), freshnessOf(runtime)]).toEqual([2, ['mcp__files__read live']]);
  },
);

describe('a required server', () => {
  const dead = { ...faulty('--fault=exit', '--at=open'), required: true, reconnect: 'none' as const };

  verifies('EXT-10', 'that is not ready ends a start that nobody watches, and nothing is left of it', async () => {
    const folder = createFolder();
    const pids = join(folder, 'pids');
    const starting = start(folder, { servers: { dead, well: faulty('--pid-file', pids) } });
    await expect(starting).rejects.toMatchObject({
      code: 'REQUIRED_NOT_READY',
      exitCode: 4,
      data: { missing: [{ server: 'dead', state: 'failed', message: expect.stringContaining('code 3') }] },
    });
    expect(pidsIn(pids).map(isRunning)).toEqual([false]);
  });

  verifies('EXT-10', 'is only reported where a person is there, or a host wants to see for itself', async () => {
    for (const options of [{ required: 'report' }, { interactive: true }] as const) {
      const runtime = await start(createFolder(), { servers: { dead, well: faulty() }, ...options });
      expect(await runtime.ready()).toMatchObject({ ready: ['well'], notReady: [{ server: 'dead', state: 'failed' }] });
      expect(runtime.events.find(({ type }) => type === 'startup.completed')).toBeDefined();
    }
  });

  verifies('EXT-10', 'is waited for beyond the time that others get, its further attempts included', async () => {
    const folder = createFolder();
    const world = { ...createWorld(), startup: { waitMs: 1 } };
    const server = reader();
    server.fails = true;
    const starting = start(folder, { ...world, servers: { files: { ...server.entry, required: true } } });
    await eventually(() => server.starts() === 1);
    await world.clock.advance(100);
    server.fails = false;
    await world.clock.advance(10_000);
    const runtime = await starting;
    expect([server.starts(), statusOf(runtime, 'files').state]).toEqual([2, 'connected']);
  });

  verifies('EXT-10', 'that is disabled is required of nobody', async () => {
    const runtime = await start(createFolder(), { servers: { off: { ...dead, enabled: false }, well: faulty() } });
    expect(await runtime.ready()).toEqual({ ready: ['well'], notReady: [] });
  });
});

describe('connecting many', () => {
  verifies('LIF-08', 'three servers that never answer hold a fourth back for a moment only', async () => {
    const stalled = () => faulty('--fault=hang', '--at=any');
    const runtime = await start(createFolder(), {
      servers: { a: stalled(), b: stalled(), c: stalled(), d: faulty() },
      startup: { whenUncached: 'background', gateMs: 1 },
    });
    // Sooner than the stall of another would end: that takes a minute.
    await eventually(() => statusOf(runtime, 'd').status === 'connected');
    expect(['a', 'b', 'c'].map((name) => statusOf(runtime, name).status)).toEqual([
      'connecting',
      'connecting',
      'connecting',
    ]);
  });
});

describe('a configuration that changes', () => {
  function createFile() {
    const folder = createFolder();
    const file = join(folder, 'fleet.json');
    const write = (servers: unknown) => writeFileSync(file, JSON.stringify({ mcpServers: servers }));
    return { folder, file, write };
  }

  verifies('LIF-07', 'keeps what did not change, replaces what did and closes what is gone', async () => {
    const { folder, file, write } = createFile();
    write({ kept: faulty(), changed: faulty(), gone: faulty() });
    const runtime = await start(folder, { discover: true, config: file, watch: false });
    const pids = () => Object.fromEntries(runtime.status().map(({ name, pid = 0 }) => [name, pid]));
    const before = pids();
    write({ kept: faulty(), changed: faulty('--tools', '1'), added: faulty() });
    await runtime.reload();
    expect(await runtime.ready()).toEqual({ ready: ['added', 'changed', 'kept'], notReady: [] });
    const after = pids();
    expect(after['kept']).toBe(before['kept']);
    expect(after['changed']).not.toBe(before['changed']);
    expect([before['changed'], before['gone']].map((pid) => isRunning(pid ?? 0))).toEqual([false, false]);
    expect(runtime.turn().tools.filter(({ id }) => id.server === 'gone')).toEqual([]);
  });

  verifies('LIF-07', 'starts everything over where that is asked for', async () => {
    const { folder, file, write } = createFile();
    write({ kept: faulty() });
    const runtime = await start(folder, { discover: true, config: file, watch: false });
    const { pid = 0 } = statusOf(runtime, 'kept');
    await runtime.reload({ replaceAll: true });
    expect(await runtime.ready()).toEqual({ ready: ['kept'], notReady: [] });
    expect([statusOf(runtime, 'kept').pid === pid, isRunning(pid)]).toEqual([false, false]);
  });

  verifies(
    'LIF-07',
    'starts everything over also where another runtime shares the process, which keeps it',
    async () => {
      const { folder, file, write } = createFile();
      write({ kept: faulty() });
      const options = { discover: true, config: file, watch: false };
      const [one, other] = [await start(folder, options), await start(folder, options)];
      const { pid = 0 } = statusOf(other, 'kept');
      expect(statusOf(one, 'kept').pid).toBe(pid);
      await one.reload({ replaceAll: true });
      expect(await one.ready()).toEqual({ ready: ['kept'], notReady: [] });
      expect([statusOf(one, 'kept').pid === pid, statusOf(other, 'kept').pid, isRunning(pid)]).toEqual([
        false,
        pid,
        true,
      ]);
    },
  );

  test('does not bring back what was disconnected, nor its tools', async () => {
    const { folder, file, write } = createFile();
    write({ lazy: { ...faulty(), lifecycle: 'lazy' }, eager: faulty() });
    const runtime = await start(folder, { discover: true, config: file, watch: false });
    for (const name of ['lazy', 'eager']) await runtime.disconnect(name);
    await runtime.reload();
    expect(runtime.status().map(({ state }) => state)).toEqual(['stopped', 'stopped']);
    expect(runtime.turn().tools).toEqual([]);
  });

  verifies(
    'LIF-15',
    'is noticed by itself, and touches nothing else; a turn that has begun keeps what it saw',
    async () => {
      const { folder, file, write } = createFile();
      write({ kept: faulty() });
      const runtime = await start(folder, { discover: true, config: file });
      const turn = runtime.turn();
      const { pid } = statusOf(runtime, 'kept');
      write({ kept: faulty(), added: faulty('--tools', '1') });
      await eventually(() => runtime.status().some(({ name, status }) => name === 'added' && status === 'connected'));
      expect(statusOf(runtime, 'kept').pid).toBe(pid);
      expect(turn.tools.every(({ id }) => id.server === 'kept')).toBe(true);
      expect(textOf(await turn.call('mcp__kept__echo', { text: 'still' }))).toBe('still');
    },
  );
});

describe('a server in process', () => {
  verifies('EXT-25', 'is listed, called, lost and found again like any other', async () => {
    const { folder, ...world } = createWorld();
    const server = reader();
    const runtime = await start(folder, { ...world, servers: { inside: server.entry } });
    expect(statusOf(runtime, 'inside')).toMatchObject({
      ...{ status: 'connected', transport: 'in-process', protocol: '2025-11-25', era: 'legacy', toolCount: 1 },
    });
    expect(textOf(await runtime.turn().call('mcp__inside__read'))).toBe('done');
    await server.crash();
    await world.clock.advance(0);
    expect(statusOf(runtime, 'inside')).toMatchObject({ state: 'reconnecting', stage: 'running' });
    await world.clock.advance(1_000);
    expect(textOf(await runtime.turn().call('mcp__inside__read'))).toBe('done');
    await runtime.close();
    expect([statusOf(runtime, 'inside').state, world.clock.pending()]).toEqual(['stopped', 0]);
  });

  verifies('EXT-25', 'is not shared: every runtime has its own', async () => {
    const { folder, ...world } = createWorld();
    const server = reader();
    await start(folder, { ...world, servers: { inside: server.entry } });
    await start(folder, { ...world, servers: { inside: server.entry } });
    expect(server.starts()).toBe(2);
  });
});

verifies(
  ['LIF-03', 'REC-08'],
  'a server that wants a login needs one, is not down, and is not asked again',
  async () => {
    let asked = 0;
    const web = createServer((request, response) => {
      asked += 1;
      request.resume();
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    });
    onTestFinished(() => void web.close());
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    const { port } = web.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/mcp`;
    const runtime = await start(createFolder(), { servers: { web: { url, transport: 'http' } } });
    expect(statusOf(runtime, 'web')).toMatchObject({
      ...{ state: 'needs-auth', status: 'disconnected', stage: 'login' },
      error: { code: 'AUTH_REQUIRED', remedy: 'log-in' },
    });
    const before = asked;
    expect(await runtime.ready()).toMatchObject({ ready: [], notReady: [{ server: 'web', state: 'needs-auth' }] });
    expect(asked).toBe(before);
  },
);

describe('a server whose list fails', () => {
  verifies(
    ['ERR-04', 'REC-13'],
    'stays connected, says why, and is asked again after 250, 500 and 1000 ms',
    async () => {
      const { folder, ...world } = createWorld();
      const odd = createRawServer(
        { tools: {} },
        {
          'tools/list': () => {
            throw new Error('out of order');
          },
        },
      );
      const starting = start(folder, { ...world, servers: { odd: odd.entry } });
      await eventually(() => odd.received('tools/list').length === 1);
      await world.clock.advance(1_750);
      const runtime = await starting;
      expect(odd.received('tools/list')).toHaveLength(4);
      expect(statusOf(runtime, 'odd')).toMatchObject({
        ...{ status: 'connected', state: 'connected', stage: 'list', toolCount: 0 },
        error: { code: 'PROTOCOL_BROKEN' },
      });
      expect((await runtime.ready()).ready).toEqual(['odd']);
    },
  );

  verifies('ERR-04', 'is listed anew when it says that its tools have changed', async () => {
    const { folder, ...world } = createWorld();
    let tools: unknown = 'none';
    const odd = createRawServer({ tools: { listChanged: true } }, { 'tools/list': () => ({ tools }) });
    const starting = start(folder, { ...world, servers: { odd: odd.entry } });
    await eventually(() => odd.received('tools/list').length === 1);
    await world.clock.advance(1_750);
    const runtime = await starting;
    expect(runtime.turn().tools).toEqual([]);
    tools = [{ name: 'echo', inputSchema: { type: 'object' } }];
    await odd.say('notifications/tools/list_changed');
    await world.clock.advance(limits.listChangedMs);
    expect([freshnessOf(runtime), statusOf(runtime, 'odd').error]).toEqual([['mcp__odd__echo live'], undefined]);
  });
});

describe('the state of the sandbox', () => {
  const state = { sandboxPolicy: { type: 'read-only' }, sandboxCwd: '/work' } as const;

  verifies(
    'RES-11',
    'is told to a server that asks for it, again after each reconnect, and with calls where it reads it',
    async () => {
      const { folder, ...world } = createWorld();
      const asking = createRawServer({ tools: {}, experimental: { 'codex/sandbox-state': {} } });
      const reading = createRawServer({ tools: {}, experimental: { 'codex/sandbox-state-meta': {} } });
      const bare = createRawServer({ tools: {} });
      const runtime = await start(folder, {
        ...world,
        servers: { asking: asking.entry, reading: reading.entry, bare: bare.entry },
      });
      const told = () => asking.received('codex/sandbox-state/update').map(({ params }) => params);
      expect(told()).toEqual([]);
      runtime.notifySandboxState(state);
      await world.clock.advance(0);
      expect(told()).toEqual([state]);
      await asking.crash();
      await world.clock.advance(1_000);
      expect([statusOf(runtime, 'asking').state, told()]).toEqual(['connected', [state, state]]);
      for (const name of ['reading', 'bare']) await runtime.turn().call(`mcp__${name}__echo`);
      const [read, plain] = [reading, bare].map((each) => each.received('tools/call')[0]?.['params']);
      expect(read).toMatchObject({ _meta: { 'codex/sandbox-state-meta': state } });
      expect(plain).not.toHaveProperty(['_meta', 'codex/sandbox-state-meta']);
      expect([
        ...reading.received('codex/sandbox-state/update'),
        ...bare.received('codex/sandbox-state/update'),
      ]).toEqual([]);
    },
  );
});

verifies('TRN-12', 'the stats count servers, connections and tools', async () => {
  const { folder, ...world } = createWorld();
  const two = createTappedServer({ a: { run: () => '' }, b: { run: () => '' } });
  const down = reader();
  down.fails = true;
  const runtime = await start(folder, {
    ...world,
    servers: { two: two.entry, one: reader().entry, down: down.entry, off: { ...reader().entry, enabled: false } },
  });
  expect(runtime.getStats()).toEqual({
    servers: 4,
    connected: 2,
    tools: 3,
    toolsByServer: { two: 2, one: 1, down: 0, off: 0 },
    calls: 0,
    failedCalls: 0,
    uniqueTools: 3,
    isGatewayMode: false,
  });
});

verifies('REC-21', 'a reconnect by hand wipes out what stands against a server', async () => {
  const { folder, ...world } = createWorld();
  const server = reader();
  const reconnect = 'none' as const;
  const runtime = await start(folder, { ...world, servers: { files: { ...server.entry, reconnect } } });
  const turn = runtime.turn();
  server.fails = true;
  await server.crash();
  await world.clock.advance(0);
  for (let call = 0; call < 3; call++) expect(await endOf(turn.call('mcp__files__read'))).toBe('CONNECTION_LOST');
  expect(statusOf(runtime, 'files')).toMatchObject({ state: 'failed', gaveUp: true, breaker: { state: 'open' } });
  expect(await endOf(turn.call('mcp__files__read'))).toBe('CIRCUIT_OPEN');
  server.fails = false;
  runtime.reconnect('files');
  expect(statusOf(runtime, 'files').breaker).toBeUndefined();
  expect(textOf(await turn.call('mcp__files__read'))).toBe('done');
  expect(statusOf(runtime, 'files')).not.toHaveProperty('gaveUp');
});
