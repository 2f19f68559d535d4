// Owns the proof that a file lock has one holder, outlives nobody for long, and is never taken from the wrong one.

import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
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

test.each(['nothing at all', 'a word nobody wrote'])('that holds %s belongs to nobody', async (content) => {
  const { lock, clock } = await setUp();
  await mkdir(lock);
  if (content !== 'nothing at all') await writeFile(join(lock, content), '');
  await (await acquire({ lock, ttlMs: 10, clock }))();
  await expect(readdir(lock)).rejects.toMatchObject({ code: 'ENOENT' });
});

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
