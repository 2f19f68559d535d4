// Owns the proof that a file is replaced as a whole or not at all, with the rights it should have, and that nothing stays beside it.

import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeDebris, replaceFile } from '../../../src/kernel/replace-file.ts';

async function setUp() {
  const folder = await mkdtemp(join(tmpdir(), 'plexus-replace-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return { folder, file: join(folder, 'a.json') };
}

const modeOf = async (file: string) => (await stat(file)).mode & 0o777;

test('the new text takes the place of the old one, for its owner only unless said otherwise', async () => {
  const { folder, file } = await setUp();
  await writeFile(file, 'old');
  await chmod(file, 0o644);
  expect(await replaceFile(file, 'new')).toBe(true);
  expect([await readFile(file, 'utf8'), await modeOf(file)]).toEqual(['new', 0o600]);
  expect(await replaceFile(file, 'newer', { mode: 0o666 })).toBe(true);
  expect([await readFile(file, 'utf8'), await modeOf(file)]).toEqual(['newer', 0o666]);
  expect(await readdir(folder)).toEqual(['a.json']);
});

test('a no in the last moment leaves everything as it was', async () => {
  const { folder, file } = await setUp();
  await writeFile(file, 'old');
  expect(await replaceFile(file, 'new', { mayReplace: () => false })).toBe(false);
  expect([await readFile(file, 'utf8'), await readdir(folder)]).toEqual(['old', ['a.json']]);
});

test('what cannot take its place leaves nothing behind', async () => {
  const { folder, file } = await setUp();
  await mkdir(file);
  await expect(replaceFile(file, 'new')).rejects.toMatchObject({ code: 'EISDIR' });
  expect(await readdir(folder)).toEqual(['a.json']);
});

test.runIf(process.getuid?.() === 0)('the owner is kept', async () => {
  const { file } = await setUp();
  await replaceFile(file, 'theirs', { owner: { uid: 12_345, gid: 54_321 } });
  const { uid, gid } = await stat(file);
  expect({ uid, gid }).toEqual({ uid: 12_345, gid: 54_321 });
});

test('only what a dead process left of that very file is cleared away', async () => {
  const { folder } = await setUp();
  const id = '00000000-0000-4000-8000-000000000000';
  const old = [`a.json.${id}.tmp`, `a.json.lock.1700000000000-${id}.tmp`];
  const others = [`a.json.backup.tmp`, `b.json.${id}.tmp`, 'a.json.tmp'];
  const fresh = `a.json.${id.replace('4', '5')}.tmp`;
  for (const name of [...others, ...old, fresh]) await mkdir(join(folder, name));
  for (const name of [...others, ...old]) await utimes(join(folder, name), 1, 1);
  await removeDebris(folder, 'a.json.');
  expect((await readdir(folder)).sort()).toEqual([...others, fresh].sort());
});
