// Owns the proof of `plexus connect` with real processes: one gateway for all, however many start at once, and clients that survive it.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type GatewayInstance, gatewayFiles } from '../../src/gateway/instance.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { isLong } from '../effort.ts';
import { isRunning } from '../servers/processes.ts';
import { initialize } from '../unit/serving/served.ts';
import { verifies } from '../verifies.ts';
import { waitFor } from '../wait-for.ts';
import { program, Sandbox, type Started } from './plexus.ts';

const desk = fileURLToPath(new URL('../servers/desk.mjs', import.meta.url));

let sandbox: Sandbox;

beforeEach(() => {
  sandbox = new Sandbox();
  sandbox.write(
    '~/.config/plexus/mcp.toml',
    `[plexus.serving]\nport = 0\n[mcp_servers.desk]\ncommand = '${process.execPath}'\nargs = ['${desk}']\n`,
  );
});

afterEach(async () => {
  // A client that is still there would start the gateway again.
  await Promise.all([...clients].map(end));
  clients.clear();
  for (const pid of gateways) if (isRunning(pid)) process.kill(pid, 'SIGTERM');
  await waitFor(() => expect([...gateways].filter(isRunning)).toEqual([]));
  gateways.clear();
  await sandbox.remove();
});

/** Every gateway that a test has seen. */
const gateways = new Set<number>();

/** Every client that a test has started. */
const clients = new Set<Client>();

const files = () => gatewayFiles(sandbox.path('~/.local/state/plexus'));

function running(): GatewayInstance {
  const instance: GatewayInstance = JSON.parse(readFileSync(files().instance, 'utf8'));
  gateways.add(instance.pid);
  return instance;
}

interface Client extends Started {
  write(message: unknown): void;
  answer(id: unknown): Promise<JsonObject>;
  said(): readonly JsonObject[];
}

function connect(options: Parameters<Sandbox['spawn']>[1] = {}): Client {
  const started = sandbox.spawn(['connect'], { keepsStdinOpen: true, ...options });
  const said = () =>
    started.seen.out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as JsonObject);
  const client: Client = {
    ...started,
    said,
    write: (message) => started.child.stdin.write(`${JSON.stringify(message)}\n`),
    answer: (id) =>
      waitFor(() => {
        const found = said().find((message) => message['id'] === id && message['method'] === undefined);
        if (found === undefined) throw new Error(`no answer: ${started.seen.out} ${started.seen.err}`);
        return found;
      }),
  };
  clients.add(client);
  return client;
}

const introduced = { jsonrpc: '2.0', method: 'notifications/initialized' };
const add = (id: number, a: number) => ({
  ...{ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'desk__add', arguments: { a, b: 1 } } },
});
const end = async ({ child, done }: Client) => {
  child.stdin.end();
  return done;
};

verifies('EXT-45', 'many that start at once share one gateway, also when it is killed twice among them', async () => {
  const many = Array.from({ length: isLong ? 50 : 20 }, () => connect());
  for (const client of many) client.write(initialize());
  // The first one at once, before those that wait for it have looked; the second one has clients.
  const early = await waitFor(running);
  process.kill(early.pid, 'SIGKILL');
  await Promise.race(many.map((client) => client.answer('init')));
  const first = running();
  process.kill(first.pid, 'SIGKILL');
  await Promise.all(many.map((client) => client.answer('init')));
  many.forEach((client, at) => {
    client.write(introduced);
    client.write(add(1, at));
  });
  const sums = await Promise.all(many.map((client) => client.answer(1)));
  expect(sums).toMatchObject(many.map((_, at) => ({ result: { content: [{ text: `${at} + 1 = ${at + 1}` }] } })));
  const second = running();
  expect(second.pid).not.toBe(first.pid);
  expect(new Set(await Promise.all(many.map(async (client) => (await end(client)).code)))).toEqual(new Set([0]));
  // The one that is left has served them all.
  expect(isRunning(second.pid)).toBe(true);
});

verifies(
  'EXT-45',
  'the gateway runs in the home folder with the safe environment, and outlives its client',
  async () => {
    const client = connect({ env: { SECRET_OF_ONE_CLIENT: 'x', LANG: 'C' } });
    client.write(initialize());
    await client.answer('init');
    const { pid } = running();
    expect((await end(client)).code).toBe(0);
    if (process.platform === 'linux') {
      const env = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
      expect(env).toContain('LANG=C');
      expect(env.filter((each) => each.startsWith('SECRET'))).toEqual([]);
    }
    expect(isRunning(pid)).toBe(true);
    const other = connect();
    other.write(initialize());
    await other.answer('init');
    expect(running().pid).toBe(pid);
  },
);

