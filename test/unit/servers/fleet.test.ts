// Owns the proof that a fleet shows every server somebody expects to see, also those that a stronger file silences.

import { expect } from 'vitest';
import { Catalog } from '../../../src/catalog/catalog.ts';
import { ResourceCatalog } from '../../../src/catalog/resources/resource-catalog.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { Connections } from '../../../src/connection/connections.ts';
import { SandboxNotifier } from '../../../src/connection/sandbox-state.ts';
import { limits } from '../../../src/model/limits.ts';
import { AwaitedPersons } from '../../../src/servers/awaited-persons.ts';
import { Breakers } from '../../../src/servers/breakers.ts';
import { changeOf } from '../../../src/servers/definition-change.ts';
import { Fleet } from '../../../src/servers/fleet.ts';
import { ServerRegistry } from '../../../src/servers/registry.ts';
import { SharedSessions } from '../../../src/servers/sessions.ts';
import { FleetStatus } from '../../../src/servers/status.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { createFolder } from '../config/folder.ts';

verifies('CFG-03', 'servers that the enterprise silences are listed with the reason', async () => {
  const folder = await createFolder({
    'system/mcp.toml': '[mcp_servers.theirs]\ncommand = "x"\nenabled = false\n',
    '.mcp.json': '{"mcpServers":{"mine":{"command":"y"},"theirs":{"command":"z"}}}',
  });
  const config = await loadConfig({
    ...{ cwd: folder, home: folder, env: {}, platform: 'linux', discover: true },
    systemFolder: `${folder}/system`,
  });
  const clock = createFakeClock();
  const onError = (error: unknown) => expect.fail(String(error));
  const connections = new Connections({
    open: () => Promise.reject(new Error('nothing may be opened')),
    renewCredentials: async () => false,
    startLimitMs: ({ settings }) => settings.startupTimeoutMs,
    isPersonAsked: () => false,
    changeOf,
    onSessionEnded: () => undefined,
    onEdited: () => undefined,
    onRestart: () => undefined,
    onReady: () => undefined,
    onDown: () => undefined,
    onBlocked: () => undefined,
    onNotification: () => undefined,
    onRemoved: () => undefined,
    clock,
    emit: () => undefined,
    onError,
  });
  const registry = new ServerRegistry({ cwd: '/', home: '/', env: {}, platform: 'linux' });
  const catalog = new Catalog({ clock, emit: () => undefined });
  const resourceCatalog = new ResourceCatalog({ clock, emit: () => undefined });
  const breakers = new Breakers(clock, limits.breaker);
  const sandbox = new SandboxNotifier();
  const status = new FleetStatus({
    registry,
    connections,
    catalog,
    resourceCatalog,
    breakers,
    installs: new Map(),
    persons: new AwaitedPersons(),
    logins: { statusOf: () => undefined },
    redact: (text) => text,
    clock,
  });
  const fleet = new Fleet({
    registry,
    connections,
    catalog,
    breakers,
    sandbox,
    status,
    sessions: new SharedSessions({ registry, connections, catalog, status, sandbox, clock }),
    opener: { approvalChange: async () => 'none', mayOpen: async () => true, renew: () => undefined },
    toolCache: {
      read: async () => new Map(),
      write: () => undefined,
      flush: async () => undefined,
      clear: async () => undefined,
    },
    clock,
    reservedNames: [],
  });
  await fleet.apply({ ...config, unapproved: new Map(), overCap: new Set() });
  expect(status.all().map(({ name, state, scope, error }) => [name, state, scope, error?.message])).toEqual([
    [
      'mine',
      'disabled',
      'project',
      `Server "mine" is not in use: the enterprise configuration ${folder}/system/mcp.toml replaces all others. Change that setting, or ask whoever set it.`,
    ],
    ['theirs', 'disabled', 'enterprise', undefined],
  ]);
});
