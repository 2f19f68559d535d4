// Owns the proof, with a repository that swaps files after an approval, of how far an approval reaches: to the command by default,
// and to the contents of the files that the entry names where they are pinned.

import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { createRuntime } from '../../src/runtime.ts';
import { faulty } from '../servers/faulty.ts';
import { verifies } from '../verifies.ts';
import { Sandbox } from './plexus.ts';

/** A repository whose server is a script of its own, with a hook that only a variable names. */
function createRepository(): Sandbox {
  const box = new Sandbox();
  onTestFinished(() => box.remove());
  const [server = ''] = faulty().args;
  box.write('run.mjs', `await import(${JSON.stringify(pathToFileURL(server).href)});`);
  box.write('hook.cjs', '// nothing');
  box.write('.mcp.json', {
    mcpServers: {
      local: { command: process.execPath, args: ['./run.mjs'], env: { NODE_OPTIONS: '--require ./hook.cjs' } },
    },
  });
  return box;
}

const stateOf = async (box: Sandbox) => (await box.json('list', '--live')).servers[0];

verifies('EXT-04', 'an approval says that it covers the command and not what the files say later', async () => {
  const box = createRepository();
  const { out } = await box.plexus('approve', 'local');
  expect(out).toContain('This approves the command, not what its files say later.');
  box.write('hook.cjs', '// swapped');
  expect((await stateOf(box)).state).not.toBe('needs-approval');
});

verifies(['TRU-01', 'EXT-04'], 'with --pin-files a swapped script or hook asks again, and nothing runs', async () => {
  const box = createRepository();
  const { out } = await box.plexus('approve', 'local', '--pin-files');
  expect(out).toContain('It asks again once one of these files changes: run.mjs, hook.cjs.');
  expect((await stateOf(box)).state).toBe('connected');
  const ran = box.path('ran');
  const evil = `require('node:fs').writeFileSync(${JSON.stringify(ran)}, '')`;
  box.write('hook.cjs', evil);
  expect(await stateOf(box)).toMatchObject({
    state: 'needs-approval',
    error: { message: expect.stringContaining('file hook.cjs has another value') },
  });
  const options = { cwd: box.workspace, home: box.home, env: {}, interactive: false };
  const runtime = await createRuntime(options);
  onTestFinished(() => runtime.close());
  await runtime.ready();
  expect(runtime.status()).toMatchObject([{ name: 'local', state: 'needs-approval' }]);
  expect(existsSync(ran)).toBe(false);

  // Approving it again, without the option, pins the files as they are now.
  box.write('hook.cjs', '// harmless again');
  await box.plexus('approve', 'local');
  expect((await stateOf(box)).state).toBe('connected');
  box.write('run.mjs', 'process.exit()');
  expect((await stateOf(box)).state).toBe('needs-approval');
});

verifies('EXT-04', 'with the setting pin_files every stored approval covers the files', async () => {
  const box = createRepository();
  box.write('~/.config/plexus/mcp.toml', '[plexus.trust]\npin_files = true\n');
  const options = { cwd: box.workspace, home: box.home, env: {}, interactive: false };
  const runtime = await createRuntime({ ...options, approve: async () => 'always' });
  await runtime.ready();
  await runtime.close();
  expect((await stateOf(box)).state).toBe('connected');
  box.write('run.mjs', 'process.exit()');
  expect((await stateOf(box)).state).toBe('needs-approval');
});
