// Owns the proof that an installation is not ended in the middle, however its host ends. A stand-in for npx installs until the
// test says that it is done, and tells its progress all the while, as npm does: a broken pipe would end it.

import { spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, onTestFinished } from 'vitest';
import type { RuntimeEvent } from '../../src/events.ts';
import { createMemoryStore } from '../../src/kernel/store.ts';
import { createFakeClock, type FakeClock } from '../../src/testing/fake-clock.ts';
import { send } from '../../src/transport/family.ts';
import { listProcesses } from '../../src/transport/proc.ts';
import { FAULTY } from '../servers/faulty.ts';
import { eventually, isRunning, pidsIn, pidsOnce } from '../servers/processes.ts';
import { verifies } from '../verifies.ts';
import { waitFor } from '../wait-for.ts';
import { Sandbox } from './plexus.ts';
import { start, statusOf, textOf } from './runtimes.ts';

let box: Sandbox;

beforeEach(() => {
  box = new Sandbox();
});
afterEach(() => {
  for (const pid of pidsIn(box.path('pid'))) if (isRunning(pid)) send(pid, 'SIGKILL');
  return box.remove();
});

const isInstalled = () => existsSync(box.path('installed'));
const finish = () => writeFileSync(box.path('go'), '');

/** Its pid is that of the server later, which it becomes. */
/** A silent one is not ended by a broken pipe. */
function standIn(progress = 'echo still at it >&2; '): string {
  const npx = box.write(
    'bin/npx',
    `#!/bin/sh
echo $$ >> '${box.path('pid')}'
while [ ! -e '${box.path('go')}' ]; do ${progress}sleep 0.02; done
echo done > '${box.path('installed')}'
exec '${process.execPath}' '${FAULTY}' --journal '${box.path('journal')}'
`,
  );
  chmodSync(npx, 0o755);
  return npx;
}

/** Longer than any other start would be waited for here. Second by second: a wait may lead to the next one. */
async function passMinute(clock: FakeClock): Promise<void> {
  for (let second = 0; second < 60; second++) await clock.advance(1_000);
}

const background = { startup: { whenUncached: 'background', gateMs: 1 } } as const;

verifies(['TDN-04', 'LIF-12'], 'a host that closes lets an installation finish, and its server then ends', async () => {
  const runtime = await start(box.folder, {
    // An installation has a limit of its own.
    servers: { slow: { command: standIn(), args: ['-y', 'x'], startupTimeoutMs: 1 } },
    ...background,
  });
  const [pid = 0] = await pidsOnce(box.path('pid'), 1);
  expect(statusOf(runtime, 'slow')).toMatchObject({ state: 'connecting', reason: 'npx is still installing it' });
  expect((await runtime.ready({ timeoutMs: 1 })).notReady).toEqual([
    { server: 'slow', state: 'connecting', message: 'npx is still installing it' },
  ]);
  const awaited: RuntimeEvent = { type: 'connection.install-awaited', server: 'slow', installer: 'npx' };
  await waitFor(() => expect(runtime.events).toContainEqual(awaited));
  expect(statusOf(runtime, 'slow').state).toBe('connecting');
  await runtime.close();
  expect([isRunning(pid), isInstalled()]).toEqual([true, false]);
  finish();
  await eventually(() => !isRunning(pid));
  expect(isInstalled()).toBe(true);
  // It was the server in the end.
  expect(readFileSync(box.path('journal'), 'utf8')).toContain('open');
});

verifies('LIF-11', 'a server that was installed is used as any other, and ends with its host', async () => {
  const runtime = await start(box.folder, {
    servers: { slow: { command: standIn(), args: ['-y', 'x'] } },
    ...background,
  });
  const [pid = 0] = await pidsOnce(box.path('pid'), 1);
  finish();
  await runtime.ready({ timeoutMs: 60_000 });
  expect(statusOf(runtime, 'slow')).toMatchObject({ state: 'connected', pid });
  expect(statusOf(runtime, 'slow').reason).toBe(undefined);
  await runtime.close();
  expect(isRunning(pid)).toBe(false);
});

verifies('CAL-09', 'a call waits for an installation longer than for another start', async () => {
  const clock = createFakeClock();
  const options = {
    servers: { slow: { command: standIn(), args: ['-y', 'x'], startupTimeoutMs: 1_000 } },
    store: createMemoryStore(clock),
    clock,
  };
  finish();
  await (await start(box.folder, options)).close();
  rmSync(box.path('go'));
  const runtime = await start(box.folder, options);
  const call = runtime.turn().call('mcp__slow__echo', { text: 'there' });
  await pidsOnce(box.path('pid'), 2);
  await passMinute(clock);
  finish();
  expect(textOf(await call)).toBe('there');
});

