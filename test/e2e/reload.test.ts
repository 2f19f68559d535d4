// Owns the proof of what an edited entry does to its server: settings that apply to it as it is, and restarts that let calls
// finish first. Real processes show what happens to a pid; servers in process and a clock that stands still show the limits.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { RuntimeOptions } from '../../src/api.ts';
import { createDeferred } from '../../src/kernel/deferred.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { limits } from '../../src/model/limits.ts';
import type { Channel } from '../../src/model/server.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { faulty } from '../servers/faulty.ts';
import { eventually, isRunning, pidsIn } from '../servers/processes.ts';
import { createTappedServer } from '../unit/call/journey.ts';
import { endOf } from '../unit/call/stages.ts';
import { verifies } from '../verifies.ts';
import { createFolder, type Started, start, statusOf, textOf } from './runtimes.ts';

const drainsOf = ({ events }: Started) =>
  events.flatMap((event) => {
    if (event.type === 'connection.drain-started') return [`${event.calls} drain`];
    return event.type === 'connection.drained' ? [`${event.cut} of ${event.calls} cut`] : [];
  });

/** One server in a file, whose tool `ask` ends when its question is answered. */
async function startFile(entry: JsonObject, options: RuntimeOptions = {}) {
  const folder = createFolder();
  const [file, pids] = [join(folder, 'fleet.json'), join(folder, 'pids')];
  const write = (servers: JsonObject) => writeFileSync(file, JSON.stringify({ mcpServers: servers }));
  const server = (...flags: string[]) => faulty('--pid-file', pids, ...flags);
  const edit = (change: JsonObject, ...flags: string[]) => write({ files: { ...server(...flags), ...change } });
  edit(entry);
  const questions: { answer(): void }[] = [];
  const elicit = () =>
    new Promise<{ action: 'accept'; content: JsonObject }>((resolve) => {
      questions.push({ answer: () => resolve({ action: 'accept', content: { name: 'Ada' } }) });
    });
  const runtime = await start(folder, { discover: true, config: file, watch: false, elicit, ...options });
  /** A call that is in flight until its question is answered. */
  const begin = async () => {
    const asked = questions.length;
    const answer = runtime
      .turn()
      .call('mcp__files__ask')
      .then(textOf, (error: unknown) => error);
    const question = await eventually(() => questions[asked]);
    return { answer, finish: question.answer };
  };
  return { folder, runtime, write, edit, server, begin, pids: () => pidsIn(pids) };
}

const echo = (runtime: Started, text: string) => runtime.turn().call('mcp__files__echo', { text }).then(textOf);

