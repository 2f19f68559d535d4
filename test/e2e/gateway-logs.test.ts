// Owns the proof that a person follows the log of a server that the gateway runs: what it writes next, until Ctrl-C; and that following is
// reading a file, which neither needs the gateway nor keeps it.

import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openResidence } from '../../src/gateway/residence.ts';
import { openServedGateway } from '../../src/gateway/serve.ts';
import { createMemoryStore } from '../../src/kernel/store.ts';
import { limits } from '../../src/model/limits.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { verifies } from '../verifies.ts';
import { waitFor } from '../wait-for.ts';
import { Sandbox } from './plexus.ts';
import { serve } from './running-gateway.ts';

const talking = fileURLToPath(new URL('../servers/talking.mjs', import.meta.url));
const CONFIG = `
[plexus.serving]
port = 0
[mcp_servers.talking]
command = '${process.execPath}'
args = ['${talking}', 'hello there']
`;

function follow(sandbox: Sandbox, ...words: readonly string[]) {
  const followed = sandbox.spawn(['logs', 'talking', '--follow', ...words]);
  onTestFinished(() => void followed.child.kill('SIGKILL'));
  return followed;
}

const died = ['before the end', 'out of memory'];

verifies('TRN-02', 'logs --follow shows what the server of a running gateway writes next, until Ctrl-C', async () => {
  const { sandbox, pid } = await serve(CONFIG);
  await waitFor(async () => expect((await sandbox.run(['logs', 'talking'])).out).toContain('hello there'));
  const { child, seen, done } = follow(sandbox, '--lines', '1');
  await waitFor(() => expect(seen.out).toBe('hello there\n'));
  expect(seen.err).toBe(`The running gateway (process ${pid}) writes this log too.\n`);
  expect((await sandbox.run(['call', 'talking', 'die'])).code).toBe(4);
  await waitFor(() => {
    for (const line of died) expect(seen.out).toContain(`\n${line}\n`);
    expect(seen.out).toMatch(/--- \S+ ended: it exited with code 3.*---\n--- \S+ started, pid \d+ ---\n/);
  });
  child.kill('SIGINT');
  expect(await done).toMatchObject({ code: 0 });
  // The gateway does not care.
  expect(await sandbox.run(['call', 'talking', 'well'])).toMatchObject({ code: 0, out: 'called\n' });
});

test('the follower outlives the gateway, and shows what the next one makes its server write', async () => {
  const { sandbox, pid, started } = await serve(CONFIG);
  await waitFor(async () => expect((await sandbox.run(['logs', 'talking'])).out).toContain('hello there'));
  const { child, seen, done } = follow(sandbox, '--lines', '1');
  await waitFor(() => expect(seen.out).toBe('hello there\n'));
  process.kill(pid, 'SIGKILL');
  await started.done;
  await serve(CONFIG, { sandbox });
  expect(await sandbox.run(['call', 'talking', 'well'])).toMatchObject({ code: 0 });
  await waitFor(() => expect(seen.out.match(/hello there/g)).toHaveLength(2));
  child.kill('SIGINT');
  expect(await done).toMatchObject({ code: 0 });
});

test('a server that the gateway does not have, and --json, are refused as without a gateway', async () => {
  const { sandbox } = await serve(CONFIG);
  const unknown = await sandbox.run(['logs', 'talkin', '--follow']);
  expect(unknown).toMatchObject({ code: 2, out: '', err: expect.stringContaining('Did you mean talking?') });
  const asJson = await sandbox.run(['logs', 'talking', '--follow', '--json']);
  expect([asJson.code, JSON.parse(asJson.out).error.message]).toEqual([1, expect.stringContaining('--json')]);
});

test('following keeps no gateway from its end: it is idle although its log is read', async () => {
  const sandbox = new Sandbox();
  onTestFinished(() => sandbox.remove());
  sandbox.write('~/.config/plexus/mcp.toml', CONFIG);
  const clock = createFakeClock();
  const host = '127.0.0.1';
  const own = { env: {}, host, configuration: '', onError: String, isOpen: true, endsWhenIdle: true };
  const stateFolder = sandbox.path('~/.local/state/plexus');
  const residence = await openResidence({ ...own, stateFolder, store: createMemoryStore(), clock });
  const runtime = { home: sandbox.home, cwd: sandbox.workspace, env: {}, logs: true };
  const served = await openServedGateway({ runtime, host, authenticate: residence.authenticate });
  onTestFinished(() => residence.close(served));
  await residence.open(served, 0);
  await served.runtime.ready();
  const { child, seen, done } = follow(sandbox);
  await waitFor(() => expect(seen.out).toContain('hello there\n'));
  expect(served.gateway.measures()).toMatchObject({ sessions: 0, pipes: 0, unanswered: 0 });
  await clock.advance(limits.gatewayIdleMs);
  expect(residence.ended.aborted).toBe(true);
  expect(child.exitCode).toBeNull();
  child.kill('SIGINT');
  expect((await done).code).toBe(0);
});