verifies('EXT-45', 'a home folder that is none leaves nothing in the folder of a client', async () => {
  const folders = { CONFIG: '.config', STATE: '.local/state', CACHE: '.cache', DATA: '.local/share' };
  const named = Object.entries(folders).map(([kind, folder]) => [`XDG_${kind}_HOME`, sandbox.path(`~/${folder}`)]);
  for (const HOME of ['', 'home']) {
    const client = connect({ env: { ...Object.fromEntries(named), HOME } });
    client.write(initialize());
    expect(await client.answer('init')).toHaveProperty('result');
    const { pid } = running();
    if (process.platform === 'linux') expect(readlinkSync(`/proc/${pid}/cwd`)).toBe(userInfo().homedir);
    expect((await end(client)).code).toBe(0);
    process.kill(pid, 'SIGTERM');
    await waitFor(() => expect(isRunning(pid)).toBe(false));
  }
  expect(readdirSync(sandbox.workspace)).toEqual([]);
});

test('a client whose folder is gone is told so', async () => {
  mkdirSync(sandbox.path('gone'));
  const script = `cd gone && rmdir ../gone && exec ${process.execPath} ${program} connect`;
  const client = spawn('sh', ['-c', script], { cwd: sandbox.workspace, env: { HOME: sandbox.home } });
  let told = '';
  client.stderr.on('data', (chunk) => {
    told += chunk;
  });
  expect(await new Promise((resolve) => client.once('close', resolve))).toBe(1);
  expect(told).toMatch(/^plexus: ENOENT.*cwd\n$/);
});

verifies(
  'EXT-45',
  'a gateway of an older protocol finishes and is replaced; one of a newer protocol is left alone',
  async () => {
    const old = spawn(process.execPath, [
      '-e',
      'process.on("SIGTERM", () => process.exit(0)); setInterval(() => 0, 1e6); console.log(1)',
    ]);
    const ended = new Promise((resolve) => old.once('exit', resolve));
    // A signal before its handler is there would simply end it.
    await new Promise((resolve) => old.stdout.once('data', resolve));
    await sandbox.run(['serve', 'token', 'list']);
    const instance = { protocol: 0, pid: old.pid, process: '', startedAt: '', host: '127.0.0.1', port: 9 };
    sandbox.write('~/.local/state/plexus/gateway/gateway.json', instance);
    const client = connect();
    client.write(initialize());
    await client.answer('init');
    expect(await ended).toBe(0);
    const { pid } = running();
    expect(pid).not.toBe(old.pid);
    writeFileSync(files().instance, JSON.stringify({ protocol: 99, pid }));
    const refused = connect();
    refused.write(initialize());
    expect(await refused.answer('init')).toMatchObject({
      error: { message: expect.stringContaining('newer version') },
    });
    expect(await refused.done).toMatchObject({ code: 4, err: expect.stringContaining('Update this Plexus') });
    expect(isRunning(pid)).toBe(true);
  },
);

test('a second gateway on one state folder is refused with the first one’s address', async () => {
  const client = connect();
  client.write(initialize());
  await client.answer('init');
  const { pid, port } = running();
  const { code, err } = await sandbox.run(['serve']);
  expect([code, err]).toEqual([1, expect.stringMatching(new RegExp(`process ${pid}, port ${port}`))]);
});

test('a gateway that cannot start is told of to the client, with its own reason', async () => {
  const taken = connect();
  taken.write(initialize());
  await taken.answer('init');
  const { port } = running();
  const other = new Sandbox();
  other.write('~/.config/plexus/mcp.toml', `[plexus.serving]\nport = ${port}\n`);
  const refused = other.spawn(['connect'], { input: `${JSON.stringify(initialize())}\n` });
  const { code, out, err } = await refused.done;
  expect(JSON.parse(out)).toMatchObject({
    id: 'init',
    error: { message: expect.stringContaining(`${port} is taken`) },
  });
  expect([code, err]).toEqual([4, expect.stringContaining(`${port} is taken`)]);
  expect(existsSync(gatewayFiles(other.path('~/.local/state/plexus')).instance)).toBe(false);
  await other.remove();
});

verifies('EXT-45', 'a gateway behind itself is refused', async () => {
  sandbox.write(
    '~/.config/plexus/mcp.toml',
    [
      '[plexus.serving]\nport = 0\n',
      `[mcp_servers.loop]\ncommand = '${process.execPath}'\nargs = ['${program}', 'connect']\n`,
    ].join('\n'),
  );
  const client = connect();
  client.write(initialize());
  let asked = 0;
  await waitFor(async () => {
    const params = { name: 'plexus_status', arguments: {} };
    client.write({ jsonrpc: '2.0', id: ++asked, method: 'tools/call', params });
    expect(JSON.stringify(await client.answer(asked))).toContain('behind itself');
  });
  running();
});