describe('a setting that applies live', () => {
  verifies('LIF-07', 'leaves the process and the call in flight alone', async () => {
    const { runtime, edit, begin, pids } = await startFile({ title: 'before' });
    const { pid } = statusOf(runtime, 'files');
    const { answer, finish } = await begin();
    edit({
      ...{ title: 'after', description: 'x', toolTimeoutMs: 60_000, startupTimeoutMs: 90_000, approval: 'prompt' },
      ...{
        reconnect: 'patient',
        health: 'off',
        keepAliveMs: 0,
        idleStopMs: 600_000,
        parallel: false,
        trustHints: true,
      },
    });
    await runtime.reload();
    expect(statusOf(runtime, 'files')).toMatchObject({ title: 'after', pid, state: 'connected' });
    finish();
    expect(await answer).toContain('Ada');
    expect([await echo(runtime, 'on'), pids(), drainsOf(runtime)]).toEqual(['on', [pid], []]);
  });

  verifies('LIF-15', 'leaves them alone where the file was noticed by itself, too', async () => {
    const { runtime, edit, begin, pids } = await startFile({ title: 'before' }, { watch: true });
    const { pid } = statusOf(runtime, 'files');
    const { answer, finish } = await begin();
    edit({ title: 'after' });
    await eventually(() => statusOf(runtime, 'files').title === 'after');
    finish();
    expect(await answer).toContain('Ada');
    expect(pids()).toEqual([pid]);
  });

  verifies('LIF-07', 'shows and hides tools of the list that is there', async () => {
    const { runtime, edit, pids } = await startFile({});
    const names = () => runtime.turn().tools.map(({ id }) => id.tool);
    const all = names();
    edit({ enabledTools: ['e*', 'add'], tools: { env: { enabled: false } } });
    await runtime.reload();
    expect(names()).toEqual(['add', 'echo']);
    expect(statusOf(runtime, 'files')).toMatchObject({ toolCount: 2, toolsOffered: all.length, freshness: 'live' });
    edit({});
    await runtime.reload();
    expect([names(), pids().length]).toEqual([all, 1]);
  });

  verifies('LIF-07', 'decides about the next call: approval, limits, one at a time', async () => {
    const { folder, clock, servers } = createWorld();
    const gate = createDeferred<void>();
    const tools = { hang: { run: () => gate.promise.then(() => 'late') }, read: { run: () => 'done' } };
    const server = createTappedServer(tools);
    const entry = (change: JsonObject) => Object.assign(servers, { files: { ...server.entry, ...change } });
    entry({});
    const runtime = await start(folder, { clock, servers, permissions: [] });
    const call = (tool: string) => endOf(runtime.turn().call(`mcp__files__${tool}`));
    expect(await call('read')).toBe('APPROVAL_REFUSED');
    entry({ approval: 'approve' });
    await runtime.reload();
    expect(await call('read')).toMatchObject({ isError: false });
    const hanging = call('hang');
    await clock.advance(0);
    entry({ approval: 'approve', parallel: false, toolTimeoutMs: 1_000 });
    await runtime.reload();
    const second = call('hang');
    await clock.advance(2_000);
    expect(
      server.calls.filter(({ tool }) => tool === 'hang'),
      'it waits for the one before',
    ).toHaveLength(1);
    entry({ approval: 'approve', toolTimeoutMs: 1_000 });
    await runtime.reload();
    const third = call('hang');
    await clock.advance(1_000);
    expect(await third, 'the new limit').toBe('CALL_TIMEOUT');
    gate.resolve();
    expect([await hanging, await second], 'the call in flight keeps its own').toMatchObject([
      { isError: false },
      { isError: false },
    ]);
    expect(server.starts()).toBe(1);
  });

  verifies(['LIF-07', 'TRN-10'], 'counts for timers that run already', async () => {
    const { folder, clock, servers } = createWorld();
    const server = createTappedServer({ read: { run: () => 'done' } });
    const entry = (idleStopMs: number) => Object.assign(servers, { files: { ...server.entry, idleStopMs } });
    entry(0);
    const runtime = await start(folder, { clock, servers });
    await clock.advance(100_000);
    entry(150_000);
    await runtime.reload();
    await clock.advance(49_999);
    expect(statusOf(runtime, 'files').state).toBe('connected');
    await clock.advance(1);
    expect(statusOf(runtime, 'files').state, 'counted from its last call, not from the edit').toBe('idle');
    await runtime.turn().call('mcp__files__read');
    await clock.advance(100_000);
    entry(0);
    await runtime.reload();
    await clock.advance(1_000_000);
    expect([statusOf(runtime, 'files').state, server.starts()]).toEqual(['connected', 2]);
  });

  verifies(
    ['LIF-07', 'LIF-11'],
    'gives a start under way the longer limit, and a failed server another start',
    async () => {
      const { folder, clock, servers } = createWorld();
      let isMute = true;
      const server = createTappedServer({ read: { run: () => 'done' } });
      const serve: typeof server.entry.serve = async (channel) => {
        if (!isMute) return server.entry.serve(channel);
        await channel.start();
      };
      const entry = (change: JsonObject) => Object.assign(servers, { files: { serve, reconnect: 'none', ...change } });
      entry({ startupTimeoutMs: 10_000 });
      const startup = { whenUncached: 'background', gateMs: 1 } as const;
      const starting = start(folder, { clock, servers, startup });
      await clock.advance(1);
      const runtime = await starting;
      await clock.advance(5_000);
      entry({ startupTimeoutMs: 20_000 });
      await runtime.reload();
      await clock.advance(14_000);
      expect(statusOf(runtime, 'files').state).toBe('connecting');
      await clock.advance(1_500);
      expect(statusOf(runtime, 'files')).toMatchObject({ state: 'failed', error: { code: 'STARTUP_TIMEOUT' } });
      isMute = false;
      entry({ startupTimeoutMs: 20_000, title: 'once more' });
      await runtime.reload();
      await clock.advance(0);
      expect(statusOf(runtime, 'files').state).toBe('connected');
    },
  );

  verifies(['LIF-07', 'CAL-09'], 'gives a call that waits already the new limit, a shorter one too', async () => {
    for (const [startupTimeoutMs, atMs] of [
      [20_000, 20_000],
      [6_000, 6_000],
      [3_000, 5_000],
    ] as const) {
      const { folder, clock, servers } = createWorld();
      const mute = { serve: (channel: Channel) => channel.start(), reconnect: 'none' };
      Object.assign(servers, { files: { ...mute, startupTimeoutMs: 10_000 } });
      const starting = start(folder, { clock, servers, startup: { whenUncached: 'background', gateMs: 1 } });
      await clock.advance(1);
      const runtime = await starting;
      const waiting = { from: clock.now(), endedAt: 0, end: undefined as unknown };
      void runtime.refreshTools('files').catch((error: unknown) => {
        Object.assign(waiting, { endedAt: clock.now(), end: error });
      });
      await clock.advance(4_999);
      Object.assign(servers, { files: { ...mute, startupTimeoutMs } });
      await runtime.reload();
      for (let passed = 0; passed < 30 && waiting.end === undefined; passed += 1) await clock.advance(1_000);
      expect(waiting.end).toMatchObject({ code: 'STARTUP_TIMEOUT', data: { afterMs: startupTimeoutMs } });
      expect(Math.abs(waiting.endedAt - waiting.from - atMs), `${startupTimeoutMs}`).toBeLessThan(1_500);
    }
  });

  verifies('LIF-07', 'starts a server that has become eager', async () => {
    const { folder, clock, servers } = createWorld();
    const server = createTappedServer({ read: { run: () => 'done' } });
    Object.assign(servers, { files: { ...server.entry, lifecycle: 'lazy' } });
    const runtime = await start(folder, { clock, servers });
    expect(server.starts()).toBe(0);
    Object.assign(servers, { files: { ...server.entry, title: 'still lazy', lifecycle: 'lazy' } });
    await runtime.reload();
    expect(server.starts()).toBe(0);
    Object.assign(servers, { files: server.entry });
    await runtime.reload();
    await runtime.ready();
    expect([server.starts(), statusOf(runtime, 'files').state]).toEqual([1, 'connected']);
  });
});

