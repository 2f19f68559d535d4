// Owns the defaults as users know them: a number that changes here changes for everyone, so it changes on purpose.

import { expect, test } from 'vitest';
import { remoteToolIdleTimeoutMs } from '../../src/config/idle-timeout.ts';
import { complete } from '../../src/config/sections.ts';
import { loadFolder } from '../unit/config/folder.ts';

test('a server that says nothing else', () => {
  expect(complete('server')).toEqual({
    args: [],
    env: {},
    inheritEnv: 'safe',
    headers: {},
    enabled: true,
    startupTimeoutMs: 60_000,
    toolTimeoutMs: 100_000_000,
    disabledTools: [],
    alwaysLoad: false,
    instructions: true,
    cacheable: true,
    subscriptions: false,
    maxResultChars: 50_000,
    maxResultTokens: 25_000,
    maxMessageBytes: 67_108_864,
    lifecycle: 'eager',
    required: false,
    perClient: false,
    share: 'workspace',
    trustHints: false,
    elicitation: 'ask',
    parallel: true,
    reconnect: 'steady',
    health: 'remote',
    keepAliveMs: 50_000,
  });
});

test('a file that says nothing', () => {
  expect(complete('file')).toEqual({
    mcpServers: {},
    inputs: [],
    permissions: { rules: [] },
    security: { mcpServerAllowlist: [], mcpServerDenylist: [] },
    plexus: {
      enabled: true,
      import: 'off',
      mergeOrder: 'project-over-user',
      unresolvedEnv: 'scoped',
      project: { enabled: true },
      pluginFolders: [],
      disabledServers: [],
      enabledServers: [],
      startup: { gateMs: 250, waitMs: 10_000, installTimeoutMs: 300_000, requiredWaitMs: 120_000 },
      gateway: 'auto',
      connectConcurrency: { stdio: 3, remote: 20 },
      naming: 'canonical',
      maxToolNameLength: 64,
      toolCacheTtlMs: 300_000,
      toolSearch: 'auto',
      lazyList: 'on-request',
      minContextWindow: 32_000,
      searchOnListChanged: true,
      alwaysLoad: [],
      alwaysLoadChars: 2_000,
      instructions: true,
      builtinTools: true,
      subagents: 'inherit',
      results: { redact: 'known', wrap: true },
      signals: 'log',
      taint: 'off',
      trust: { pinFiles: false },
      serving: {
        ...{ port: 7_417, sampling: false, profiles: {}, idleStopMs: 600_000, queuedCalls: 64 },
        ...{ messageBytes: 16_777_216, inFlight: 256, waiting: 128, connections: 2_000, sessions: 1_000, streams: 32 },
        ...{ sessionIdleMs: 3_600_000, headersMs: 10_000, bodyMs: 30_000, questionMs: 600_000, suspendedCalls: 1_000 },
      },
      agent: { models: [], maxSteps: 50, maxTokens: 1_000_000, maxTimeMs: 600_000 },
    },
  });
});

test('silence during a call: 300 s for every remote server, no limit for a local one', async () => {
  expect(remoteToolIdleTimeoutMs).toBe(300_000);
  const { definitions } = await loadFolder(
    {},
    {
      servers: {
        auto: { url: 'https://a.example' },
        http: { url: 'https://a.example', transport: 'http' },
        inside: { serve: () => undefined },
        local: { command: 'x' },
        sse: { url: 'https://a.example', transport: 'sse' },
        ws: { url: 'wss://a.example', transport: 'ws' },
      },
    },
  );
  expect(Object.fromEntries(definitions.map(({ name, settings }) => [name, settings.toolIdleTimeoutMs]))).toEqual({
    auto: 300_000,
    http: 300_000,
    inside: undefined,
    local: undefined,
    sse: 300_000,
    ws: 300_000,
  });
});
