// Owns the proof of what a running gateway tells of its servers, and when: their whole status to the person's commands, changes to its clients
// without being asked; and that a person can make it read its files again, or start every server anew.

import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, onTestFinished, test } from 'vitest';
import { isRunning } from '../servers/processes.ts';
import { verifies } from '../verifies.ts';
import { waitFor } from '../wait-for.ts';
import { Sandbox } from './plexus.ts';
import { CONFIG, serve } from './running-gateway.ts';

const serverAt = (file: string) => fileURLToPath(new URL(`../servers/${file}`, import.meta.url));
const entry = (name: string, ...args: readonly string[]) =>
  `[mcp_servers.${name}]\ncommand = '${process.execPath}'\nargs = ${JSON.stringify(args)}\n`;

verifies('EVT-05', 'plexus list tells of each server in the running gateway all that a status has', async () => {
  const guarded = createServer((_, response) => void response.writeHead(401).end()).listen(0, '127.0.0.1');
  onTestFinished(() => void guarded.close());
  await waitFor(() => expect(guarded.listening).toBe(true));
  const { port } = guarded.address() as AddressInfo;
  const { sandbox, pid } = await serve(`${CONFIG}
${entry('talking', serverAt('talking.mjs'), 'hello there')}
[mcp_servers.talking.reconnect]
delays_ms = [1]
[mcp_servers.gone]
url = 'http://127.0.0.1:9/mcp'
[mcp_servers.gone.reconnect]
delays_ms = [600_000]
[mcp_servers.guarded]
url = 'http://127.0.0.1:${port}/mcp'
`);
  expect((await sandbox.run(['call', 'talking', 'die'])).code).toBe(4);
  const source = sandbox.path('~/.config/plexus/mcp.toml');
  await waitFor(async () => {
    const { servers, gateway } = await sandbox.json('list');
    expect(gateway).toEqual({ pid, port: expect.any(Number) });
    expect(Object.fromEntries(servers.map((each: { name: string }) => [each.name, each]))).toMatchObject({
      desk: {
        ...{
          status: 'connected',
          state: 'connected',
          transport: 'stdio',
          scope: 'user',
          source,
          label: 'mcp:desk via user',
        },
        ...{ toolCount: 8, freshness: 'live', pid: expect.any(Number), protocol: '2025-11-25', era: 'legacy' },
        ...{ serverInfo: { name: 'desk' }, connectedSinceMs: expect.any(Number) },
      },
      talking: {
        ...{
          state: 'connected',
          stderrTail: 'hello there\n',
          restarts: 1,
          breaker: { state: 'counting', failures: 1 },
        },
        lastError: { code: 'CONNECTION_LOST', message: expect.any(String), at: expect.any(Number) },
      },
      broken: {
        ...{ status: 'failed', state: 'blocked', stage: 'start', error: { remedy: expect.any(String) } },
        reason: expect.stringContaining('/no/such/program'),
      },
      gone: {
        state: 'reconnecting',
        nextRetryInMs: expect.any(Number),
        reason: expect.stringContaining('ECONNREFUSED'),
      },
      guarded: {
        state: 'needs-auth',
        error: { code: 'AUTH_REQUIRED', message: expect.stringContaining('plexus login') },
      },
    });
  });
});

test('a server that rests in the gateway stays at rest, however often it is looked at or the files are read', async () => {
  const first = await serve();
  await first.deskPid();
  first.started.child.kill('SIGTERM');
  await first.started.done;
  // Its tools are known from last time: the next gateway starts it with its first call.
  const { sandbox, configure } = await serve(CONFIG, { sandbox: first.sandbox });
  const stateOf = async (...words: readonly string[]) => (await sandbox.json(...words)).servers.at(-1).state;
  const seen = [await stateOf('list'), await stateOf('reload'), await stateOf('list')];
  configure(`${CONFIG}\n# an edit`);
  seen.push(await stateOf('reload'), await stateOf('list'));
  expect(seen).toEqual(Array(5).fill('idle'));
  expect(await sandbox.run(['call', 'desk', 'add', 'a=1', 'b=1'])).toMatchObject({ code: 0 });
  expect(await stateOf('list')).toBe('connected');
});

