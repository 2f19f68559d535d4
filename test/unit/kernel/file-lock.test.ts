// Owns the proof that a file lock has one holder, does not outlive a dead holder for long, and is never taken from a living one.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { acquire } from '../../../src/kernel/file-lock.ts';
import { markOfThisProcess } from '../../../src/kernel/process-mark.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { writeProgram } from '../../program.ts';
import { pidsOnce } from '../../servers/processes.ts';
import { waitFor } from '../../wait-for.ts';

async function setUp() {
  const folder = await mkdtemp(join(tmpdir(), 'plexus-lock-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return { folder, lock: join(folder, 'a.lock'), clock: createFakeClock(1_000) };
}

test('has one holder at a time, and leaves nothing', async () => {
  const { folder, lock } = await setUp();
  let holders = 0;
  const most: number[] = [];
  const work = async () => {
    for (let time = 0; time < 5; time++) {
      const release = await acquire({ lock, ttlMs: 10_000, clock: systemClock });
      most.push(++holders);
      await systemClock.sleep(1);
      holders--;
      await release();
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  expect(most).toEqual(Array.from({ length: 40 }, () => 1));
  expect(await readdir(folder)).toEqual([]);
});

test('whose time is up goes to the next, and its former holder lets go of nothing', async () => {
  const { lock, clock } = await setUp();
  const release = await acquire({ lock, ttlMs: 100, clock });
  await clock.advance(100);
  const releaseNext = await acquire({ lock, ttlMs: 100, clock });
  const held = await readdir(lock);
  await release();
  await release();
  expect(await readdir(lock)).toEqual(held);
  await releaseNext();
  await expect(readdir(lock)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('let go at the very instant it expires is not taken from who acquires it then', async () => {
  const { lock, clock } = await setUp();
  for (let time = 0; time < 50; time++) {
    const release = await acquire({ lock, ttlMs: 10, clock });
    await clock.advance(10);
    const [releaseNext] = await Promise.all([acquire({ lock, ttlMs: 10_000, clock }), release()]);
    expect(await readdir(lock)).toHaveLength(1);
    await releaseNext();
  }
});

const CLAIM = '00000000-0000-4000-8000-000000000000';

test('that is empty belongs to nobody', async () => {
  const { lock, clock } = await setUp();
  await mkdir(lock);
  await (await acquire({ lock, ttlMs: 10, clock }))();
  await expect(readdir(lock)).rejects.toMatchObject({ code: 'ENOENT' });
});

test.each([`9999999999999999-${CLAIM}`, `${'9'.repeat(200)}-${CLAIM}`])(
  'whose claim %s is for longer than anybody may hold it is waited for only as long as that',
  async (claim) => {
    const { lock, clock } = await setUp();
    await mkdir(lock);
    await writeFile(join(lock, claim), '');
    let isHeld = false;
    const waiting = acquire({ lock, ttlMs: 100, clock }).then((release) => {
      isHeld = true;
      return release;
    });
    for (let waited = 0; waited < 100; waited += 20) {
      await waitFor(() => expect(clock.pending()).toBe(1));
      expect(isHeld).toBe(false);
      await clock.advance(20);
    }
    await (await waiting)();
    await expect(readdir(lock)).rejects.toMatchObject({ code: 'ENOENT' });
  },
);

const strangers: Readonly<Record<string, (lock: string) => Promise<unknown>>> = {
  'a word nobody wrote': (lock) => writeFile(join(lock, 'authorized_keys'), 'mine'),
  'what only begins like a claim': (lock) => writeFile(join(lock, `1-${CLAIM}.old`), 'mine'),
  'a folder': (lock) => mkdir(join(lock, 'sub')),
  'a folder that is named like a claim': (lock) => mkdir(join(lock, `1-${CLAIM}`)),
  'a link that is named like a claim': (lock) => symlink('/etc/passwd', join(lock, `1-${CLAIM}`)),
};
test.each(Object.entries(strangers))('that holds %s is refused at once, and keeps it', async (_, fill) => {
  const { lock, clock } = await setUp();
  await mkdir(lock);
  await fill(lock);
  const before = await readdir(lock);
  await expect(acquire({ lock, ttlMs: 10, clock })).rejects.toMatchObject({ code: 'ENOTEMPTY' });
  expect(await readdir(lock)).toEqual(before);
});

test('that holds a claim beside something strange loses only the claim', async () => {
  const { lock, clock } = await setUp();
  await mkdir(lock);
  await writeFile(join(lock, `1-${CLAIM}`), '');
  await writeFile(join(lock, 'mine'), 'mine');
  await expect(acquire({ lock, ttlMs: 10, clock })).rejects.toMatchObject({ code: 'ENOTEMPTY' });
  expect(await readdir(lock)).toEqual(['mine']);
});

test.each(['authorized_keys', `1-${CLAIM}`])(
  'that is a link is not followed: %s stays where it leads',
  async (name) => {
    const { folder, lock, clock } = await setUp();
    await mkdir(join(folder, 'elsewhere'));
    await writeFile(join(folder, 'elsewhere', name), 'mine');
    await symlink('elsewhere', lock);
    await expect(acquire({ lock, ttlMs: 10, clock })).rejects.toMatchObject({ code: 'ENOTDIR' });
    expect(await readFile(join(folder, 'elsewhere', name), 'utf8')).toBe('mine');
    expect((await readdir(folder)).sort()).toEqual(['a.lock', 'elsewhere']);
  },
);

test('is waited for until the signal aborts', async () => {
  const { folder, lock, clock } = await setUp();
  await acquire({ lock, ttlMs: 10_000, clock });
  const abort = new AbortController();
  const waiting = acquire({ lock, ttlMs: 10_000, clock, signal: abort.signal });
  await waitFor(() => expect(clock.pending()).toBe(1));
  abort.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  expect(await readdir(folder)).toEqual(['a.lock']);
});

test('that cannot be written says so at once', async () => {
  const { folder, lock, clock } = await setUp();
  await expect(acquire({ lock: join(folder, 'none', 'a.lock'), ttlMs: 10, clock })).rejects.toMatchObject({
    code: 'ENOENT',
  });
  await writeFile(lock, 'a file in the way');
  await expect(acquire({ lock, ttlMs: 10, clock })).rejects.toMatchObject({ code: 'ENOTDIR' });
});

/** A program that holds the lock of its first argument, says so in the file of its second, and then does as its third says. */
async function writeHolder(folder: string): Promise<string> {
  return writeProgram(
    join(folder, 'program'),
    ['clock', 'file-lock', 'process-mark', 'replace-file'].map((name) => `kernel/${name}`),
    `import { appendFileSync } from 'node:fs';
    import { systemClock as clock } from './clock.js';
    import { acquire } from './file-lock.js';
    const [, , lock, log, then] = process.argv;
    await acquire({ lock, ttlMs: 600_000, clock });
    appendFileSync(log, process.pid + '\\n');
    if (then === 'stay') setInterval(() => {}, 1_000);
    await clock.sleep(5);
    if (then === 'die') { appendFileSync(log, process.pid + '\\n'); process.kill(process.pid, 'SIGKILL'); }`,
  );
}

async function setUpHolders() {
  const { folder, lock } = await setUp();
  const [program, log] = [await writeHolder(folder), join(folder, 'log')];
  const children: ChildProcess[] = [];
  onTestFinished(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  const start = (command: string, ...args: readonly string[]) => {
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    children.push(child);
    return { child, ended: once(child, 'exit') };
  };
  const hold = (then: 'stay' | 'die') => start(process.execPath, program, lock, log, then);
  // The same hour as the holders have, and no second passes.
  return { folder, lock, log, program, start, hold, clock: createFakeClock(Date.now()) };
}

const begin = ({ lock, clock }: Pick<Awaited<ReturnType<typeof setUpHolders>>, 'lock' | 'clock'>) => {
  const state = { isHeld: false };
  const waiting = acquire({ lock, ttlMs: 600_000, clock }).then((release) => {
    state.isHeld = true;
    return release;
  });
  return { waiting, state };
};

describe.skipIf(process.platform !== 'linux')('of another process', () => {
  test('that was killed is overtaken at once, also by who waits already, and leaves nothing', async () => {
    const { lock, log, hold, clock } = await setUpHolders();
    for (const isKilledFirst of [true, false]) {
      const { child, ended } = hold('stay');
      await pidsOnce(log, isKilledFirst ? 1 : 2);
      if (isKilledFirst) child.kill('SIGKILL') && (await ended);
      const { waiting, state } = begin({ lock, clock });
      if (!isKilledFirst) {
        await waitFor(() => expect(clock.pending()).toBe(1));
        expect(state.isHeld).toBe(false);
        child.kill('SIGKILL');
        await ended;
        await clock.advance(20);
      }
      await waitFor(() => expect(state.isHeld).toBe(true));
      await (await waiting)();
      await expect(readdir(lock)).rejects.toMatchObject({ code: 'ENOENT' });
    }
  });

  test('that was killed, and that nobody buries, is overtaken at once', async () => {
    const { lock, log, program, start, clock } = await setUpHolders();
    // A parent that does not look after its children.
    const [script, node] = ['"$0" "$1" "$2" "$3" stay & exec sleep 60', process.execPath];
    start('sh', '-c', script, node, program, lock, log);
    const [pid = 0] = await pidsOnce(log, 1);
    process.kill(pid, 'SIGKILL');
    const { waiting, state } = begin({ lock, clock });
    await waitFor(async () => {
      await clock.advance(20);
      expect(state.isHeld).toBe(true);
    });
    expect(process.kill(pid, 0)).toBe(true);
    await (await waiting)();
  });

  test.each(['SIGCONT', 'SIGSTOP'] as const)('that lives is waited for, after %s', async (signal) => {
    const { lock, log, hold, clock } = await setUpHolders();
    const { child } = hold('stay');
    await pidsOnce(log, 1);
    child.kill(signal);
    const abort = new AbortController();
    const waiting = acquire({ lock, ttlMs: 600_000, clock, signal: abort.signal });
    for (let look = 0; look < 20; look++) {
      await waitFor(() => expect(clock.pending()).toBe(1));
      await clock.advance(20);
    }
    await waitFor(() => expect(clock.pending()).toBe(1));
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  test('has one holder at a time, though each is killed while it holds and all others overtake it at once', async () => {
    const { lock, log, hold } = await setUpHolders();
    await Promise.all(Array.from({ length: 8 }, () => hold('die').ended));
    const pids = (await readFile(log, 'utf8')).split('\n').filter(Boolean);
    const pairs = Array.from({ length: 8 }, (_, at) => pids.slice(at * 2, at * 2 + 2));
    expect(pairs.filter(([came, went]) => came !== went)).toEqual([]);
    expect([pids.length, new Set(pids).size]).toEqual([16, 8]);
    await (await acquire({ lock, ttlMs: 600_000, clock: systemClock }))();
    await expect(readdir(lock)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  const [boot = '', pids = '', time = '', pid = '', began = ''] = markOfThisProcess()?.split(' ') ?? [];
  const NOBODY = '999999999';
  const claims: Record<string, [mark: readonly string[], isOvertaken: boolean]> = {
    'a pid that is nobody’s': [[boot, pids, time, NOBODY, began], true],
    'a pid that has come back': [[boot, pids, time, pid, `${Number(began) - 1}`], true],
    'a pid that lives': [[boot, pids, time, pid, began], false],
    'a pid of another machine, or of before it was switched off': [['another', pids, time, NOBODY, began], false],
    'a pid of another container': [[boot, 'pid:[1]', time, NOBODY, began], false],
    'a time of another container': [[boot, pids, 'time:[1]', pid, `${Number(began) - 1}`], false],
    'no pid': [[boot, pids, time, '0', began], false],
    'a group of processes': [[boot, pids, time, `-${NOBODY}`, began], false],
    'a word nobody wrote': [['whatever'], false],
    nothing: [[], false],
  };
  test.each(Object.entries(claims))('whose claim names %s', async (_, [mark, isOvertaken]) => {
    const { lock } = await setUp();
    const clock = createFakeClock(Date.now());
    await mkdir(lock);
    await writeFile(join(lock, `${clock.now() + 600_000}-${CLAIM}`), mark.join(' '));
    const { waiting, state } = begin({ lock, clock });
    await waitFor(() => expect(state.isHeld || clock.pending() === 1).toBe(true));
    expect(state.isHeld).toBe(isOvertaken);
    await clock.advance(600_000);
    await waitFor(() => expect(state.isHeld).toBe(true));
    await (await waiting)();
  });
});
