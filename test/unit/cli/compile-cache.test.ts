// Owns the proof that compiled code is kept in a folder of the user's own, and that nothing depends on it.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { enableCompileCache } from '../../../src/cli/compile-cache.ts';

function createHome(env: Record<string, string> = {}) {
  const home = mkdtempSync(join(tmpdir(), 'plexus-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const folders: string[] = [];
  const node = { enableCompileCache: (folder: string) => void folders.push(folder) };
  return { home, folders, enable: () => enableCompileCache({ home, env, platform: 'linux' }, node) };
}

test('the folder is made for its owner alone, and is made once', () => {
  const { home, folders, enable } = createHome();
  const folder = join(home, '.cache', 'plexus');
  expect([enable(), enable(), folders]).toEqual([true, true, [folder, folder]]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('it lies where the user has caches', () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'plexus-caches-'));
  onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }));
  const { folders, enable } = createHome({ XDG_CACHE_HOME: elsewhere });
  expect([enable(), folders]).toEqual([true, [join(elsewhere, 'plexus')]]);
});

test.skipIf(process.platform === 'win32')('code that others could have written is not loaded', () => {
  const { home, folders, enable } = createHome();
  const folder = join(home, '.cache', 'plexus');
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o777);
  expect([enable(), folders]).toEqual([false, []]);
});

test('a folder that cannot be made, and a Node that keeps no code, cost nothing else', () => {
  const { home, folders, enable } = createHome();
  writeFileSync(join(home, '.cache'), '');
  expect([enable(), folders]).toEqual([false, []]);
  expect(enableCompileCache({ home, env: {}, platform: 'linux' }, {})).toBe(false);
});
