// Owns the proof that making a folder ends, whatever the file system says.

import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder } from '../../../src/kernel/make-folder.ts';

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plexus-make-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('all that leads to it is made, with its mode, by however many at once', async () => {
  const folder = createFolder();
  const deep = join(folder, 'a', 'b', 'c');
  await Promise.all(Array.from({ length: 8 }, () => makeFolder(deep, { mode: 0o700 })));
  await makeFolder(deep);
  for (const path of [deep, join(folder, 'a')]) expect(statSync(path).mode & 0o777).toBe(0o700);
});

test('a link to a folder is one; what is in the way is told', async () => {
  const folder = createFolder();
  symlinkSync(folder, join(folder, 'link'));
  await makeFolder(join(folder, 'link'));
  writeFileSync(join(folder, 'file'), '');
  await expect(makeFolder(join(folder, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeFolder(join(folder, 'file', 'a', 'b'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});

test.runIf(process.platform === 'linux')('where nothing can be made it fails, and does not try for ever', async () => {
  await expect(makeFolder('/proc/nothing/a/b')).rejects.toMatchObject({ code: 'ENOENT' });
});
