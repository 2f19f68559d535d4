// Owns the proof that an approval is judged by what would run now, and that an account is found again after a failure.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createMemoryStore, type Store } from '../../../src/kernel/store.ts';
import type { ServerDefinition } from '../../../src/model/server.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { createAccountOf, createSeal } from '../../../src/trust/account.ts';
import { createServerApproval } from '../../../src/trust/server-approval.ts';
import { verifies } from '../../verifies.ts';
import { definitionOf } from '../session.ts';

function createProgram(folder: string, name: string): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, 0o755);
  return folder;
}

const workspaceServer = (change: Partial<ServerDefinition['launch']> = {}): ServerDefinition => ({
  ...definitionOf('files'),
  launch: { kind: 'stdio', command: 'serve', args: [], env: {}, inheritEnv: 'safe', ...change } as never,
  provenance: { scope: 'project', file: '/work/.mcp.json', key: ['files'], inWorkspace: true },
});

verifies('TRU-01', 'an approval does not pass for the program that a changed PATH finds', async () => {
  const root = mkdtempSync(join(tmpdir(), 'plexus-path-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [mine, other] = ['mine', 'other'].map((name) => createProgram(join(root, name), 'serve')) as [string, string];
  const env: Record<string, string | undefined> = { PATH: mine };
  const clock = createFakeClock();
  const gate = createServerApproval({ cwd: root, home: root, platform: 'linux', env }, createMemoryStore(clock), clock);
  await gate.approve(workspaceServer());
  expect(await gate.judge(workspaceServer())).toMatchObject({ kind: 'approved' });
  env['PATH'] = `${other}:${mine}`;
  expect(await gate.judge(workspaceServer())).toMatchObject({ kind: 'asks' });
});

test('an account is computed again after the store has failed once', async () => {
  const store = createMemoryStore(createFakeClock());
  let isBroken = true;
  const flaky: typeof store = {
    ...store,
    get: (key) => (isBroken ? Promise.reject(new Error('no disk')) : store.get(key)),
  };
  const env = { TOKEN: 'secret' };
  const accountOf = createAccountOf({ cwd: '/', home: '/', platform: 'linux', env }, createSeal(flaky));
  const reading = workspaceServer({ args: [`\${TOKEN}`] });
  await expect(accountOf(reading)).rejects.toThrow('no disk');
  isBroken = false;
  expect(await accountOf(reading)).toMatch(/^[0-9a-f]{64}$/);
});

verifies(
  'CFG-19',
  'the id of an account follows the values that an entry reads, and tells nothing of them',
  async () => {
    const idOf = (env: Record<string, string>, store: Store) =>
      createAccountOf(
        { cwd: '/', home: '/', platform: 'linux', env },
        createSeal(store),
      )(workspaceServer({ args: [`\${TOKEN}`] }));
    const [store, other] = [createMemoryStore(createFakeClock()), createMemoryStore(createFakeClock())];
    const [first, again, second] = [
      await idOf({ TOKEN: 'hunter2', ELSE: 'a' }, store),
      await idOf({ TOKEN: 'hunter2', ELSE: 'b' }, store),
      await idOf({ TOKEN: 'hunter3' }, store),
    ];
    expect([first === again, first === second, first.includes('hunter')]).toEqual([true, false, false]);
    // Keyed with a secret of the machine: a list of guesses that was made elsewhere is worth nothing.
    expect(await idOf({ TOKEN: 'hunter2' }, other)).not.toBe(first);
  },
);
