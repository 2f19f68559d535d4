// Owns the proof that a path is resolved as the system resolves it.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { realPath } from '../../../src/kernel/real-path.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plexus-real-')));
afterAll(() => rmSync(folder, { recursive: true }));

const at = (path: string) => join(folder, path);
mkdirSync(at('a/b'), { recursive: true });
mkdirSync(at('c/d'), { recursive: true });
writeFileSync(at('c/file'), '');
symlinkSync('../c/d', at('a/down'));
symlinkSync(at('c'), at('a/absolute'));
symlinkSync('down', at('a/twice'));
symlinkSync('../c/new/file', at('a/dangling'));
symlinkSync('around', at('a/around'));

const leads: Record<string, [path: string, to: string | undefined]> = {
  'a plain path to itself': ['a/b', 'a/b'],
  'what does not exist to itself': ['a/x/y', 'a/x/y'],
  'dots and slashes nowhere': ['a//./b/', 'a/b'],
  'a relative link on from its folder': ['a/down/x', 'c/d/x'],
  'an absolute link to its end': ['a/absolute/file', 'c/file'],
  'a link to a link to the last end': ['a/twice', 'c/d'],
  'a link to nothing to where a file would be made': ['a/dangling', 'c/new/file'],
  'up from where a link has led': ['a/down/../file', 'c/file'],
  'up from what does not exist to its parent': ['a/x/../b', 'a/b'],
  'what lies below a file to itself': ['c/file/x', 'c/file/x'],
  'a link around itself nowhere': ['a/around', undefined],
};
for (const [what, [path, to]] of Object.entries(leads))
  test(`leads ${what}`, () => {
    expect(realPath(`${folder}/${path}`)).toBe(to === undefined ? undefined : at(to));
  });

test('agrees with the system wherever something is', () => {
  for (const path of ['a/b', 'a/down', 'a/absolute/d', 'a/twice', 'a/absolute/file', 'c/file'])
    expect(realPath(at(path))).toBe(realpathSync.native(at(path)));
});

test('tells nothing of a path that is not absolute, or that the system refuses', () => {
  expect(realPath('a/b')).toBe(undefined);
  expect(realPath(`/${'x'.repeat(5_000)}`)).toBe(undefined);
});
