// Owns the proof of what a host does with a whole runtime: wait for servers, change them, ask about them, and hear of what could not
// be used, with real processes where a process is meant.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import {
  createMemoryStore,
  createRuntime,
  isFailure,
  type JsonObject,
  type RuntimeError,
  type RuntimeOptions,
} from '../../src/index.ts';
import { createDeferred } from '../../src/kernel/deferred.ts';
import { createFakeServer } from '../../src/testing/fake-server.ts';
import { withDefaultStore } from '../runtime.ts';
import { faulty } from '../servers/faulty.ts';
import { eventually, isRunning } from '../servers/processes.ts';
import { verifies } from '../verifies.ts';
import { createFolder, start as startIn } from './runtimes.ts';

const start = (options: RuntimeOptions) => startIn(createFolder(), options);
const broken = { command: process.execPath, args: ['-e', 'process.exit(3)'], reconnect: 'none' as const };
const hello = () => createFakeServer({ hello: { run: () => 'hi' } }).entry;
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error as RuntimeError,
  );

verifies(
  'EVT-10',
  'reconnect answers with the status of the new process, or rejects with what went wrong',
  async () => {
    const runtime = await start({ servers: { well: faulty(), ill: broken } });
    await runtime.ready();
    const before = runtime.status('well').pid;
    const status = await runtime.reconnect('well');
    expect([status.name, status.status, status.toolCount > 0]).toEqual(['well', 'connected', true]);
    expect([status.pid === before, isRunning(status.pid ?? 0)]).toEqual([false, true]);
    const failure = await failureOf(runtime.reconnect('ill'));
    expect([failure?.code, runtime.status('ill').state]).toEqual(['CONNECTION_LOST', 'failed']);
    expect(await failureOf(runtime.reconnect('nobody'))).toMatchObject({ code: 'SERVER_UNKNOWN' });
    expect(() => runtime.status('wel')).toThrow('Did you mean well?');
  },
);

test('a reconnect that is not awaited does not end the host', async () => {
  const runtime = await start({ servers: { ill: broken } });
  const unhandled: unknown[] = [];
  const hear = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', hear);
  onTestFinished(() => void process.off('unhandledRejection', hear));
  void runtime.reconnect('ill');
  await runtime.ready();
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
});

verifies('TDN-02', 'disconnect without a name ends every process; the runtime stays usable', async () => {
  const runtime = await start({ servers: { one: faulty(), two: faulty() } });
  await runtime.ready({ orThrow: true });
  const pids = runtime.status().map(({ pid }) => pid ?? 0);
  await runtime.disconnect();
  await eventually(() => pids.every((pid) => !isRunning(pid)));
  expect([runtime.getTools(), runtime.status().map(({ state }) => state)]).toEqual([[], ['stopped', 'stopped']]);
  await runtime.reconnect('one');
  expect(runtime.findByToolName('echo').map(({ server }) => server)).toEqual(['one']);
});

verifies(
  'EVT-05',
  'ready({ orThrow }) rejects and names each server that is not ready; without it, it tells',
  async () => {
    const runtime = await start({ servers: { well: hello(), ill: broken } });
    const { ready, notReady } = await runtime.ready();
    expect([ready, notReady.map(({ server }) => server)]).toEqual([['well'], ['ill']]);
    const failure = await failureOf(runtime.ready({ orThrow: true }));
    expect(isFailure(failure, 'SERVERS_NOT_READY') && failure.data.missing).toMatchObject([
      { server: 'ill', state: 'failed' },
    ]);
    await runtime.ready({ servers: ['well'], orThrow: true });
  },
);

