// Owns the proof, with real processes, that servers come up, are lost, come back and go away as promised.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { Runtime, RuntimeOptions } from '../../src/api.ts';
import { limits } from '../../src/model/limits.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { createFakeServer } from '../../src/testing/fake-server.ts';
import { createTracedClock } from '../faults/traces.ts';
import { faulty } from '../servers/faulty.ts';
import { eventually, isRunning, pidsIn, pidsOnce } from '../servers/processes.ts';
import { verifies } from '../verifies.ts';
import { createFolder, start as startIn } from './runtimes.ts';

let folder: string;

beforeEach(() => {
  folder = createFolder();
});

const start = (options: RuntimeOptions) => startIn(folder, options);

const statusOf = (runtime: Runtime, name: string) => runtime.status().find((each) => each.name === name);

verifies(
  ['LIF-02', 'LIF-09'],
  'a legacy server is initialized, listed and called, on the one process it was given',
  async () => {
    const pids = join(folder, 'pids');
    const runtime = await start({ servers: { old: faulty('--pid-file', pids) } });
    expect(statusOf(runtime, 'old')).toMatchObject({ status: 'connected', state: 'connected', protocol: '2025-11-25' });
    const { text } = await runtime.turn().call('mcp__old__echo', { text: 'hello' });
    expect(text).toContain('hello');
    expect(pidsIn(pids)).toEqual([statusOf(runtime, 'old')?.pid]);
  },
);

verifies('LIF-09', 'a modern server is discovered, listed and called, on the one process it was given', async () => {
  const pids = join(folder, 'pids');
  const runtime = await start({ servers: { new: faulty('--era', 'modern', '--pid-file', pids) } });
  expect(statusOf(runtime, 'new')).toMatchObject({ status: 'connected', protocol: '2026-07-28' });
  expect((await runtime.turn().call('mcp__new__add', { a: 2, b: 3 })).text).toContain('5');
  expect(pidsIn(pids)).toHaveLength(1);
});

verifies('LIF-09', 'a server that is silent on the probe, or dies of it, is spoken to in the older era', async () => {
  const pids = join(folder, 'pids');
  const clock = createFakeClock();
  const starting = start({
    servers: {
      mute: faulty('--fault=hang', '--at=server/discover'),
      frail: faulty('--fault=exit', '--at=server/discover', '--pid-file', pids),
    },
    clock,
  });
  // Only when one has died of the probe and lives again, the other has been silent for too long.
  await pidsOnce(pids, 2);
  await clock.advance(limits.probeMs);
  const runtime = await starting;
  expect(runtime.status().map(({ name, status, protocol }) => [name, status, protocol])).toEqual([
    ['frail', 'connected', '2025-11-25'],
    ['mute', 'connected', '2025-11-25'],
  ]);
});

verifies(
  'LIF-09',
  'a modern server that starts slower than the probe waits is found to be modern all the same',
  async () => {
    const runtime = await start({ servers: { slow: faulty('--era', 'modern', '--answer-ms=1500') } });
    expect(statusOf(runtime, 'slow')).toMatchObject({ status: 'connected', protocol: '2026-07-28' });
  },
);

verifies('LIF-10', 'only what has a handler is advertised, and in both eras the caller’s handler answers', async () => {
  const asked: string[] = [];
  const servers = { old: faulty(), new: faulty('--era', 'modern') };
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
    servers: { stalled: faulty('--fault=hang', '--at=any') },
    startup: { whenUncached: 'background', gateMs: 1 },
  });
  expect(statusOf(runtime, 'stalled')).toMatchObject({ status: 'connecting', state: 'connecting', toolCount: 0 });
});

verifies(['LIF-11', 'LIF-12'], 'a server that never answers is given up in time, and its process is gone', async () => {
  const pids = join(folder, 'pids');
  const stalled = {
    ...faulty('--fault=hang', '--at=initialize', '--after=1', '--pid-file', pids, '--fault=stderr', '--bytes=20'),
    startupTimeoutMs: 20_000,
    reconnect: 'none' as const,
  };
  const clock = createTracedClock();
  const startup = { whenUncached: 'background', gateMs: 1 } as const;
  const runtime = await start({ servers: { stalled }, startup, clock });
  // Its time only flies once it is there and has said what it has to say.
  const [first = 0] = await pidsOnce(pids, 1);
  clock.pace(20);
  const error = await eventually(() => statusOf(runtime, 'stalled')?.error);
  expect(error).toMatchObject({ code: 'STARTUP_TIMEOUT', remedy: 'retry-later' });
  expect(error.message).toMatch(/within 20 s.*stderr/s);
  await eventually(() => !isRunning(first));
});

