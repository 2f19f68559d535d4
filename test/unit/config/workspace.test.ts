// Owns the proof of which folder is the workspace, seen from a folder below it.

import { chown, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findWorkspace } from '../../../src/config/workspace.ts';
import { verifies } from '../../verifies.ts';
import { createFolder, type Files } from './folder.ts';

/** The workspace for `home/repo/a/b`, as a path below the test's folder. */
async function foundIn(files: Files, cwd = 'home/repo/a/b') {
  const root = await createFolder({ 'home/repo/a/b/c/file': '', ...files });
  const place = { home: join(root, 'home'), platform: process.platform };
  return findWorkspace({ cwd: join(root, cwd), ...place }).slice(root.length + 1);
}

const GIT = { 'home/repo/.git/HEAD': '' };

verifies(
  'CFG-02',
  'the nearest folder with a project’s file up to the repository’s root is the workspace, alone',
  async () => {
    expect(await foundIn({ ...GIT, 'home/repo/.mcp.json': '' })).toBe('home/repo');
    expect(await foundIn({ ...GIT, 'home/repo/.mcp.json': '', 'home/repo/a/.mcp.toml': '' })).toBe('home/repo/a');
    for (const file of ['.plexus.local.toml', '.mcp.toml', '.mcp.json', '.plexus/mcp.json'])
      expect(await foundIn({ ...GIT, [`home/repo/a/${file}`]: '', 'home/repo/.mcp.json': '' })).toBe('home/repo/a');
    expect(await foundIn({ ...GIT, 'home/repo/a/b/.mcp.json': '' })).toBe('home/repo/a/b');
    expect(await foundIn({ 'home/repo/.git': 'gitdir: elsewhere', 'home/repo/.mcp.json': '' }), 'a worktree').toBe(
      'home/repo',
    );
  },
);

verifies('CFG-02', 'without a file, or outside of a repository, it is the current folder', async () => {
  expect(await foundIn(GIT)).toBe('home/repo/a/b');
  expect(await foundIn({ 'home/repo/.mcp.json': '' }), 'no .git').toBe('home/repo/a/b');
  const nested = { ...GIT, 'home/repo/.mcp.json': '', 'home/repo/a/.git/HEAD': '' };
  expect(await foundIn(nested), 'the nearest repository ends it').toBe('home/repo/a/b');
});

verifies('CFG-02', 'nothing above the home folder counts', async () => {
  expect(await foundIn({ '.git/HEAD': '', '.mcp.json': '' })).toBe('home/repo/a/b');
  expect(await foundIn({ 'home/.git/HEAD': '', 'home/.mcp.json': '' })).toBe('home');
  expect(await foundIn({ '.git/HEAD': '', '.mcp.json': '', 'other/x/file': '' }, 'other/x'), 'beside it').toBe('');
});

verifies('CFG-02', 'the home folder is known again behind a link', async () => {
  const root = await createFolder({ '.git/HEAD': '', '.mcp.json': '', 'home/repo/file': '' });
  const link = join(root, 'link');
  await symlink(join(root, 'home'), link, 'junction');
  const cwd = join(root, 'home/repo');
  expect(findWorkspace({ cwd, home: link, platform: process.platform })).toBe(cwd);
});

test('a folder of another owner does not count', async (context) => {
  if (process.getuid?.() !== 0) context.skip('only root can give a folder away');
  const root = await createFolder({ '.git/HEAD': '', '.mcp.json': '', 'a/file': '' });
  const find = () => findWorkspace({ cwd: join(root, 'a'), home: '/nowhere', platform: process.platform });
  expect(find()).toBe(root);
  await chown(root, 12_345, 12_345);
  expect(find()).toBe(join(root, 'a'));
});
