// Owns the proof that a new gateway ends the processes that a killed one left behind, and no other.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { keepLedger, leftIn, sweepLedger } from '../../../src/gateway/ledger.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { noteEnded, noteStarted } from '../../../src/transport/started-processes.ts';
import { removeFolder } from '../../remove-folder.ts';
import { isRunning } from '../../servers/processes.ts';
import { waitFor } from '../../wait-for.ts';

function start(): ChildProcess & { readonly pid: number } {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1e6)'], { detached: true, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child as ChildProcess & { readonly pid: number };
}

test('a process that was begun and not ended is swept, by pid and start time', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plexus-ledger-'));
  onTestFinished(() => removeFolder(folder));
  const file = join(folder, 'processes');
  const [left, ended, other] = [start(), start(), start()];
  const stop = keepLedger(file);
  for (const { pid } of [left, ended]) noteStarted(pid);
  noteEnded(ended.pid);
  stop();
  // Not written down any more.
  noteStarted(other.pid);
  const text = readFileSync(file, 'utf8');
  expect(leftIn(text)).toHaveLength(1);
  expect(await sweepLedger(file, systemClock)).toBe(1);
  await waitFor(() => expect(isRunning(left.pid)).toBe(false));
  expect([ended, other].map(({ pid }) => isRunning(pid))).toEqual([true, true]);
  expect(await sweepLedger(file, systemClock)).toBe(0);
});

test('a group whose leader has ended is swept too, and neither another group nor a process of another boot', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plexus-ledger-'));
  onTestFinished(() => removeFolder(folder));
  const [file, pids] = [join(folder, 'processes'), join(folder, 'pids')];
  const stop = keepLedger(file);
  /** Notes the process, which ends after it has started another one in its group. */
  const startGroup = async (env: NodeJS.ProcessEnv) => {
    const child = `setInterval(() => 0, 1e6); fs.writeFileSync(${JSON.stringify(pids)}, String(process.pid))`;
    const script = `child_process.spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: 'ignore' }); setInterval(() => 0, 1e6)`;
    const leader = spawn(process.execPath, ['-e', script], { detached: true, stdio: 'ignore', env });
    const exited = once(leader, 'exit');
    noteStarted(leader.pid ?? 0);
    const member = await waitFor(() => Number(readFileSync(pids, 'utf8')) || expect.fail('it is starting'));
    onTestFinished(() => void (isRunning(member) && process.kill(member, 'SIGKILL')));
    leader.kill('SIGKILL');
    await exited;
    rmSync(pids);
    return { leader: leader.pid ?? 0, member };
  };
  const ours = await startGroup({ ...process.env, PLEXUS_PROCESS: 'host.1' });
  const { PLEXUS_PROCESS: _, ...env } = process.env;
  const other = await startGroup(env);
  const ofAnotherBoot = await startGroup({ ...process.env, PLEXUS_PROCESS: 'host.2' });
  stop();
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(/^(\+ (\d+) )\S+(?=.* \2 \d+\n$)/m, (whole, begin, pid) =>
      Number(pid) === ofAnotherBoot.leader ? `${begin}another-boot` : whole,
    ),
  );
  const text = readFileSync(file, 'utf8');
  expect(text).toContain(`+ ${ofAnotherBoot.leader} another-boot `);
  expect(await sweepLedger(file, systemClock)).toBe(1);
  await waitFor(() => expect(isRunning(ours.member)).toBe(false));
  expect([other.member, ofAnotherBoot.member].map(isRunning)).toEqual([true, true]);
});

test('a pid that another process has by now is left alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plexus-ledger-'));
  onTestFinished(() => removeFolder(folder));
  const file = join(folder, 'processes');
  const other = start();
  const stop = keepLedger(file);
  noteStarted(other.pid);
  stop();
  writeFileSync(file, readFileSync(file, 'utf8').replace(/\d+\n$/, '1\n'));
  expect(await sweepLedger(file, systemClock)).toBe(0);
  expect(isRunning(other.pid)).toBe(true);
});

test('a damaged ledger ends no process, and keeps no gateway from starting', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plexus-ledger-'));
  onTestFinished(() => removeFolder(folder));
  const file = join(folder, 'processes');
  const other = start();
  const lines = [
    '+ 1',
    '+ 2 no mark',
    `+ 3 a b c -${other.pid} 4`,
    '+ 4 a b c 0 5',
    `+ 5 a b c ${'9'.repeat(20)} 6`,
    '\0\xff',
  ];
  writeFileSync(file, lines.join('\n'));
  expect(await sweepLedger(file, systemClock)).toBe(0);
  expect(isRunning(other.pid)).toBe(true);
});
