// Owns the proof that a file lock has one holder, outlives nobody for long, and is never taken from the wrong one.

import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { acquire } from '../../../src/kernel/file-lock.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';

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
      await vi.waitFor(() => expect(clock.pending()).toBe(1));
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
  await vi.waitFor(() => expect(clock.pending()).toBe(1));
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