/** Servers in process, which a test edits between reloads, and a clock that stands still. */
function createWorld() {
  const servers: Record<string, NonNullable<RuntimeOptions['servers']>[string]> = {};
  return { folder: createFolder(), clock: createFakeClock(), servers };
}

describe('a restart', () => {
  verifies(
    ['LIF-07', 'LIF-15'],
    'lets calls finish on the old process, its questions included, and the new one answers the next',
    async () => {
      const { runtime, edit, begin, pids } = await startFile({});
      const { pid: former = 0 } = statusOf(runtime, 'files');
      const first = await begin();
      const second = await begin();
      edit({}, '--tools', '1');
      await runtime.reload();
      expect(statusOf(runtime, 'files')).toMatchObject({
        state: 'connecting',
        reason: 'Its entry or its approval changed: it restarts when its calls in flight have ended (2).',
      });
      const next = echo(runtime, 'next');
      first.finish();
      expect(await first.answer).toContain('Ada');
      expect([isRunning(former), pids()]).toEqual([true, [former]]);
      second.finish();
      expect([await second.answer, await next]).toEqual([expect.stringContaining('Ada'), 'next']);
      const [, latter = 0] = pids();
      expect([isRunning(former), statusOf(runtime, 'files').pid, pids().length]).toEqual([false, latter, 2]);
      expect(drainsOf(runtime)).toEqual(['2 drain', '0 of 2 cut']);
      await runtime.ready();
      expect(runtime.turn().tools.map(({ id }) => id.tool)).toContain('tool_1');
    },
  );

  for (const setting of ['maxMessageBytes', 'logLevel', 'elicitation', 'perClient'])
    verifies('LIF-07', `follows from ${setting}, and a turn that has begun goes on with the new one`, async () => {
      const { runtime, edit, pids } = await startFile({});
      const turn = runtime.turn();
      const values: JsonObject = {
        maxMessageBytes: 1_000_000,
        logLevel: 'error',
        elicitation: 'decline',
        perClient: true,
      };
      edit({ [setting]: values[setting] });
      await runtime.reload();
      expect(textOf(await turn.call('mcp__files__echo', { text: 'x' }))).toBe('x');
      const [former = 0, latter] = pids();
      expect([isRunning(former), statusOf(runtime, 'files').pid, drainsOf(runtime)]).toEqual([false, latter, []]);
    });

  verifies('LIF-07', 'cuts what is left after 30 s: a write is unknown, and was made once', async () => {
    const clock = createFakeClock();
    const log = join(createFolder(), 'log');
    const { runtime, edit, pids } = await startFile({}, { clock });
    edit({}, '--log', log);
    await runtime.reload();
    await tick(clock, () => statusOf(runtime, 'files').status === 'connected');
    const writing = runtime.turn().call('mcp__files__write', { text: 'w', ms: 1e9 });
    const written = endOf(writing);
    await eventually(() => readIfThere(log) === 'w\n');
    edit({ title: 'x' }, '--log', log, '--tools', '1');
    await runtime.reload();
    const next = echo(runtime, 'next');
    await clock.advance(limits.restartDrainMs - 1);
    expect(isRunning(pids()[1] ?? 0)).toBe(true);
    await clock.advance(1);
    expect(await written).toBe('OUTCOME_UNKNOWN');
    await expect(writing).rejects.toThrow('its entry or its approval was changed, and it was restarted 30 s later');
    await tick(clock, () => statusOf(runtime, 'files').status === 'connected');
    expect([await next, readIfThere(log), drainsOf(runtime)]).toEqual(['next', 'w\n', ['1 drain', '1 of 1 cut']]);
    expect(pids().map(isRunning)).toEqual([false, false, true]);
  });

  verifies(['LIF-07', 'LIF-14'], 'is one for two edits in a row, and its 30 s are not counted anew', async () => {
    const { runtime, clock, restart, begin, server } = await startDrain();
    const { answer } = await begin();
    await restart('error');
    await clock.advance(20_000);
    await restart('alert');
    await clock.advance(10_000);
    expect([await answer, server.starts()]).toEqual(['OUTCOME_UNKNOWN', 2]);
    await restart('info');
    expect([await endOf(runtime.turn().call('mcp__files__read')), server.starts()]).toMatchObject([{}, 3]);
    expect(drainsOf(runtime)).toEqual(['1 drain', '1 of 1 cut']);
  });

  verifies('LIF-07', 'goes on where the edit is taken back meanwhile', async () => {
    const { runtime, clock, restart, begin, server } = await startDrain();
    const { answer, finish } = await begin();
    await restart('error');
    await restart(undefined);
    finish();
    await clock.advance(0);
    expect([await answer, server.starts()]).toMatchObject([{ text: expect.stringContaining('late') }, 2]);
    expect(await endOf(runtime.turn().call('mcp__files__read'))).toMatchObject({ isError: false });
  });

  verifies('LIF-07', 'lets a live edit pass, which counts for the next session', async () => {
    const { runtime, clock, edit, restart, begin } = await startDrain();
    const { answer, finish } = await begin();
    await restart('error');
    await edit({ logLevel: 'error', title: 'new', disabledTools: ['read'] });
    expect(statusOf(runtime, 'files')).toMatchObject({ title: 'new', state: 'connecting' });
    expect(runtime.turn().tools.map(({ id }) => id.tool)).toEqual(['hang']);
    finish();
    await clock.advance(0);
    expect(await answer).toMatchObject({ isError: false });
    await runtime.ready();
    expect(runtime.turn().tools.map(({ id }) => id.tool)).toEqual(['hang']);
  });

  const ends: Record<string, (world: Awaited<ReturnType<typeof startDrain>>) => Promise<unknown>> = {
    'its entry is removed': ({ edit }) => edit(undefined),
    'it is disabled': ({ edit }) => edit({ enabled: false }),
    'it is disconnected': ({ runtime }) => runtime.disconnect('files'),
    'the runtime is closed': ({ runtime }) => runtime.close(),
    'a person reconnects it': async ({ runtime }) => runtime.reconnect('files'),
    'everything starts over': ({ runtime }) => runtime.reload({ replaceAll: true }),
  };
  for (const [what, end] of Object.entries(ends))
    verifies('LIF-07', `does not let calls finish once ${what}`, async () => {
      const world = await startDrain();
      const { answer } = await world.begin();
      await world.restart('error');
      await end(world);
      await world.clock.advance(0);
      expect([await answer, drainsOf(world.runtime)]).toEqual(['OUTCOME_UNKNOWN', ['1 drain', '1 of 1 cut']]);
    });

  verifies('LIF-07', 'is waited for by a call no longer than its own limit, and nothing is sent', async () => {
    const { runtime, clock, restart, begin, server } = await startDrain();
    const { finish } = await begin();
    await restart('error');
    const waiting = endOf(runtime.turn().call('mcp__files__read', {}, { timeoutMs: 5_000 }));
    await clock.advance(5_000);
    expect(await waiting).toBe('STARTUP_TIMEOUT');
    finish();
    await clock.advance(0);
    expect(server.calls.map(({ tool }) => tool)).toEqual(['hang']);
  });

  verifies('LIF-07', 'leaves a server stopped that a person stopped, and one idle that is not needed', async () => {
    const { runtime, clock, edit, server } = await startDrain();
    await runtime.disconnect('files');
    await edit({ logLevel: 'error' });
    await clock.advance(0);
    expect([statusOf(runtime, 'files').state, server.starts()]).toEqual(['stopped', 1]);
    await edit({ logLevel: 'error', lifecycle: 'lazy', idleStopMs: 1_000 });
    runtime.reconnect('files');
    await clock.advance(1_000);
    await edit({ logLevel: 'alert', lifecycle: 'lazy', idleStopMs: 1_000 });
    await clock.advance(0);
    expect([statusOf(runtime, 'files').state, server.starts()]).toEqual(['idle', 2]);
    expect(runtime.turn().tools.map(({ id }) => id.tool)).toEqual(['hang', 'read']);
  });
});

