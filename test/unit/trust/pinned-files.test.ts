// Owns the proof of which files of the workspace an entry names, and that every change of one of them is noticed, within limits.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import type { StdioLaunch } from '../../../src/model/server.ts';
import { namedFiles } from '../../../src/trust/pinned-files.ts';
import { verifies } from '../../verifies.ts';
import { remote, stdio } from './definition.ts';

function createWorkspace(...files: readonly string[]): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plexus-pins-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'sub'));
  for (const file of files) writeFileSync(join(folder, file), file);
  return folder;
}

const filesIn = (cwd: string, launch: Partial<StdioLaunch>, folder = cwd) =>
  namedFiles({ ...stdio, ...launch }, { program: join(cwd, 'run.sh'), folder }, { cwd, platform: 'linux' });
const namesIn = async (...args: Parameters<typeof filesIn>) => Object.keys(await filesIn(...args));

verifies(
  'EXT-04',
  'the program, arguments and variables name files: whole, in an option, in an address, without ending',
  async () => {
    const cwd = createWorkspace('run.sh', 'a.mjs', 'b.js', 'c.js', 'sub/d.py', 'hook.cjs', 'unnamed.js');
    const args = ['a.mjs', '--config=b.js', `file://${cwd}/c.js`, 'sub', '/etc/hosts', '../outside', 'missing.js'];
    const env = { NODE_OPTIONS: '--require ./hook --no-warnings', PYTHONPATH: `/x:${cwd}/sub/d.py` };
    expect(await namesIn(cwd, { args, env })).toEqual(
      ['run.sh', 'a.mjs', 'b.js', 'c.js', 'hook.cjs', 'sub/d.py'].map((file) => `file ${file}`),
    );
    expect(await namesIn(cwd, { args: ['d.py'] }, join(cwd, 'sub'))).toEqual(['file run.sh', 'file sub/d.py']);
  },
);

verifies(
  'EXT-04',
  'a file is found between the operators of a shell line, and in an address that is encoded',
  async () => {
    const cwd = createWorkspace('a.sh', 'b.sh', 'c.sh', 'hook.mjs', 'x(1)&2.js');
    const args = ['-c', 'true&&./a.sh|(./b.sh)>`./c.sh`', `--import=file://${cwd}/%68ook.mjs`, 'x(1)&2.js', '50%'];
    expect(await namesIn(cwd, { args })).toEqual(
      ['a.sh', 'b.sh', 'c.sh', 'hook.mjs', 'x(1)&2.js'].map((file) => `file ${file}`),
    );
  },
);

verifies('EXT-04', 'contents decide, and of a huge file its size and time', async () => {
  const cwd = createWorkspace('run.sh');
  const before = await filesIn(cwd, {});
  expect(await filesIn(cwd, {})).toEqual(before);
  writeFileSync(join(cwd, 'run.sh'), 'RUN.SH');
  const after = await filesIn(cwd, {});
  expect(after).not.toEqual(before);
  truncateSync(join(cwd, 'run.sh'), limits.pinnedFiles.bytes + 1);
  expect((await filesIn(cwd, {}))['file run.sh']).toMatch(/^16777217 bytes of /);
});

test('no more files are read than the limit, and none for a remote server', async () => {
  const many = Array.from({ length: limits.pinnedFiles.most + 5 }, (_, at) => `${at}.js`);
  const cwd = createWorkspace(...many);
  expect(await namesIn(cwd, { args: many })).toHaveLength(limits.pinnedFiles.most);
  expect(await namedFiles(remote, {}, { cwd, platform: 'linux' })).toEqual({});
});
