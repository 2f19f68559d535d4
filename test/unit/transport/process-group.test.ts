// Owns the proof that a child and its descendants start and end as one, with real processes and time moved by hand.

import { chmodSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { RuntimeError } from '../../../src/model/errors.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { send } from '../../../src/transport/family.ts';
import { openProcessGroup } from '../../../src/transport/process-group.ts';
import { spawnFailure } from '../../../src/transport/spawn-failure.ts';
import { eventually, isRunning, pidsOnce, temporaryFile } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import { drive, faultyProgram, program } from './channels.ts';

const started: number[] = [];

/** Processes that a failing test leaves behind are killed after it. */
afterEach(() => {
  for (const pid of started.splice(0)) send(pid, 'SIGKILL');
});

async function openFaulty(...flags: string[]) {
  const clock = createFakeClock();
  const pidFile = temporaryFile('pids');
  const group = await openProcessGroup({ ...faultyProgram('--pid-file', pidFile, ...flags), clock });
  const pids = await pidsOnce(pidFile, flags.some((flag) => flag.startsWith('--fault=grandchild')) ? 2 : 1);
  started.push(...pids);
  const stderr: string[] = [];
  group.child.stderr.on('data', (chunk) => stderr.push(String(chunk)));
  group.child.stdout.resume();
  return { clock, group, pids, stderr };
}

describe('ending', () => {
  verifies(['TDN-03', 'EXT-08'], 'a polite server ends with its input, and no time is lost', async () => {
    const { clock, group, pids } = await openFaulty();
    await group.end();
    expect(pids.filter(isRunning)).toEqual([]);
    expect(clock.now()).toBe(0);
    expect(group.exit).toMatchObject({ code: 0, signal: null, forced: false });
  });

  verifies('TDN-03', 'SIGTERM comes 2 s after the end of input and SIGKILL 1 s later, not before', async () => {
    const { clock, group, stderr } = await openFaulty('--fault=ignore-eof', '--fault=ignore-sigterm');
    const ending = group.end();
    await clock.advance(1_999);
    expect(stderr).toEqual([]);
    await clock.advance(1);
    await eventually(() => stderr.length > 0);
    expect(stderr).toEqual(['SIGTERM ignored\n']);
    await clock.advance(999);
    expect(isRunning(group.pid)).toBe(true);
    await clock.advance(1);
    // A busy machine ends the process a moment later: the group is looked at again until it is gone.
    await drive(clock, ending);
    expect(group.exit).toMatchObject({ signal: 'SIGKILL', forced: true });
    expect(clock.pending()).toBe(0);
  });

  verifies(['TDN-03', 'EXT-08'], 'a grandchild that ignores everything is gone when the ending is', async () => {
    const { clock, group, pids } = await openFaulty(
      '--fault=ignore-eof',
      '--fault=ignore-sigterm',
      '--fault=grandchild',
    );
    await drive(clock, group.end());
    expect(pids).toHaveLength(2);
    expect(pids.filter(isRunning)).toEqual([]);
    expect(clock.now()).toBeGreaterThanOrEqual(3_000);
  });

  verifies(['TDN-03', 'EXT-08'], 'a grandchild that left the group is found and ended', async () => {
    const { clock, group, pids } = await openFaulty('--fault=grandchild-detached');
    await drive(clock, group.end());
    expect(pids).toHaveLength(2);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  verifies('EXT-08', 'who outlives a server that exited by itself is ended as well', async () => {
    const { clock, group, pids } = await openFaulty('--fault=grandchild');
    process.kill(group.pid, 'SIGKILL');
    const allGone = eventually(() => !pids.some(isRunning));
    await drive(clock, allGone);
  });

  test('all callers share one ending, and ending again later does nothing', async () => {
    const { group } = await openFaulty();
    const first = group.end();
    expect(group.end()).toBe(first);
    await first;
    await group.end();
  });

  test('a zombie that nobody reaps does not count as running', async () => {
    const file = temporaryFile('pids');
    // The inner shell leaves its group, drops the mark and never collects its child, which stays a zombie of the group.
    const inner = `echo $$ > ${file}; sleep 0 & exec env -i setsid sleep 1000`;
    const clock = createFakeClock();
    const group = await openProcessGroup({ ...program('sh', '-c', `sh -c '${inner}' & wait`), clock });
    started.push(...(await pidsOnce(file, 1)));
    process.kill(group.pid, 'SIGKILL');
    await drive(clock, group.end());
    expect(send(-group.pid, 0)).toBe(true);
  });
});

describe('a program that cannot be started', () => {
  const script = temporaryFile('script');
  writeFileSync(script, '#!/nowhere/interpreter\n');
  const notExecutable = temporaryFile('data');
  writeFileSync(notExecutable, 'data');
  chmodSync(script, 0o755);

  const failures: Record<string, [options: Parameters<typeof openProcessGroup>[0], reason: string]> = {
    'a missing command': [program('no-such-command-anywhere'), 'the command was not found'],
    'a missing interpreter': [program(script), 'the interpreter that its first line names was not found'],
    'a file that is no program': [program(notExecutable), 'the command is not executable'],
    'a missing directory': [
      { ...program('sh'), cwd: '/no/such/place' },
      'its working directory /no/such/place does not exist',
    ],
    'a file as directory': [{ ...program('sh'), cwd: script }, `its working directory ${script} is not a directory`],
    'a NUL in an argument': [
      program('sh', 'a\0b'),
      'its command, an argument or its environment is empty or holds a NUL character',
    ],
  };
  for (const [what, [options, reason]] of Object.entries(failures)) {
    test(`says so: ${what}`, async () => {
      const failure = await openProcessGroup(options).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(RuntimeError);
      expect(failure).toMatchObject({
        code: 'SPAWN_FAILED',
        data: { server: 'files', command: options.command, reason },
      });
    });
  }

  test('is tried again later when only the machine is short of something', () => {
    const codes = ['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM', 'ENOENT'];
    const errors = codes.map((code) => spawnFailure(Object.assign(new Error(), { code }), program('sh')));
    expect(errors.map(({ code, reconnect }) => [code, reconnect])).toEqual([
      ['CONNECTION_LOST', true],
      ['CONNECTION_LOST', true],
      ['CONNECTION_LOST', true],
      ['CONNECTION_LOST', true],
      ['SPAWN_FAILED', false],
    ]);
  });
});