/** A server in process with a tool that hangs until it is let go; `restart` edits a setting that is no live one. */
async function startDrain() {
  const { folder, clock, servers } = createWorld();
  const gates: (() => void)[] = [];
  const hang = { run: () => new Promise<string>((resolve) => gates.push(() => resolve('late'))) };
  const server = createTappedServer({ hang, read: { run: () => 'done' } });
  servers['files'] = server.entry;
  const runtime = await start(folder, { clock, servers });
  const edit = async (change: JsonObject | undefined) => {
    if (change === undefined) delete servers['files'];
    else servers['files'] = { ...server.entry, ...change };
    await runtime.reload();
  };
  const restart = (logLevel: string | undefined) => edit(logLevel === undefined ? {} : { logLevel });
  const begin = async () => {
    const answer = endOf(runtime.turn().call('mcp__files__hang'));
    await clock.advance(0);
    return { answer, finish: () => gates.shift()?.() };
  };
  return { runtime, clock, server, edit, restart, begin };
}

const readIfThere = (file: string) => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
};

/** Lets time pass in small steps until the condition holds: real processes need real time, their timers the test's. */
const tick = (clock: ReturnType<typeof createFakeClock>, isDone: () => boolean) =>
  eventually(async () => {
    await clock.advance(limits.goneCheckMs);
    return isDone();
  });
