// Owns the proof of which edits of an entry leave its server alone, apply to it as it is, restart it, or end it.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { snakeCase } from '../../../src/config/key-case.ts';
import { serverSchema } from '../../../src/config/schema.ts';
import type { ServerDefinition, ServerSettings } from '../../../src/model/server.ts';
import { changeOf, settingEffects } from '../../../src/servers/definition-change.ts';
import { verifies } from '../../verifies.ts';
import { defaultSettings } from '../config/folder.ts';

const before: ServerDefinition = {
  name: 'files',
  launch: { kind: 'stdio', command: 'files', args: ['a'], env: {}, inheritEnv: 'safe' },
  settings: defaultSettings,
  provenance: { scope: 'user', file: '/home/.plexus.toml', key: ['mcp_servers', 'files'], line: 3 },
};

const edited = (change: Partial<ServerDefinition>) => changeOf(before, { ...before, ...change });

/** Another value than the default for every setting: the compiler asks for a new one. */
const others: Required<ServerSettings> = {
  enabled: false,
  title: 'x',
  description: 'x',
  startupTimeoutMs: 1,
  toolTimeoutMs: 1,
  toolIdleTimeoutMs: 1,
  enabledTools: ['x'],
  disabledTools: ['x'],
  tools: { x: { enabled: false } },
  exposure: 'defer',
  alwaysLoad: true,
  instructions: false,
  cacheable: false,
  toolCacheTtlMs: 1,
  subscriptions: true,
  logLevel: 'error',
  maxResultChars: 1,
  maxResultTokens: 1,
  maxMessageBytes: 1,
  lifecycle: 'lazy',
  idleStopMs: 1,
  required: true,
  perClient: true,
  share: 'machine',
  trustHints: true,
  approval: 'prompt',
  elicitation: 'decline',
  parallel: false,
  reconnect: { schedule: { delaysMs: [], jitter: 0 } },
  health: { mode: 'off', intervalMs: 1, timeoutMs: 1, failures: 1 },
  keepAliveMs: 1,
};

describe('an edit', () => {
  verifies('LIF-07', 'of these settings restarts the server, and of no others', () => {
    const changes = Object.entries(others).map(([key, value]) => [
      key,
      edited({ settings: { ...defaultSettings, [key]: value } }),
    ]);
    expect(Object.fromEntries(changes)).toEqual(settingEffects);
    const restarts = changes.filter(([, change]) => change === 'restart').map(([key]) => key);
    expect(restarts.sort()).toEqual(['elicitation', 'logLevel', 'maxMessageBytes', 'perClient', 'share']);
  });

  const launch = before.launch.kind === 'stdio' ? before.launch : undefined;
  const launches: Record<string, Partial<ServerDefinition['launch']>> = {
    command: { command: 'other' },
    args: { args: [] },
    env: { env: { X: '1' } },
    cwd: { cwd: '/' },
    envFile: { envFile: '.env' },
    inheritEnv: { inheritEnv: 'all' },
    transport: { kind: 'http', url: 'https://example.com', headers: {} },
  };
  for (const [key, change] of Object.entries(launches))
    verifies('LIF-07', `of the launch restarts it: ${key}`, () => {
      expect(edited({ launch: { ...launch, ...change } as ServerDefinition['launch'] })).toBe('restart');
    });

  const remotes: Record<string, object> = { url: { url: 'https://b.example' }, headers: { headers: { A: 'b' } } };
  for (const [key, change] of Object.entries(remotes))
    verifies('LIF-07', `of a remote launch restarts it: ${key}`, () => {
      const remote = { kind: 'http', url: 'https://a.example', headers: {} } as const;
      const [one, other] = [remote, { ...remote, ...change }].map((each) => ({ ...before, launch: each }));
      expect(one && other && changeOf(one, other)).toBe('restart');
    });

  verifies(['LIF-07', 'INT-04'], 'of the code of a server in process restarts it; the same code does not', () => {
    const [one, other] = [() => undefined, () => undefined];
    const inProcess = (serve: () => void): ServerDefinition => ({ ...before, launch: { kind: 'in-process', serve } });
    expect(changeOf(inProcess(one), inProcess(other))).toBe('restart');
    expect(changeOf(inProcess(one), inProcess(one))).toBe('none');
  });

  test('of lines above it is none, and a new label is shown without a restart', () => {
    const { provenance } = before;
    expect(edited({ provenance: { ...provenance, line: 7 } })).toBe('none');
    expect(edited({ provenance: { ...provenance, provider: 'editor' } })).toBe('live');
  });

  verifies('LIF-07', 'in another file is the entry of another server', () => {
    const { provenance } = before;
    expect(edited({ provenance: { ...provenance, file: '/work/.mcp.json' } })).toBe('replacement');
    const args = { launch: { ...before.launch, args: ['b'] } as ServerDefinition['launch'] };
    expect(edited({ ...args, provenance: { ...provenance, scope: 'local' } })).toBe('replacement');
  });
});

test('docs/connections.md names what restarts a server, and nothing else', () => {
  const page = readFileSync(new URL('../../../docs/connections.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => /^\| what (is started|is reached|the session was told) \|/.test(line));
  const named = rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, key]) => key));
  const effects: Record<string, 'live' | 'restart'> = settingEffects;
  // A key that is no setting is a part of the launch.
  const restarting = Object.keys(serverSchema.shape).filter((key) => effects[key] !== 'live');
  expect(named.sort()).toEqual(restarting.map(snakeCase).sort());
});