verifies('EXT-10', 'a required server that has to be installed first is waited for as long', async () => {
  const clock = createFakeClock();
  const starting = start(box.folder, {
    servers: { slow: { command: standIn(), args: ['-y', 'x'], startupTimeoutMs: 1_000, required: true } },
    clock,
  });
  await pidsOnce(box.path('pid'), 1);
  await passMinute(clock);
  finish();
  expect(statusOf(await starting, 'slow').state).toBe('connected');
});

verifies('TDN-02', 'a person who disconnects a server ends its installation too', async () => {
  const runtime = await start(box.folder, {
    servers: { slow: { command: standIn(), args: ['-y', 'x'] } },
    ...background,
  });
  const [pid = 0] = await pidsOnce(box.path('pid'), 1);
  await runtime.disconnect('slow');
  expect([isRunning(pid), isInstalled()]).toEqual([false, false]);
});

verifies(['TDN-04', 'EXT-08'], 'a host that is killed leaves the installation, and nothing else', async () => {
  const script = fileURLToPath(new URL('./install-host.mjs', import.meta.url));
  const host = spawn(process.execPath, [script, standIn(), FAULTY, box.path('usual')], { stdio: 'pipe' });
  onTestFinished(() => void host.kill('SIGKILL'));
  host.stderr.pipe(process.stderr);
  let said = '';
  host.stdout.on('data', (chunk) => {
    said += chunk;
  });
  await eventually(() => said.includes('started'));
  const usual = await pidsOnce(box.path('usual'), 2);
  const [pid = 0] = await pidsOnce(box.path('pid'), 1);
  host.kill('SIGKILL');
  // The watchdog ends strays last, so that it has spared the installation by now.
  await eventually(() => !usual.some(isRunning));
  expect([isRunning(pid), isInstalled()]).toEqual([true, false]);
  finish();
  await eventually(() => !isRunning(pid));
  expect(isInstalled()).toBe(true);
});

// The watchdog is its first child, the installation its second.
for (const children of [1, 2])
  verifies(
    ['TDN-04', 'EXT-08'],
    `a host killed with its child number ${children} leaves no installation without a guard`,
    async () => {
      const script = fileURLToPath(new URL('./install-host.mjs', import.meta.url));
      const npx = standIn('');
      const host = spawn(process.execPath, [script, npx], { stdio: ['pipe', 'ignore', 'inherit'] });
      const pid = Number(host.pid);
      onTestFinished(() => void host.kill('SIGKILL'));
      let seen = 0;
      for (let last = ''; seen < children; ) {
        const now = textIn(`/proc/${pid}/task/${pid}/children`).trim();
        if (now !== last) seen = Math.max(seen + 1, now.split(' ').length);
        last = now;
        expect(isRunning(pid)).toBe(true);
      }
      host.kill('SIGKILL');
      await eventually(() => !isRunning(pid));
      // From its fork on, a child has the words of the host or its own, and both name the stand-in.
      const isLeft = () => namedBy(npx).length > 0;
      const guardsOf = (each: number) => namedBy(`plexus-install-guard\0${each}\0`);
      const isGuarded = () => pidsIn(box.path('pid')).some((each) => isRunning(each) && guardsOf(each).length > 0);
      await eventually(() => !isLeft() || isGuarded());
      finish();
      await eventually(() => !isLeft());
    },
  );

const namedBy = (text: string) =>
  listProcesses().filter((pid) => isRunning(pid) && textIn(`/proc/${pid}/cmdline`).includes(text));

function textIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

verifies('EXT-08', 'plexus list tells of an installation that goes on', async () => {
  box.write('~/.config/plexus/mcp.json', {
    mcpServers: { slow: { command: standIn(), args: ['-y', 'x'], cwd: box.workspace } },
    plexus: { startup: { wait_ms: 500 } },
  });
  const { out } = await box.plexus('list');
  expect(out).toContain('npx is still installing it, and goes on when this command ends, for 5 min at most.');
  const [pid = 0] = await pidsOnce(box.path('pid'), 1);
  expect(isRunning(pid)).toBe(true);
  finish();
  await eventually(() => !isRunning(pid));
  expect(isInstalled()).toBe(true);
});