verifies(['CFG-18', 'LIF-01'], 'one broken server of several costs itself, and every change is one event', async () => {
  const runtime = await start({
    servers: {
      well: createFakeServer({ hello: { run: () => 'hi' } }).entry,
      missing: { command: 'plexus-no-such-command' },
      dies: faulty('--fault=exit', '--at=open'),
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
  const runtime = await start({ servers: { mortal: faulty() } });
  const before = runtime.turn().revision;
  process.kill(statusOf(runtime, 'mortal')?.pid ?? 0, 'SIGKILL');
  await eventually(() => statusOf(runtime, 'mortal')?.status === 'connecting');
  expect(runtime.turn().revision).toBe(before);
  await eventually(() => statusOf(runtime, 'mortal')?.status === 'connected');
  expect((await runtime.turn().call('mcp__mortal__echo', { text: 'back' })).text).toContain('back');
  expect(runtime.turn().revision).toBe(before);
});

test('a call in flight when its server dies ends at once, and says that the outcome is unknown', async () => {
  const runtime = await start({ servers: { mortal: faulty() } });
  const call = runtime.turn().call('mcp__mortal__sleep', { ms: 60_000 });
  process.kill(statusOf(runtime, 'mortal')?.pid ?? 0, 'SIGKILL');
  await expect(call).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN', remedy: 'check-first' });
});

verifies(
  'TDN-01',
  'a disconnected server is gone with its process and with its own tools, and with no one else’s',
  async () => {
    const runtime = await start({
      servers: { a: faulty(), a_b: createFakeServer({ keep: { run: () => '' } }).entry },
    });
    const pid = statusOf(runtime, 'a')?.pid ?? 0;
    const frozen = runtime.turn();
    await runtime.disconnect('a');
    expect({ running: isRunning(pid), tools: runtime.turn().tools.map(({ name }) => name) }).toEqual({
      running: false,
      tools: ['mcp__a_b__keep'],
    });
    await expect(frozen.call('mcp__a__echo', { text: '' })).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
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
      servers: {
        stubborn: faulty('--fault=ignore-eof', '--fault=ignore-sigterm', '--fault=grandchild', '--pid-file', pids),
      },
    });
    await eventually(() => pidsIn(pids).length === 2);
    await runtime.close();
    expect(pidsIn(pids).map(isRunning)).toEqual([false, false]);
  },
);

verifies(
  ['TDN-02', 'TDN-04'],
  'a runtime is disposed of with all its servers, also in the middle of a start',
  async () => {
    const pids = join(folder, 'pids');
    const runtime = await start({
      servers: { one: faulty('--pid-file', pids), two: faulty('--fault=hang', '--at=any', '--pid-file', pids) },
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
  write({ kept: faulty(), changed: faulty(), gone: faulty() });
  const runtime = await start({ discover: true, config: file });
  const pid = (name: string) => statusOf(runtime, name)?.pid ?? 0;
  const before = { kept: pid('kept'), changed: pid('changed'), gone: pid('gone') };
  write({ kept: faulty(), changed: faulty('--tools', '1'), added: faulty() });
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
    writeFileSync(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: { theirs: faulty('--pid-file', pids) } }));
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

verifies(
  'TDN-02',
  'a second close, and one after a disconnect nobody waited for, wait for the processes too',
  async () => {
    const pids = join(folder, 'pids');
    const stubborn = faulty('--fault=ignore-eof', '--pid-file', pids);
    const runtime = await start({ servers: { one: stubborn, two: stubborn } });
    const leaving = runtime.disconnect('one');
    const first = runtime.close();
    await runtime.close();
    expect(pidsIn(pids).map(isRunning)).toEqual([false, false]);
    await Promise.all([leaving, first]);
  },
);

test('a disconnected server is stopped, not disabled, and comes back when it is reconnected', async () => {
  const runtime = await start({ servers: { a: faulty() } });
  await runtime.disconnect('a');
  expect(statusOf(runtime, 'a')).toMatchObject({ status: 'disconnected', state: 'stopped' });
  runtime.reconnect('a');
  expect(await runtime.ready()).toEqual({ ready: ['a'], notReady: [] });
  expect((await runtime.turn().call('mcp__a__echo', { text: 'again' })).text).toContain('again');
});

test('a changed server starts only when its former process is gone', async () => {
  const file = join(folder, 'fleet.json');
  const pids = join(folder, 'pids');
  const write = (...flags: string[]) =>
    writeFileSync(
      file,
      JSON.stringify({ mcpServers: { a: faulty('--fault=ignore-eof', '--pid-file', pids, ...flags) } }),
    );
  write();
  const runtime = await start({ discover: true, config: file });
  const [former = 0] = pidsIn(pids);
  write('--tools', '1');
  const reloading = runtime.reload();
  await eventually(() => pidsIn(pids).length === 2);
  expect(isRunning(former)).toBe(false);
  await reloading;
});

test('who is asked for by name is answered for by name, whatever became of it', async () => {
  const runtime = await start({ servers: { off: { ...faulty(), enabled: false }, up: faulty() } });
  expect(await runtime.ready({ servers: ['off', 'up'] })).toEqual({
    ready: ['up'],
    notReady: [{ server: 'off', state: 'disabled', message: expect.stringContaining('disabled in its configuration') }],
  });
  await expect(runtime.ready({ servers: ['upp'] })).rejects.toMatchObject({
    code: 'SERVER_UNKNOWN',
    data: { nearest: ['up'] },
  });
  await expect(runtime.reconnect('off')).rejects.toThrow('disabled');
});

verifies('EXT-11', 'a definition too deep to be read costs itself, at the start and after a reconnect', async () => {
  let deep: object = {};
  for (let level = 0; level < 50_000; level++) deep = { not: deep };
  const server = createFakeServer({ deep: { inputSchema: deep as never, run: () => '' }, fine: { run: () => '' } });
  const runtime = await start({
    servers: { odd: server.entry, well: createFakeServer({ x: { run: () => '' } }).entry },
  });
  const names = () => runtime.turn().tools.map(({ name }) => name);
  expect(names()).toEqual(['mcp__odd__fine', 'mcp__well__x']);
  expect(statusOf(runtime, 'odd')?.warnings).toEqual([expect.stringContaining('too deep')]);
  runtime.reconnect('odd');
  await runtime.ready();
  expect(names()).toEqual(['mcp__odd__fine', 'mcp__well__x']);
  expect(Object.isFrozen(runtime.turn().tools[0]?.inputSchema)).toBe(true);
});

test('arguments that cannot be written as JSON are the caller’s fault, and cost the server nothing', async () => {
  const runtime = await start({ servers: { a: faulty() } });
  const turn = runtime.turn();
  for (let call = 0; call < 4; call++) {
    await expect(turn.call('mcp__a__echo', { text: 'x', odd: 1n })).rejects.toMatchObject({ code: 'ARGUMENTS_BAD' });
  }
  expect((await turn.call('mcp__a__echo', { text: 'fine' })).isError).toBe(false);
});

test('an error that is no error of the protocol still ends the call', async () => {
  const { text, isError } = await (async () => {
    const runtime = await start({
      servers: {
        odd: {
          serve: async (channel) => {
            channel.onmessage = ({ id, method }) => {
              const known: Record<string, unknown> = {
                initialize: {
                  protocolVersion: '2025-11-25',
                  capabilities: { tools: {} },
                  serverInfo: { name: 'odd', version: '1' },
                },
                'tools/list': { tools: [{ name: 'x', inputSchema: { type: 'object' } }] },
              };
              const result = known[String(method)];
              const error = [{ toString: null, valueOf: null }];
              if (id !== undefined) void channel.send({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) });
            };
            await channel.start();
          },
        },
      },
    });
    return runtime.turn().call('mcp__odd__x');
  })();
  expect({ isError, explained: text.includes('gave no reason') }).toEqual({ isError: true, explained: true });
});

test('a host whose listeners and error handler throw is never felt', async () => {
  const throwing = () => {
    throw new Error('the host is broken');
  };
  const warned: unknown[] = [];
  const hear = (warning: unknown) => warned.push(warning);
  process.on('warning', hear);
  const runtime = await start({ servers: { a: faulty() }, onEvent: throwing, onError: throwing });
  expect(statusOf(runtime, 'a')).toMatchObject({ status: 'connected', toolCount: 9 });
  await eventually(() => warned.length > 0);
  process.off('warning', hear);
});

verifies(
  'TRU-01',
  'an approval shows everything that decides what runs, and a yes for the session is asked for once',
  async () => {
    const entry = { ...faulty(), env: { NODE_OPTIONS: '--no-warnings' }, cwd: '.' };
    writeFileSync(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: { theirs: entry } }));
    const asked: string[] = [];
    const runtime = await start({
      discover: true,
      env: { PATH: process.env['PATH'], HOME: folder },
      approve: async (request) => {
        asked.push(request.kind === 'server' ? request.command : '');
        return 'session';
      },
    });
    runtime.reconnect('theirs');
    await runtime.ready();
    expect(statusOf(runtime, 'theirs')?.status).toBe('connected');
    expect(asked).toEqual([expect.stringMatching(/^NODE_OPTIONS=--no-warnings .*faulty\.mjs \(in \.\)$/)]);
  },
);

test('a start that is aborted before anybody was asked asks nobody', async () => {
  writeFileSync(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: { theirs: faulty() } }));
  const stop = new AbortController();
  const asked: unknown[] = [];
  const starting = start({
    discover: true,
    signal: stop.signal,
    onEvent: ({ type }) => type === 'connection.changed' && stop.abort(),
    approve: async (request) => {
      asked.push(request);
      return 'no';
    },
  });
  await expect(starting).rejects.toMatchObject({ name: 'AbortError' });
  expect(asked).toEqual([]);
});
