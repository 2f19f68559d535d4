// Owns the proof that a command for a value runs within its limits of time and size, ends with everything it started, and never
// throws.

import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CommandOptions, runCommand } from '../../../src/config/run-command.ts';
import { limits } from '../../../src/model/limits.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { eventually, isRunning, pidsOnce, temporaryFile } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';
import { createFolder } from './folder.ts';

function setUp(change: Partial<CommandOptions> = {}) {
  const clock = createFakeClock();
  const { PATH } = process.env;
  const options: CommandOptions = { cwd: '/', env: { PATH, WORD: 'hello' }, platform: 'linux', clock, ...change };
  return { clock, run: (command: string) => runCommand(command, options) };
}

const ok = (output: string) => ({ ok: true, output });
const failed = (problem: string) => ({ ok: false, problem });

describe('what a command prints', () => {
  const cases: Record<string, [command: string, output: string]> = {
    'is taken without the end of its last line': ['echo hi', 'hi'],
    'is taken without the end of a line as Windows has it': ["printf 'hi\\r\\n'", 'hi'],
    'keeps everything else': ["printf ' a\\n\\n b \\n\\n'", ' a\n\n b \n'],
    'may be nothing': ['true', ''],
    'comes from a shell with the given environment': ['printf "$WORD, $(echo you)" | cat', 'hello, you'],
    'comes from the given folder': ['pwd', '/'],
    'may come in pieces, cut anywhere': ["printf '\\303'; printf '\\244'", 'ä'],
    'holds nothing of stderr': ['echo no >&2; echo yes', 'yes'],
    'may fill its limit to the last byte': [
      `head -c ${limits.helper.bytes} /dev/zero | tr '\\0' x`,
      'x'.repeat(65_536),
    ],
  };
  for (const [sentence, [command, output]] of Object.entries(cases)) {
    verifies('CFG-21', sentence, async () => {
      const { run, clock } = setUp();
      expect(await run(command)).toEqual(ok(output));
      expect(clock.pending()).toBe(0);
    });
  }

  test('cannot depend on an answer: there is nobody to type', async () => {
    expect(await setUp().run('read answer || echo nobody')).toEqual(ok('nobody'));
  });
});

describe('a command that fails', () => {
  const cases: Record<string, [command: string, problem: string]> = {
    'is told by its exit code, not by what it wrote': [
      'echo s3cret; echo s3cret >&2; exit 3',
      'it ended with exit code 3',
    ],
    'is told when it is not there': ['no-such-program-anywhere', 'it ended with exit code 127'],
    'is told by the signal that ended it': ['kill -TERM $$', 'it was ended by SIGTERM'],
    'is told when it cannot be asked for': ['echo \0', 'it could not be started'],
    'is told when it is longer than the system takes': [`: ${'x'.repeat(4_000_000)}`, 'it could not be started'],
  };
  for (const [sentence, [command, problem]] of Object.entries(cases)) {
    test(sentence, async () => {
      const { run, clock } = setUp();
      expect(await run(command)).toEqual(failed(problem));
      expect(clock.pending()).toBe(0);
    });
  }

  test('is told when there is no folder to run it in, or no shell', async () => {
    const file = join(await createFolder({ file: '' }), 'file');
    for (const change of [{ cwd: '/no/such/folder' }, { cwd: file }, { env: { PATH: '/no/such/folder' } }]) {
      const { run, clock } = setUp(change);
      expect(await run('echo hi')).toEqual(failed('it could not be started'));
      expect(clock.pending()).toBe(0);
    }
  });
});

describe('a command without end', () => {
  verifies('CFG-21', 'is ended after ten seconds, with everything it started', async () => {
    const { run, clock } = setUp();
    const pids = temporaryFile('pids');
    const running = run(`sleep 600 & echo $! >> ${pids}; echo $$ >> ${pids}; echo half; wait`);
    const started = await pidsOnce(pids, 2);
    await clock.advance(limits.helper.ms - 1);
    expect([clock.pending(), started.map(isRunning)]).toEqual([1, [true, true]]);
    await clock.advance(1);
    expect(await running).toEqual(failed('it took longer than 10 s'));
    await eventually(() => !started.some(isRunning));
    expect(clock.pending()).toBe(0);
  });

  verifies('CFG-21', 'is ended with what it left behind, also when it has ended itself', async () => {
    const { run, clock } = setUp();
    const pids = temporaryFile('pids');
    const running = run(`sleep 600 & echo $! >> ${pids}; echo $$ >> ${pids}`);
    const [left = 0, shell = 0] = await pidsOnce(pids, 2);
    await eventually(() => !isRunning(shell));
    await clock.advance(limits.helper.ms);
    expect(await running).toEqual(failed('it took longer than 10 s'));
    await eventually(() => !isRunning(left));
  });

  test('leaves alone what it started for others, when it ends well', async () => {
    const pids = temporaryFile('pids');
    expect(await setUp().run(`sleep 600 >/dev/null & echo $! >> ${pids}; echo hi`)).toEqual(ok('hi'));
    const [daemon = 0] = await pidsOnce(pids, 1);
    expect(isRunning(daemon)).toBe(true);
    process.kill(daemon, 'SIGKILL');
  });

  verifies('CFG-21', 'is ended as soon as it printed too much', async () => {
    const { run, clock } = setUp();
    const pids = temporaryFile('pids');
    const tooMuch = failed('it printed more than 65536 bytes');
    expect(await run(`echo $$ >> ${pids}; yes`)).toEqual(tooMuch);
    expect(await run(`head -c ${limits.helper.bytes + 1} /dev/zero`)).toEqual(tooMuch);
    const [pid = 0] = await pidsOnce(pids, 1);
    await eventually(() => !isRunning(pid));
    expect(clock.pending()).toBe(0);
  });

  test('is let go when it flees from its group and keeps printing', async () => {
    const { run } = setUp();
    const pids = temporaryFile('pids');
    expect(await run(`setsid sh -c 'echo $$ >> ${pids}; exec yes'`)).toEqual(
      failed('it printed more than 65536 bytes'),
    );
    const [pid = 0] = await pidsOnce(pids, 1);
    // Its output pipe is closed, which ends the process as well.
    await eventually(() => !isRunning(pid));
  });
});

test('on Windows the command goes to the shell of the system in quotes, as it is written', async () => {
  const folder = await createFolder({ 'cmd.exe': '#!/bin/sh\nprintf "%s|" "$@"\n' });
  await chmod(join(folder, 'cmd.exe'), 0o755);
  const { run } = setUp({ platform: 'win32', env: { COMSPEC: join(folder, 'cmd.exe') } });
  expect(await run('echo "a b"')).toEqual(ok('/d|/s|/c|"echo "a b""|'));
});
