// Owns the proof that a changed file is reported once it has settled, however it was changed, and that nothing else is reported.

import { rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { watchFiles } from '../../../src/config/watch.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { createFolder, type Files } from './folder.ts';

const SETTLE_MS = 500;

/** Polls real files, by a clock that is moved by hand. */
async function watching(files: Files, watched: (folder: string) => readonly string[]) {
  const folder = await createFolder(files);
  const clock = createFakeClock();
  let told = 0;
  const stop = watchFiles({ files: () => watched(folder), clock, changed: () => told++ });
  onTestFinished(stop);
  /** A poll is over when it has scheduled the next one. */
  const looked = async () => {
    while (clock.pending() === 0) await clock.advance(0);
  };
  await looked();
  return {
    folder,
    stop,
    clock,
    told: () => told,
    pass: async (looks: number) => {
      for (let done = 0; done < looks; done++) {
        await clock.advance(SETTLE_MS);
        await looked();
      }
    },
  };
}

const one = (folder: string) => [join(folder, 'a.json')];

describe('a change', () => {
  verifies('LIF-15', 'is told when the file has been left alone for half a second, and once', async () => {
    const { folder, told, pass } = await watching({ 'a.json': '1' }, one);
    await pass(3);
    expect(told()).toBe(0);
    await writeFile(join(folder, 'a.json'), '22');
    await pass(1);
    expect(told()).toBe(0);
    await pass(1);
    expect(told()).toBe(1);
    await pass(3);
    expect(told()).toBe(1);
  });

  const changes: Record<string, (file: string) => Promise<unknown>> = {
    'a file that is written anew with as many characters': async (file) => {
      await writeFile(file, '2');
      await utimes(file, 1, 1);
    },
    'a file that another one replaces': async (file) => {
      await writeFile(`${file}.new`, '1');
      await rename(`${file}.new`, file);
    },
    'a file that is removed': (file) => rm(file),
    'a file that becomes a link': async (file) => {
      await rm(file);
      await symlink('/dev/null', file);
    },
  };
  for (const [sentence, change] of Object.entries(changes)) {
    test(`is noticed of ${sentence}`, async () => {
      const { folder, told, pass } = await watching({ 'a.json': '1' }, one);
      await change(join(folder, 'a.json'));
      await pass(2);
      expect(told()).toBe(1);
    });
  }

  test('is noticed of a file that comes into being, and behind a link', async () => {
    const { folder, told, pass } = await watching({ 'real.json': '1' }, one);
    await symlink(join(folder, 'real.json'), join(folder, 'a.json'));
    await pass(2);
    expect(told()).toBe(1);
    await writeFile(join(folder, 'real.json'), '22');
    await pass(2);
    expect(told()).toBe(2);
  });

  test('is noticed of a folder into which something comes', async () => {
    const { folder, told, pass } = await watching({ 'plugins/keep': '' }, (root) => [join(root, 'plugins')]);
    await writeFile(join(folder, 'plugins/new'), '');
    await pass(2);
    expect(told()).toBe(1);
  });

  test('is not told while it goes on', async () => {
    const { folder, told, pass } = await watching({ 'a.json': '1' }, one);
    for (let round = 2; round < 8; round++) {
      await writeFile(join(folder, 'a.json'), '1'.repeat(round));
      await pass(1);
      expect(told()).toBe(0);
    }
    await pass(1);
    expect(told()).toBe(1);
  });

  test('is told once for a burst of files, and not when all is as it was told before', async () => {
    const { folder, told, pass } = await watching({}, (root) => [join(root, 'a.json'), join(root, 'b.json')]);
    for (const name of ['a.json', 'b.json', 'a.json', 'b.json']) await writeFile(join(folder, name), name);
    await pass(2);
    expect(told()).toBe(1);
    await writeFile(join(folder, 'c.json'), 'not looked at');
    await pass(2);
    expect(told()).toBe(1);
  });

  test('brings other files: they are looked at from then on, and what happened to them meanwhile is not lost', async () => {
    const names = ['a.json'];
    const { folder, told, pass } = await watching({ 'a.json': '1' }, (root) => names.map((name) => join(root, name)));
    await writeFile(join(folder, 'a.json'), '22');
    await pass(2);
    expect(told()).toBe(1);
    names.push('b.json');
    await pass(2);
    expect(told()).toBe(2);
    await pass(2);
    expect(told()).toBe(2);
    await writeFile(join(folder, 'b.json'), '1');
    await pass(2);
    expect(told()).toBe(3);
  });

  test('is told no longer once it is stopped, and no timer is left', async () => {
    const { folder, told, stop, clock } = await watching({ 'a.json': '1' }, one);
    await writeFile(join(folder, 'a.json'), '22');
    stop();
    expect(clock.pending()).toBe(0);
    await clock.advance(10 * SETTLE_MS);
    expect([told(), clock.pending()]).toEqual([0, 0]);
  });
});
