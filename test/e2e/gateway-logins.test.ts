// Owns the proof that a login which a server behind the gateway needs is told to its clients, that the gateway goes on by itself once
// a person has logged in in another process, and that nothing it shows or keeps holds a token.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { gatewayFiles } from '../../src/gateway/instance.ts';
import { freePort } from '../free-port.ts';
import { openGatewayClient } from '../gateway-client.ts';
import { startOAuth } from '../servers/oauth.ts';
import { initialize, sendTo } from '../unit/serving/served.ts';
import { verifies } from '../verifies.ts';
import { waitFor } from '../wait-for.ts';
import { Sandbox } from './plexus.ts';

async function setUp() {
  const sandbox = new Sandbox();
  const server = await startOAuth();
  sandbox.write('~/.config/plexus/mcp.json', {
    mcpServers: { web: { url: server.url, oauth: { callback_port: await freePort() } } },
    permissions: { rules: [{ tool: 'mcp__*', action: 'allow' }] },
    plexus: { serving: { port: 0 } },
  });
  const browser = join(sandbox.folder, 'browser.mjs');
  writeFileSync(browser, 'await fetch(process.argv[2]);');
  const env = { BROWSER: `"${process.execPath}" "${browser}"` };
  const gateway = sandbox.spawn(['serve', '--no-token', '--json']);
  onTestFinished(async () => {
    gateway.child.kill('SIGTERM');
    await gateway.done;
    await sandbox.remove();
  });
  const { port } = await waitFor(() => JSON.parse(gateway.seen.out));
  const origin = `http://127.0.0.1:${port}`;
  const client = await openGatewayClient({ era: 'modern', url: `${origin}/mcp`, name: 'client' });
  onTestFinished(() => client.close());
  const call = async (name: string) => JSON.stringify(await client.ask('tools/call', { name, arguments: {} }));
  return {
    sandbox,
    server,
    gateway,
    call,
    open: () => sendTo(`${origin}/mcp/s/web`, { body: initialize() }),
    metrics: async () => {
      const { adminToken } = gatewayFiles(sandbox.path('~/.local/state/plexus'));
      const headers = { authorization: `Bearer ${readFileSync(adminToken, 'utf8').trim()}` };
      return (await sendTo(`${origin}/metrics`, { method: 'GET', headers })).body;
    },
    logIn: () => sandbox.spawn(['login', 'web'], { env }).done,
    /** The tool is offered again, and answers. */
    goesOn: async () => {
      await waitFor(async () => expect(JSON.stringify(await client.ask('tools/list'))).toContain('web__echo'));
      await waitFor(async () => expect(await call('web__echo')).toContain('\\"name\\":\\"echo\\"'));
    },
  };
}

verifies(
  ['AUT-05', 'AUT-03'],
  'a gateway tells its clients which login is needed, goes on once it is given elsewhere, and shows no token',
  async () => {
    const { sandbox, server, gateway, call, open, metrics, logIn, goesOn } = await setUp();
    const refused = await open();
    expect([refused.status, JSON.parse(refused.body).error]).toEqual([
      503,
      {
        code: -32603,
        message: 'Server "web" needs a login (HTTP 401). Log in with: plexus login web',
        data: { code: 'AUTH_REQUIRED', remedy: 'log-in' },
      },
    ]);
    expect(await call('plexus_status')).toContain('web: needs-auth, 0 tools. Server');
    expect(await call('plexus_status')).toContain('Log in with: plexus login web');
    expect(await logIn()).toMatchObject({ code: 0 });
    await goesOn();
    expect((await open()).status).toBe(200);

    await server.act('expire');
    expect(await call('web__echo')).toContain('"content"');
    await server.act('revoke');
    const ended = await call('web__echo');
    expect(ended).toContain('needs a new login: the stored one is no longer accepted. Log in with: plexus login web');
    expect(await call('plexus_status')).toContain('web: needs-auth, 1 tools');
    const again = await logIn();
    await goesOn();
    expect(await server.counts()).toMatchObject({ refreshes: 1, reuses: 0, authorizations: 2 });

    const logs = await sandbox.run(['logs', 'web']);
    const files = readdirSync(sandbox.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
    const shown = [
      await metrics(),
      ended,
      again.out,
      again.err,
      logs.out,
      logs.err,
      gateway.seen.out,
      gateway.seen.err,
    ];
    expect(shown[0]).toContain('plexus_server_up{server="web"} 1');
    expect(files.length).toBeGreaterThan(3);
    // Everything that the authorization server gives out begins with one of these words.
    for (const text of [...shown, ...files]) expect(text).not.toMatch(/(?:access|refresh|code)-[\w-]{32}/);
  },
);