verifies(
  'INT-04',
  'setServers replaces the servers given in code: new ones start, missing ones end, others stay',
  async () => {
    const kept = faulty();
    const runtime = await start({ servers: { kept, gone: faulty() } });
    await runtime.ready({ orThrow: true });
    const [gone, stays] = [runtime.status('gone').pid ?? 0, runtime.status('kept').pid];
    await runtime.setServers({ kept, added: hello() });
    await runtime.ready({ orThrow: true });
    expect(runtime.status().map(({ name }) => name)).toEqual(['added', 'kept']);
    expect(runtime.status('kept').pid).toBe(stays);
    await eventually(() => !isRunning(gone));
    await runtime.setServers({ bad: { command: '' } as never });
    expect(runtime.diagnostics()).toMatchObject([{ severity: 'error', server: 'bad' }]);
  },
);

verifies('INT-04', 'setServers takes other code for a server in process, and lets its calls finish', async () => {
  const gate = createDeferred<string>();
  const one = createFakeServer({ hello: { run: () => gate.promise } });
  const two = createFakeServer({ hello: { run: () => 'two' } });
  const runtime = await start({ servers: { it: one.entry } });
  await runtime.ready({ orThrow: true });
  const hi = () => runtime.turn().call('mcp__it__hello');
  const before = hi();
  await eventually(() => one.calls.length > 0);
  await runtime.setServers({ it: two.entry });
  const after = hi();
  gate.resolve('one');
  expect([(await before).content, (await after).content]).toMatchObject([[{ text: 'one' }], [{ text: 'two' }]]);
});

verifies('INT-04', 'setServers with what is no object is refused, and breaks no later reload', async () => {
  const runtime = await start({ servers: { one: hello() } });
  for (const bad of [null, undefined, 5, 'x', []])
    await expect(runtime.setServers(bad as never)).rejects.toThrow('setServers() takes an object');
  await runtime.reload();
  expect(runtime.status().map(({ name }) => name)).toEqual(['one']);
});

verifies(
  ['INT-04', 'LIF-07'],
  'a server that was replaced and cannot start leaves no list for the next start',
  async () => {
    const store = createMemoryStore();
    const bad = { command: '/no/such/program', lifecycle: 'lazy' as const };
    const runtime = await start({ store, servers: { files: faulty() } });
    await runtime.ready({ orThrow: true });
    await runtime.setServers({ files: bad });
    await runtime.ready();
    await runtime.close();
    const later = await start({ store, servers: { files: bad } });
    expect(later.getTools()).toEqual([]);
  },
);

verifies('INT-04', 'what happened before anybody could listen can be asked for', async () => {
  const runtime = await start({ servers: { well: hello(), ill: broken } });
  expect(runtime.startup).toMatchObject({ ready: ['well'], notReady: [{ server: 'ill', state: 'failed' }] });
  expect(runtime.startup.line).toContain('1 of 2 servers ready');
  expect(runtime.diagnostics()).toEqual([]);
});

verifies('EVT-09', 'a listener of one type hears that type only; a view has its own part of the catalog', async () => {
  const server = createFakeServer({ hello: { run: () => 'hi' } });
  const runtime = await start({ servers: { one: server.entry, two: hello() } });
  await runtime.ready();
  const heard: string[] = [];
  const unsubscribe = runtime.on('catalog.changed', ({ added }) => heard.push(...added));
  await server.setTools({ hello: { run: () => 'hi' }, bye: { run: () => 'bye' } });
  await eventually(() => heard.length > 0);
  expect(heard).toEqual(['mcp__one__bye']);
  unsubscribe();
  const view = runtime.view({ tools: ['mcp__two__*'] });
  expect([view.getTools().map(({ name }) => name), view.findByToolName('hello')]).toEqual([
    ['mcp__two__hello'],
    [{ server: 'two', tool: 'hello', name: 'mcp__two__hello' }],
  ]);
});

verifies(
  'INT-04',
  'an option that does not exist is told with the nearest name, for runtimes and for views',
  async () => {
    const runtime = await start({ servers: { one: hello() }, ...({ permisions: [] } as object) });
    runtime.view({ ...({ tool: ['x'] } as object) });
    expect(runtime.errors.map(String)).toEqual([
      'TypeError: createRuntime() has no option "permisions"; did you mean "permissions"?',
      'TypeError: view() has no option "tool"; did you mean "tools"?',
    ]);
    await expect(start({ permissions: [{ tool: 'mcp__*', action: 'allow', when: {} } as never] })).rejects.toThrow(
      'permissions[0] has no "when"; a rule has "tool", "action", "args"',
    );
  },
);

