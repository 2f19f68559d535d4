// Owns the proof that an installation without its host is ended when it takes too long, and that its guard ends with it.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { send } from '../../../src/transport/family.ts';
import { guardInstallation } from '../../../src/transport/install-guard.ts';
import { createMark, MARK_VARIABLE } from '../../../src/transport/mark.ts';
import { listProcesses } from '../../../src/transport/proc.ts';
import { type Installer, openStdio } from '../../../src/transport/stdio.ts';
import { eventually, isRunning, pidsOnce, temporaryFile } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';

const npx = (limitMs: number): Installer => ({ name: 'npx', goesOn: () => true, limitMs });

const noisy = 'echo still at it >&2; echo noise; sleep 0.01';
/** Whoever writes dies of the broken pipe once the guard is gone, so that only a quiet one has to be ended. */
const quiet = 'sleep 1';

/** An installer that obeys no end of input and no signal, does its step for ever, and has a child that left its group. */
async function openEndless(limitMs: number, step: string) {
  const pids = temporaryFile('pids');
  const script = `trap '' TERM
echo $$ >> '${pids}'
setsid sh -c 'echo $$ >> "${pids}"; while :; do sleep 1; done' &
while :; do ${step}; done`;
  const channel = openStdio({
    server: 'endless',
    command: 'sh',
    args: ['-c', script],
    env: { PATH: process.env['PATH'] ?? '' },
    maxMessageBytes: 1_000,
    clock: systemClock,
    installer: npx(limitMs),
  });
  await channel.start();
  const started = await pidsOnce(pids, 2);
  onTestFinished(() => {
    for (const pid of started) if (isRunning(pid)) send(pid, 'SIGKILL');
  });
  return { channel, started };
}

const guardsOf = (pid: number) =>
  listProcesses().filter((each) => commandLineOf(each).includes(`plexus-install-guard\0${pid}\0`));

/** Empty for a process that has just ended. */
function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

verifies('TDN-04', 'an installation that was left is ended after its limit, with all it started', async () => {
  const { channel, started } = await openEndless(1_000, quiet);
  await channel.close();
  await eventually(() => !started.some(isRunning));
  await eventually(() => guardsOf(started[0] ?? 0).length === 0);
});

verifies('TDN-04', 'within its limit it stays, although nobody reads what it writes any more', async () => {
  const { channel, started } = await openEndless(600_000, noisy);
  expect(channel.report()).toMatchObject({ reason: 'npx is still installing it', isInstalling: true });
  const [leader = 0] = started;
  await channel.close();
  expect(started.map(isRunning)).toEqual([true, true]);
  expect(guardsOf(leader)).toHaveLength(1);
  for (const pid of started) send(pid, 'SIGKILL');
  await eventually(() => guardsOf(leader).length === 0);
});

verifies('TDN-04', 'a guard that is no longer needed ends, and leaves the process and its output alone', async () => {
  const mark = createMark();
  const child = spawn('cat', [], { stdio: 'pipe', env: { PATH: process.env['PATH'], [MARK_VARIABLE]: mark } });
  onTestFinished(() => void child.kill('SIGKILL'));
  const group = Number(child.pid);
  const guard = guardInstallation(child, { group, mark, limitMs: 0 });
  let heard = '';
  child.stdout.on('data', (chunk) => {
    heard += chunk;
  });
  await eventually(() => guardsOf(group).length === 1);
  guard?.dismiss();
  await eventually(() => guardsOf(group).length === 0);
  child.stdin.write('still here');
  await eventually(() => heard === 'still here');
});
