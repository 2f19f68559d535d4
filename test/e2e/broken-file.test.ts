// Owns the proof that a person's own file that is broken when Plexus starts still forbids what it forbade: with the library and
// with the command line.

import { existsSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import { stateFolder } from '../../src/config/scopes.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createFileStore } from '../../src/store/file.ts';
import { faulty } from '../servers/faulty.ts';
import { verifies } from '../verifies.ts';
import { waitFor } from '../wait-for.ts';
import { Sandbox } from './plexus.ts';
import { start, statusOf } from './runtimes.ts';

verifies('CFG-17', 'a deny list survives the next start with a broken file, and mending it ends that', async () => {
  const box = new Sandbox();
  onTestFinished(() => box.remove());
  const USER = '~/.config/plexus/mcp.json';
  const store = createFileStore(stateFolder({ home: box.home, env: {}, platform: process.platform }), systemClock);
  const options = { discover: true, watch: false, home: box.home, store };
  const pids = box.path('pids');
  box.write('.mcp.json', { mcpServers: { theirs: faulty('--pid-file', pids) } });
  await box.plexus('approve', 'theirs');

  box.write(USER, '{ "security": ');
  const first = (await box.json('list')).servers;
  expect(first).toMatchObject([{ name: 'theirs', state: 'disabled' }]);
  expect(first[0].error.message).toContain(`${box.path(USER)} is broken, and it may forbid this server`);

  box.write(USER, { security: { mcp_server_denylist: ['theirs'] } });
  await box.plexus('config');
  await waitFor(async () => expect(await store.get(`own-files/${box.path(USER)}`)).toContain('theirs'));
  box.write(USER, '{ "security": ');
  const runtime = await start(box.workspace, options);
  expect(statusOf(runtime, 'theirs')).toMatchObject({ state: 'disabled' });
  expect(statusOf(runtime, 'theirs').error?.message).toContain('mcp_server_denylist names it');
  expect((await box.json('list')).servers).toMatchObject([{ name: 'theirs', state: 'disabled' }]);
  expect(existsSync(pids), 'it never ran').toBe(false);

  box.write(USER, {});
  await runtime.reload();
  await runtime.ready();
  expect(statusOf(runtime, 'theirs')).toMatchObject({ state: 'connected' });
});
