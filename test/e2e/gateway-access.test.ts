// Owns the proof of who reaches what of a running gateway: tokens of clients and their revocation, the admin token, and the pages
// that name nothing without one.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { gatewayFiles } from '../../src/gateway/instance.ts';
import { initialize, sendTo } from '../unit/serving/served.ts';
import { verifies } from '../verifies.ts';
import { waitFor } from '../wait-for.ts';
import { Sandbox } from './plexus.ts';

const desk = fileURLToPath(new URL('../servers/desk.mjs', import.meta.url));

const WORK = "[plexus.serving]\nport = 0\n[plexus.serving.profiles.work]\nservers = ['desk']\n";

async function serve(...words: readonly string[]) {
  const sandbox = new Sandbox();
  sandbox.write(
    '~/.config/plexus/mcp.toml',
    `${WORK}[mcp_servers.desk]\ncommand = '${process.execPath}'\nargs = ['${desk}']\n`,
  );
  const started = sandbox.spawn(['serve', '--json', ...words]);
  const { port } = await waitFor(() => JSON.parse(started.seen.out));
  onTestFinished(async () => {
    started.child.kill('SIGTERM');
    await started.done;
    await sandbox.remove();
  });
  const files = gatewayFiles(sandbox.path('~/.local/state/plexus'));
  const read = (file: string) => readFileSync(file, 'utf8').trim();
  const get = (path: string, token?: string, method = 'GET') =>
    sendTo(`http://127.0.0.1:${port}${path}`, { method, headers: token ? { authorization: `Bearer ${token}` } : {} });
  const open = (path: string, token: string, headers = {}) =>
    sendTo(`http://127.0.0.1:${port}${path}`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
      body: initialize(),
    });
  return { sandbox, started, port, get, open, token: read(files.token), admin: read(files.adminToken) };
}

verifies(
  'EXT-33',
  'a client token opens its own profile and no other route, and ends with its sessions when it is revoked',
  async () => {
    const { sandbox, open, get, port, token } = await serve();
    const { token: own } = await sandbox.json('serve', 'token', 'add', 'editor', '--profile', 'work');
    const opened = await waitFor(async () => {
      const answer = await open('/mcp/p/work', own);
      expect(answer.status).toBe(200);
      return answer;
    });
    expect([(await open('/mcp', own)).status, (await open('/mcp/s/desk', own)).status]).toEqual([403, 403]);
    expect((await open('/mcp', token)).status).toBe(200);
    expect((await get('/', own)).body, 'the page names servers of other profiles too').not.toContain('desk');
    const session = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    const list = () =>
      sendTo(`http://127.0.0.1:${port}/mcp/p/work`, {
        headers: { authorization: `Bearer ${own}`, ...session },
        body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      });
    expect((await list()).status).toBe(200);
    expect(await sandbox.json('serve', 'token', 'list')).toMatchObject({
      tokens: [{ name: 'editor', profile: 'work' }],
    });
    expect(await sandbox.json('serve', 'token', 'revoke', 'editor')).toEqual({ name: 'editor', revoked: true });
    await waitFor(async () => expect((await list()).status).toBe(401));
    // Its session ended in the running gateway: the owner sees none but its own.
    await waitFor(async () => expect((await get('/', token)).body).toContain('1 session\n'));
  },
);

test('a token for a profile that is not configured is refused, with the profiles that there are', async () => {
  const { sandbox } = await serve();
  const { code, err } = await sandbox.run(['serve', 'token', 'add', 'editor', '--profile', 'wrok']);
  expect(code).toBe(1);
  expect(err).toContain('no profile "wrok" is configured, only default, work');
  expect(await sandbox.json('serve', 'token', 'list')).toEqual({ tokens: [] });
});

test.each([
  [['fast'], 'unexpected word "fast"'],
  [
    ['--profile', 'work'],
    '--profile goes with --stdio or token add; over HTTP a client names its profile in the address',
  ],
  [['--stdio', '--port', '0'], '--port, --host and --no-token are for HTTP'],
  [['--stdio', '--profile', 'wrok'], 'no profile "wrok" is configured, only default, work'],
  [['--no-token', '--host', '0.0.0.0'], 'it does not go with --host 0.0.0.0'],
] as const)('serve %j starts nothing, and says why', async (words, sentence) => {
  const sandbox = new Sandbox();
  onTestFinished(() => sandbox.remove());
  sandbox.write('~/.config/plexus/mcp.toml', WORK);
  const { code, err, out } = await sandbox.run(['serve', ...words]);
  expect([code, out]).toEqual([1, '']);
  expect(err).toContain(sentence);
});

test('connect says which profiles there are, and a second serve where the first one is', async () => {
  const { sandbox, port, started } = await serve();
  const client = sandbox.spawn(['connect', '--profile', 'wrok'], { input: `${JSON.stringify(initialize())}\n` });
  const { code, out } = await client.done;
  expect([code, JSON.parse(out).error.message]).toEqual([
    4,
    'The gateway refuses this client: There is no profile "wrok", only default, work; a gateway reads its profiles when it starts. Correct the command of the client, or the configuration of the gateway.',
  ]);
  const second = await sandbox.run(['serve']);
  expect(second).toMatchObject({ code: 1 });
  expect(second.err).toContain(`at http://127.0.0.1:${port}/mcp with the token in `);
  expect(second.err).toContain(`kill ${started.child.pid}.`);
});

test('a workspace is named by connect only', async () => {
  const { open, token } = await serve();
  expect((await open('/mcp', token, { 'plexus-workspace': '%2Ftmp' })).status).toBe(403);
});

test('health says ok and nothing else; counts and stop need the admin token; names need a token', async () => {
  const { get, token, admin, started } = await serve();
  expect(await get('/healthz')).toMatchObject({ status: 200, body: 'ok\n' });
  expect(await get('/readyz')).toMatchObject({ status: 200, body: 'ready\n' });
  expect([(await get('/metrics')).status, (await get('/metrics', token)).status]).toEqual([401, 401]);
  expect((await get('/metrics', admin)).body).toContain('plexus_server_up{server="desk"}');
  expect((await get('/')).body).not.toContain('desk');
  expect((await get('/', token)).body).toContain('desk');
  expect([(await get('/stop', admin)).status, (await get('/stop', token, 'POST')).status]).toEqual([405, 401]);
  expect((await get('/stop', admin, 'POST')).status).toBe(202);
  expect(await started.done).toMatchObject({ code: 0 });
});

test('a request that the gateway has sent itself is refused', async () => {
  const { sandbox, open, token } = await serve();
  const { markOf } = await import('../../src/gateway/claim.ts');
  const mark = markOf(readFileSync(gatewayFiles(sandbox.path('~/.local/state/plexus')).connectToken, 'utf8').trim());
  expect((await open('/mcp', token, { 'plexus-gateway': `other,${mark}` })).status).toBe(508);
});
