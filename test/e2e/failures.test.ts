// Owns the proof of the failure table: what goes wrong around a session costs what it must and nothing else, and is told.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { stateFolder, userFolder } from '../../src/config/scopes.ts';
import type { RuntimeOptions } from '../../src/index.ts';
import { logFileOf } from '../../src/store/server-log.ts';
import { Peer, transports } from '../faults/peer.ts';
import { faulty } from '../servers/faulty.ts';
import { eventually } from '../servers/processes.ts';
import { serve } from '../unit/transport/http-servers.ts';
import { verifies } from '../verifies.ts';
import { createFolder, type Started, start, statusOf, textOf } from './runtimes.ts';

const env = { PATH: process.env['PATH'] ?? '' };
const platform = process.platform;
const background = { startup: { whenUncached: 'background', gateMs: 1 } } as const;
const freshnessOf = (runtime: Started) => [...new Set(runtime.turn().tools.map(({ freshness }) => freshness))];

const write = (file: string, text: string) => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

describe('a configuration that cannot be read', () => {
  interface Failing {
    readonly prepare: (folder: string) => RuntimeOptions;
    /** What the one error says, and the file it names. */
    readonly says: RegExp;
    readonly file?: RegExp;
  }
  const sources: Record<string, Failing> = {
    'a broken file of the person': {
      prepare(home) {
        write(join(userFolder({ home, env, platform }), 'mcp.toml'), '[mcp_servers.web\nurl = ');
        return {};
      },
      says: /^illegal character in key, at: \[mcp_servers\.web$/,
      file: /mcp\.toml$/,
    },
    'a broken file of the project': {
      prepare(folder) {
        write(join(folder, '.mcp.json'), '{ "mcpServers": { "web": ');
        return {};
      },
      says: /^a value is missing, at: /,
      file: /\.mcp\.json$/,
    },
    'a folder where a file should be': {
      prepare(folder) {
        mkdirSync(join(folder, '.mcp.json'));
        return {};
      },
      says: /it is not a file/,
      file: /\.mcp\.json$/,
    },
    'a source of the host that throws': {
      prepare: () => ({
        extraSources: [
          {
            name: 'editor',
            read: () => {
              throw new Error('no settings today');
            },
          },
        ],
      }),
      says: /^the settings of editor could not be read: no settings today$/,
    },
  };

  for (const [what, { prepare, says, file }] of Object.entries(sources)) {
    verifies('ERR-01', `(${what}) leaves a session without tools, and one error that says why`, async () => {
      const folder = createFolder();
      const runtime = await start(folder, { discover: true, env, watch: false, ...prepare(folder) });
      expect([runtime.turn().tools, runtime.status(), await runtime.ready()]).toEqual([
        [],
        [],
        { ready: [], notReady: [] },
      ]);
      const told = runtime.events.flatMap((event) => (event.type === 'config.loaded' ? event.diagnostics : []));
      expect(told).toEqual([
        expect.objectContaining({
          severity: 'error',
          message: expect.stringMatching(says),
          remedy: expect.stringMatching(/^Correct |^Make /),
          ...(file && { file: expect.stringMatching(file) }),
        }),
      ]);
      expect(runtime.errors).toEqual([]);
    });
  }

  verifies('ERR-01', 'is read again when it is mended, by the same session', async () => {
    const folder = createFolder();
    const file = join(userFolder({ home: folder, env, platform }), 'mcp.toml');
    write(file, '[mcp_servers.well\n');
    const runtime = await start(folder, { discover: true, env, watch: false });
    const { command, args } = faulty();
    write(file, `[mcp_servers.well]\ncommand = "${command}"\nargs = ${JSON.stringify(args)}\n`);
    await runtime.reload();
    expect(await runtime.ready()).toEqual({ ready: ['well'], notReady: [] });
  });
});

verifies('ERR-02', 'a server that does not start is skipped, and the end of its stderr is told', async () => {
  const words = "console.error('cannot find the licence'); process.exit(3)";
  const dies = { command: process.execPath, args: ['-e', words], reconnect: 'none' as const };
  const runtime = await start(createFolder(), { servers: { dies, well: faulty() } });
  const message = expect.stringMatching(/exited with code 3.*\n {2}\| cannot find the licence\n/s);
  expect(statusOf(runtime, 'dies')).toMatchObject({ state: 'failed', error: { code: 'CONNECTION_LOST', message } });
  expect(runtime.events.find(({ type }) => type === 'startup.completed')).toMatchObject({
    ready: ['well'],
    notReady: [{ server: 'dies', state: 'failed', message }],
  });
  expect(textOf(await runtime.turn().call('mcp__well__echo', { text: 'on' }))).toBe('on');
});

describe('a server that does not connect in time', () => {
  const reconnect = { delaysMs: [20, 60_000], jitter: 0 };
  const silent = {
    stdio: async () => faulty('--fault=hang', '--at=any'),
    http: async () => ({ url: (await serve(() => undefined)).url, transport: 'http' as const }),
  };
  for (const [transport, create] of Object.entries(silent)) {
    verifies('ERR-03', `over ${transport} is recorded and tried again later, and the others go on`, async () => {
      const slow = { ...(await create()), startupTimeoutMs: 200, reconnect };
      const runtime = await start(createFolder(), { servers: { slow, well: faulty() } });
      expect(textOf(await runtime.turn().call('mcp__well__echo', { text: 'on' }))).toBe('on');
      // Twice at short notice; then it is left alone for a while, which is told.
      const { nextRetryInMs } = await eventually(() => {
        const now = statusOf(runtime, 'slow');
        return (now.nextRetryInMs ?? 0) > 20 && now;
      });
      expect(statusOf(runtime, 'slow')).toMatchObject({
        ...{ state: 'reconnecting', status: 'connecting', stage: 'handshake' },
        error: { code: 'STARTUP_TIMEOUT', remedy: 'retry-later' },
        lastError: { code: 'STARTUP_TIMEOUT' },
      });
      expect(nextRetryInMs).toBeLessThanOrEqual(60_000);
      const attempts = runtime.events.filter(
        (event) => event.type === 'connection.changed' && event.server === 'slow' && event.to === 'connecting',
      );
      expect(attempts).toHaveLength(2);
    });
  }
});

/** Says nothing, and exits when the file is there. */
const exitsOnce = (file: string, code: number) => ({
  command: 'sh',
  args: ['-c', `until [ -e "$0" ]; do sleep 0.05; done; exit ${code}`, file],
});

verifies('ERR-05', 'a failure after the gate is an event, a status and a line in the log', async () => {
  const folder = createFolder();
  const gone = join(folder, 'gone');
  const late = { ...exitsOnce(gone, 3), reconnect: 'none' as const };
  const runtime = await start(folder, { servers: { late }, logs: true, env, ...background });
  const types = () => runtime.events.map((event) => ('to' in event ? event.to : event.type));
  expect(types().at(-1), 'the gate is passed').toBe('startup.completed');
  write(gone, '');
  await eventually(() => types().at(-1) === 'failed');
  const message = expect.stringContaining('exited with code 3');
  expect(runtime.events.at(-1)).toMatchObject({
    ...{ type: 'connection.changed', server: 'late', from: 'connecting', to: 'failed' },
    cause: { code: 'CONNECTION_LOST', remedy: 'retry-later', message },
  });
  expect(statusOf(runtime, 'late')).toMatchObject({ state: 'failed', error: { message } });
  await runtime.close();
  const log = readFileSync(logFileOf(stateFolder({ home: folder, env, platform }), 'late'), 'utf8');
  expect(log.trimEnd().split('\n').at(-1)).toContain('exited with code 3');
});

verifies('ERR-05', 'so is the end of a server that was up', async () => {
  const folder = createFolder();
  const runtime = await start(folder, { servers: { up: { ...faulty(), reconnect: 'none' } }, logs: true, env });
  process.kill(statusOf(runtime, 'up').pid ?? 0, 'SIGKILL');
  await eventually(() => statusOf(runtime, 'up').state === 'failed');
  expect(runtime.events.at(-1)).toMatchObject({
    type: 'connection.changed',
    server: 'up',
    from: 'ready',
    to: 'failed',
  });
  await runtime.close();
  const log = readFileSync(logFileOf(stateFolder({ home: folder, env, platform }), 'up'), 'utf8');
  expect(log.trimEnd().split('\n').at(-1)).toMatch(/ended: .*SIGKILL/);
});

describe('a server that drops while it is in use', () => {
  for (const transport of transports) {
    verifies('ERR-06', `over ${transport} is reconnected, and its tools stay on offer meanwhile`, async () => {
      const peer = new Peer({ name: 'peer', transport, folder: createFolder() });
      await peer.start();
      try {
        const reconnect = { delaysMs: Array<number>(100).fill(200), jitter: 0 };
        const runtime = await start(createFolder(), { servers: { peer: { ...peer.entry, reconnect } } });
        const { revision, tools } = runtime.turn();
        const { pid = peer.pid ?? 0 } = statusOf(runtime, 'peer');
        process.kill(pid, 'SIGKILL');
        await eventually(() => freshnessOf(runtime)[0] === 'stale');
        expect(runtime.turn().revision, 'what a model reads is the same').toBe(revision);
        expect(runtime.turn().tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
        if (transport !== 'stdio') await peer.restart();
        await eventually(() => freshnessOf(runtime)[0] === 'live');
        expect(textOf(await runtime.turn().call('mcp__peer__echo', { text: 'back' }))).toBe('back');
      } finally {
        await peer.kill();
      }
    });
  }
});