test('a pattern of a view that matches no tool is told once, when all servers have settled', async () => {
  const runtime = await start({ servers: { one: hello() } });
  await runtime.ready();
  const view = runtime.view({ tools: ['mcp__one__*', 'mcp__on__*'] });
  view.turn();
  view.turn();
  expect(runtime.events.filter(({ type }) => type === 'catalog.pattern-unmatched')).toEqual([
    { type: 'catalog.pattern-unmatched', pattern: 'mcp__on__*' },
  ]);
});

/** A runtime as a host makes it that says nothing about events, with what Node warned of meanwhile. */
async function withWarnings(options: object): Promise<string[]> {
  const warnings: string[] = [];
  const hear = (warning: Error) => void (warning.name === 'PlexusWarning' && warnings.push(warning.message));
  process.on('warning', hear);
  const folder = createFolder();
  const runtime = await createRuntime({
    discover: false,
    cwd: folder,
    home: folder,
    store: createMemoryStore(),
    logs: false,
    interactive: false,
    servers: { ill: broken, well: hello() },
    ...options,
  });
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', hear);
  await runtime.close();
  return warnings;
}

verifies(
  'EVT-12',
  'a server that cannot be used is warned of, unless the host listens, logs, or wants silence',
  async () => {
    const [warning, ...others] = await withWarnings({});
    expect([warning, others]).toEqual([
      expect.stringMatching(/^MCP server "ill" is not used\. .*exited with code 3/s),
      [],
    ]);
    expect(await withWarnings({ onEvent: () => undefined })).toEqual([]);
    expect(await withWarnings({ logger: false })).toEqual([]);
    const logged: string[] = [];
    const logger = { warn: (line: string) => logged.push(`warn ${line}`), error: (line: string) => logged.push(line) };
    expect(await withWarnings({ logger })).toEqual([]);
    expect(logged).toEqual([expect.stringMatching(/^warn ill: connecting → failed\. /)]);
    const throws = {
      warn: () => {
        throw new Error('the logger broke');
      },
      error: () => undefined,
    };
    expect(await withWarnings({ logger: throws })).toEqual([]);
    const reject = () => Promise.reject(new Error('the logger broke'));
    const rejects = { debug: reject, info: reject, warn: reject, error: reject };
    // A rejection that nobody handles would end the process, and fails this test.
    expect(await withWarnings({ logger: rejects, onError: reject, onEvent: reject })).toEqual([]);
  },
);

verifies('EVT-08', 'a reload leaves unchanged servers alone; replaceAll starts every one anew', async () => {
  const runtime = await start({ servers: { one: faulty(), two: faulty() } });
  await runtime.ready({ orThrow: true });
  const pids = () => runtime.status().map(({ pid }) => pid);
  const before = pids();
  await runtime.reload();
  await runtime.ready({ orThrow: true });
  expect(pids()).toEqual(before);
  await runtime.reload({ replaceAll: true });
  await runtime.ready({ orThrow: true });
  expect(pids().every((pid) => pid !== undefined && !before.includes(pid))).toBe(true);
});