/** A client of each era, which never asks by itself whether something has changed. */
async function openClients(port: number) {
  const url = () => new URL(`http://127.0.0.1:${port}/mcp`);
  const told = { legacy: new Set<string>(), modern: new Set<string>() };
  const [legacy, modern] = [
    new Client1({ name: 'legacy', version: '1' }),
    new Client2(
      { name: 'modern', version: '1' },
      {
        versionNegotiation: { mode: 'auto' },
        listChanged: Object.fromEntries(
          ['tools', 'prompts', 'resources'].map((kind) => [
            kind,
            { autoRefresh: false, debounceMs: 0, onChanged: () => void told.modern.add(kind) },
          ]),
        ),
      },
    ),
  ];
  legacy.fallbackNotificationHandler = async ({ method }) => void told.legacy.add(method.split('/')[1] ?? '');
  await Promise.all([legacy.connect(new Http1(url())), modern.connect(new Http2(url()))]);
  onTestFinished(() => Promise.all([legacy.close(), modern.close()]).then(() => undefined));
  const namesOf = ({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name);
  return {
    told,
    tools: async () => [
      namesOf(await legacy.listTools()),
      namesOf(await modern.listTools(undefined, { cacheMode: 'refresh' })),
    ],
    /** Both have heard of all these lists, and both see those tools. */
    async expectTold(kinds: readonly string[], isSeen: (tools: readonly string[]) => boolean) {
      await waitFor(() => {
        for (const heard of [told.legacy, told.modern]) expect([...heard]).toEqual(expect.arrayContaining([...kinds]));
      });
      await waitFor(async () => expect((await this.tools()).map(isSeen)).toEqual([true, true]));
      told.legacy.clear();
      told.modern.clear();
    },
  };
}

verifies(
  'EVT-06',
  'clients of both eras are told when a server is added, changed, or removed in a file, without asking',
  async () => {
    const { configure, instance } = await serve(CONFIG, { words: ['--no-token'] });
    const clients = await openClients(instance.port);
    await waitFor(async () => expect((await clients.tools())[0]).toContain('desk__add'));
    clients.told.legacy.clear();
    clients.told.modern.clear();
    const offering = entry('offering', serverAt('offering.mjs'));
    configure(`${CONFIG}\n${offering}`);
    await clients.expectTold(['tools', 'prompts', 'resources'], (tools) => tools.includes('offering__touch'));
    configure(`${CONFIG}\n${offering}disabled_tools = ['touch']\n`);
    await clients.expectTold(
      ['tools'],
      (tools) => !tools.includes('offering__touch') && tools.includes('offering__log'),
    );
    configure(CONFIG);
    await clients.expectTold(
      ['tools', 'prompts', 'resources'],
      (tools) => !tools.some((name) => name.startsWith('offering')),
    );
  },
);

verifies('EVT-08', 'plexus reload makes the gateway apply what has changed, and nothing else', async () => {
  const { sandbox, pid, deskPid, configure } = await serve();
  const before = await deskPid();
  configure(`${CONFIG}\n${entry('talking', serverAt('talking.mjs'))}`);
  // The gateway also follows the edit by itself: that may be trying "broken" again while the command is answered.
  await waitFor(async () => {
    const { servers, gateway } = await sandbox.json('reload');
    expect(gateway).toMatchObject({ pid });
    expect(servers.map(({ name, state }: Record<string, string>) => `${name} ${state}`)).toEqual([
      'broken blocked',
      'desk connected',
      'talking connected',
    ]);
  });
  expect(await deskPid()).toBe(before);
  configure('[mcp_servers.desk]\nname = [');
  expect(await sandbox.run(['reload'])).toMatchObject({
    ...{ code: 0, err: `Through the running gateway (process ${pid}).\n` },
    out: expect.stringMatching(/^Reloaded: .*error /s),
  });
});

verifies(
  'EVT-08',
  'plexus reload --hard ends every server of the gateway and lists it anew; its clients go on',
  async () => {
    const files = new Sandbox();
    onTestFinished(() => files.remove());
    const file = files.path('tools.json');
    const write = (...names: readonly string[]) =>
      writeFileSync(file, JSON.stringify({ tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) }));
    write('before');
    const config = `${CONFIG}\n${entry('changing', serverAt('changing.mjs'), file)}`;
    const { sandbox, pid, deskPid, instance } = await serve(config, { words: ['--no-token'] });
    const clients = await openClients(instance.port);
    const before = await deskPid();
    await clients.expectTold([], (tools) => tools.includes('changing__before'));
    // It says nothing of its change.
    write('after');
    expect((await sandbox.json('reload')).servers).toContainEqual(
      expect.objectContaining({ name: 'desk', pid: before }),
    );
    expect((await clients.tools())[0]).toContain('changing__before');
    const hard = await sandbox.run(['reload', '--hard']);
    expect(hard).toEqual({
      code: 0,
      out: 'Reloaded: broken blocked, changing connected, desk connected.\n',
      err: `Through the running gateway (process ${pid}).\n`,
    });
    expect([isRunning(before), isRunning(await deskPid())]).toEqual([false, true]);
    await clients.expectTold(
      ['tools'],
      (tools) => tools.includes('changing__after') && !tools.includes('changing__before'),
    );
  },
);

test('without a gateway there is nothing to reload, and one that dies meanwhile is told of', async () => {
  const alone = new Sandbox();
  onTestFinished(() => alone.remove());
  expect(await alone.run(['reload', '--hard'])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^No gateway runs/),
  });
  expect(await alone.json('reload')).toEqual({ servers: [], diagnostics: [] });
  expect((await alone.run(['reload', 'desk'])).code).toBe(1);
  const starts = alone.path('starts');
  const silent = entry('silent', '-e', `fs.appendFileSync('${starts}', 'x'); process.stdin.resume()`);
  const { sandbox, pid } = await serve(`${CONFIG}\n${silent}`);
  await waitFor(() => expect(readFileSync(starts, 'utf8')).toBe('x'));
  const reloading = sandbox.run(['reload', '--hard', '--json']);
  // It waits for the silent server by now.
  await waitFor(() => expect(readFileSync(starts, 'utf8')).toBe('xx'));
  process.kill(pid, 'SIGKILL');
  const { code, out } = await reloading;
  expect([code, JSON.parse(out).error.code]).toEqual([4, 'GATEWAY_UNREACHABLE']);
});
