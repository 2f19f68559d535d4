// Owns the proof that a fleet shows every server somebody expects to see, also those that a stronger file silences.

import { expect } from 'vitest';
import { Breakers } from '../../src/call/guard.ts';
import { Catalog } from '../../src/catalog/catalog.ts';
import { ResourceCatalog } from '../../src/catalog/resources/resource-catalog.ts';
import { loadConfig } from '../../src/config/load.ts';
import { Connections } from '../../src/connection/connections.ts';
import { SandboxNews } from '../../src/connection/sandbox-state.ts';
import { Fleet } from '../../src/fleet.ts';
import { limits } from '../../src/model/limits.ts';
import { Standing } from '../../src/standing.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { verifies } from '../verifies.ts';
import { createFolder } from './config/folder.ts';

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
    keyOf: () => '',
    onReady: () => undefined,
    onDown: () => undefined,
    onBlocked: () => undefined,
    onNotification: () => undefined,
    onRemoved: () => undefined,
    clock,
    emit: () => undefined,
    onError,
  });
  const fleet = new Fleet({
    standing: new Standing({ cwd: '/', home: '/', env: {}, platform: 'linux' }),
    ...{ connections, clock, sandbox: new SandboxNews() },
    catalog: new Catalog({ clock, emit: () => undefined }),
    offers: new ResourceCatalog({ clock, emit: () => undefined }),
    breakers: new Breakers(clock, limits.breaker),
    opening: { mayStay: async () => true },
    memory: { recall: async () => new Map(), remember: async () => undefined },
  });
  await fleet.apply(config);
  expect(fleet.status().map(({ name, state, scope, error }) => [name, state, scope, error?.message])).toEqual([
    [
      'mine',
      'disabled',
      'project',
      `Server "mine" is not in use: the enterprise configuration ${folder}/system/mcp.toml replaces all others. Change that setting, or ask whoever set it.`,
    ],
    ['theirs', 'disabled', 'enterprise', undefined],
  ]);
});