verifies(
  ['EVT-09', 'EXT-12'],
  'a change of a real server names what was added, removed and changed; a view that it leaves alone keeps its turn',
  async () => {
    const folder = createFolder();
    const file = join(folder, 'tools.json');
    const program = fileURLToPath(new URL('../servers/changing.mjs', import.meta.url));
    const write = (...tools: readonly JsonObject[]) => writeFileSync(file, JSON.stringify({ tools }));
    const tool = (name: string, description = '') => ({ name, description, inputSchema: { type: 'object' } });
    write(tool('stays'), tool('goes'), tool('differs', 'before'));
    const notes = { command: process.execPath, args: [program, file] };
    const runtime = await startIn(folder, { servers: { notes } });
    await runtime.ready({ orThrow: true });
    const [all, some] = [runtime.view(), runtime.view({ tools: ['*__stays'] })];
    const [before, kept] = [all.turn(), some.turn()];
    expect([all.turn() === before, some.turn() === kept], 'nothing is made anew').toEqual([true, true]);
    const heard: unknown[] = [];
    runtime.on('catalog.changed', ({ type: _, ...change }) => heard.push(change));
    write(tool('stays'), tool('comes'), tool('differs', 'after'));
    await runtime.refreshTools();
    const { revision, tools } = runtime.turn();
    expect(heard).toEqual([
      {
        revision,
        added: ['mcp__notes__comes'],
        removed: ['mcp__notes__goes'],
        changed: ['mcp__notes__differs'],
      },
    ]);
    expect(all.turn().tools).toEqual(tools);
    expect([some.turn().revision, some.turn().tools]).toEqual([kept.revision, kept.tools]);
  },
);

verifies('EVT-09', 'the host is handed the whole catalog after each change, and may throw', async () => {
  const server = createFakeServer({ hello: { run: () => 'hi' } });
  const handed: (readonly string[])[] = [];
  const onToolsChanged: RuntimeOptions['onToolsChanged'] = ({ tools }) => {
    handed.push(tools.map(({ name }) => name));
    throw new Error('the host broke');
  };
  const runtime = await start({ servers: { one: server.entry }, onToolsChanged });
  await runtime.ready();
  await server.setTools({ bye: { run: () => 'bye' } });
  await eventually(() => handed.length === 2);
  expect(handed).toEqual([['mcp__one__hello'], ['mcp__one__bye']]);
  expect(runtime.errors.map(String)).toEqual(['Error: the host broke', 'Error: the host broke']);
});

verifies(
  ['EVT-05', 'TRU-08'],
  'the status has the end of stderr, without secrets, and every failure can be asked for',
  async () => {
    const { command, args } = faulty();
    const said = 'echo "it knows ghp_0123456789abcdefghijABCDEFGHIJ012345" >&2';
    const speaks = { command: 'sh', args: ['-c', `${said}; exec "$@"`, 'sh', command, ...args] };
    const runtime = await start({ servers: { speaks, ill: broken } });
    await runtime.ready();
    await eventually(() => runtime.status('speaks').stderrTail !== undefined);
    expect(runtime.status('speaks').stderrTail).toMatch(/it knows \[redacted:[\w-]+\]/);
    expect(runtime.failures()).toMatchObject([{ server: 'ill', error: { code: 'CONNECTION_LOST' } }]);
  },
);

verifies('STA-09', 'clearCache forgets the tools of earlier starts', async () => {
  const folder = createFolder();
  const options = { servers: { one: faulty() }, ...withDefaultStore };
  const first = await startIn(folder, options);
  await first.ready({ orThrow: true });
  await first.close();
  const known = async () => {
    const runtime = await startIn(folder, {
      ...options,
      startup: { whenCached: 'leave', whenUncached: 'background', gateMs: 0 },
    });
    return { runtime, freshness: runtime.status('one').freshness };
  };
  const second = await known();
  expect(second.freshness).toBe('cached');
  await second.runtime.clearCache('one');
  expect(second.runtime.getTools()).toEqual([]);
  await expect(second.runtime.clearCache('nobody')).rejects.toMatchObject({ code: 'SERVER_UNKNOWN' });
  await second.runtime.close();
  expect((await known()).freshness).not.toBe('cached');
});

test('entries and lists that are readonly are accepted', () => {
  const entry = { command: 'node', args: ['x.mjs'], env: { A: 'b' }, enabledTools: ['a'] } as const;
  const options: RuntimeOptions = { servers: { one: entry }, only: ['one'] as const, permissions: [] as const };
  expect(options.servers?.['one']).toBe(entry);
});
