// Owns the proof that the servers of each app are found where its files hold them.

import { describe, expect, test } from 'vitest';
import type { ConfigMap } from '../../../../src/config/config-map.ts';
import type { EntryGroup } from '../../../../src/config/importers/importer.ts';
import { importers } from '../../../../src/config/importers/importers.ts';
import type { HostEnvironment } from '../../../../src/config/scopes.ts';
import { verifies } from '../../../verifies.ts';

const linux = { cwd: '/work/app', home: '/home/me', env: {}, platform: 'linux' } as const;

function find(app: string, content: ConfigMap, environment: HostEnvironment = linux): readonly EntryGroup[] {
  return importers.find((each) => each.app === app)?.find(content, environment) ?? [];
}

const local = { command: 'npx', args: ['-y', 'files'] };
const remote = { url: 'https://example.com/mcp' };
const both = { files: local, web: remote };

const files: Record<string, [content: ConfigMap, groups: readonly EntryGroup[]][]> = {
  'claude-code': [
    [{ mcpServers: both }, [{ path: ['mcpServers'], entries: both }]],
    [
      { numStartups: 3, mcpServers: { web: remote }, projects: { '/work/app': { mcpServers: { files: local } } } },
      [
        { path: ['projects', '/work/app', 'mcpServers'], entries: { files: local }, isForThisFolder: true },
        { path: ['mcpServers'], entries: { web: remote } },
      ],
    ],
  ],
  'claude-desktop': [
    [{ globalShortcut: '', mcpServers: both }, [{ path: ['mcpServers'], entries: both }]],
    [{ mcpServers: 'none' }, [{ path: ['mcpServers'], entries: 'none' }]],
  ],
  codex: [
    [{ model: 'x', mcp_servers: both }, [{ path: ['mcp_servers'], entries: both }]],
    [{ mcpServers: both }, []],
  ],
  gemini: [
    [
      { mcp: { allowed: ['files'], excluded: [], serverCommand: 'x' }, mcpServers: both },
      [{ path: ['mcpServers'], entries: both }],
    ],
    [{ mcp: { servers: both } }, []],
  ],
  opencode: [
    [{ $schema: 'x', mcp: both, tools: { 'web_*': false } }, [{ path: ['mcp'], entries: both }]],
    [{ mcp: { timeout: { startup: 1 }, servers: both } }, [{ path: ['mcp', 'servers'], entries: both }]],
    [
      { mcp: { servers: { files: local }, web: remote } },
      [
        { path: ['mcp', 'servers'], entries: { files: local } },
        { path: ['mcp'], entries: { web: remote } },
      ],
    ],
    [
      { mcp: { servers: { type: 'local', command: ['x'] }, timeout: { type: 'remote', url: 'y' } } },
      [
        {
          path: ['mcp'],
          entries: { servers: { type: 'local', command: ['x'] }, timeout: { type: 'remote', url: 'y' } },
        },
      ],
    ],
    [{ mcp: { servers: 7 } }, [{ path: ['mcp', 'servers'], entries: 7 }]],
    [{ mcp: true }, [{ path: ['mcp'], entries: true }]],
    [{ mcp: {} }, []],
  ],
  cursor: [[{ mcpServers: both }, [{ path: ['mcpServers'], entries: both }]]],
  windsurf: [
    [
      { mcpServers: { web: { serverUrl: 'https://example.com/mcp' } } },
      [{ path: ['mcpServers'], entries: { web: { serverUrl: 'https://example.com/mcp' } } }],
    ],
  ],
  zed: [
    [
      { theme: 'One Dark', context_servers: { files: { source: 'custom', ...local } } },
      [{ path: ['context_servers'], entries: { files: { source: 'custom', ...local } } }],
    ],
  ],
  copilot: [[{ mcpServers: both }, [{ path: ['mcpServers'], entries: both }]]],
  vscode: [
    [{ servers: both, inputs: [] }, [{ path: ['servers'], entries: both }]],
    [{ 'editor.fontSize': 12, 'mcp.servers': both }, [{ path: ['mcp.servers'], entries: both }]],
    [{ mcp: { inputs: [], servers: both } }, [{ path: ['mcp', 'servers'], entries: both }]],
    [{ 'chat.mcp.enabled': true }, []],
  ],
  codebuddy: [
    [{ servers: [{ name: 'files', ...local }] }, [{ path: ['servers'], entries: [{ name: 'files', ...local }] }]],
    [{ servers: both }, [{ path: ['servers'], entries: both }]],
    [{ mcpServers: both }, [{ path: ['mcpServers'], entries: both }]],
    [{ 'codebuddy.mcp.servers': both }, [{ path: ['codebuddy.mcp.servers'], entries: both }]],
    [{ 'codebuddy.mcp': { servers: both } }, [{ path: ['codebuddy.mcp', 'servers'], entries: both }]],
    [{ codebuddy: { 'mcp.servers': both } }, [{ path: ['codebuddy', 'mcp.servers'], entries: both }]],
    [{ codebuddy: { mcp: { servers: both } } }, [{ path: ['codebuddy', 'mcp', 'servers'], entries: both }]],
    [
      { projects: { '/work/app': { mcpServers: both } } },
      [{ path: ['projects', '/work/app', 'mcpServers'], entries: both, isForThisFolder: true }],
    ],
  ],
  cocode: [
    [{ mcp_servers: both }, [{ path: ['mcp_servers'], entries: both }]],
    [{ mcpServers: both }, [{ path: ['mcpServers'], entries: both }]],
  ],
  'oh-my-pi': [[{ mcpServers: both, disabledServers: ['web'] }, [{ path: ['mcpServers'], entries: both }]]],
  'agent-code': [[{ api: {}, mcp_servers: both }, [{ path: ['mcp_servers'], entries: both }]]],
  sidecar: [
    [{ 'sidecar.mcpServers': both }, [{ path: ['sidecar.mcpServers'], entries: both }]],
    [{ sidecar: { mcpServers: both } }, [{ path: ['sidecar', 'mcpServers'], entries: both }]],
    [{ mcpServers: both }, [{ path: ['mcpServers'], entries: both }]],
    [{ 'mcp.servers': both }, []],
  ],
};

for (const [app, samples] of Object.entries(files)) {
  verifies('CFG-09', `the servers of ${app} are found in its files, and nothing else is taken for one`, () => {
    expect(samples.map(([content]) => find(app, content))).toEqual(samples.map(([, groups]) => groups));
  });
}

test('a file without servers holds no group, and neither does null', () => {
  for (const { app } of importers) {
    const empty = { servers: null, mcpServers: null, mcp_servers: null, context_servers: null, mcp: null };
    expect([app, find(app, {}), find(app, empty)]).toEqual([app, [], []]);
  }
});

test('what every object inherits is not found', () => {
  expect(find('claude-code', JSON.parse('{ "__proto__": { "mcpServers": { "a": {} } } }'))).toEqual([]);
  expect(find('claude-code', { projects: { '/work/app': Object.create({ mcpServers: { a: {} } }) } })).toEqual([]);
});

describe('servers for one folder', () => {
  const foldersOf = (projects: ConfigMap, environment?: Partial<HostEnvironment>) =>
    find('claude-code', { projects }, { ...linux, ...environment }).map(
      ({ path, forFolder }) => `${path[1]}${forFolder === undefined ? '' : ' (elsewhere)'}`,
    );
  const filled = { mcpServers: { files: local } };

  test('are those of the folder itself, or of the closest one around it', () => {
    expect(foldersOf({ '/': filled, '/work': filled, '/work/app': filled, '/work/app/src': filled })).toEqual([
      '/work/app',
      '/ (elsewhere)',
      '/work (elsewhere)',
      '/work/app/src (elsewhere)',
    ]);
    expect(foldersOf({ '/work': filled, '/': filled }, { cwd: '/work/app/src' })).toEqual(['/work', '/ (elsewhere)']);
  });

  test('of a folder whose name only begins alike are elsewhere', () => {
    expect(foldersOf({ '/work/ap': filled, '/work/app-2': filled, '/wor': filled })).toEqual([
      '/work/ap (elsewhere)',
      '/work/app-2 (elsewhere)',
      '/wor (elsewhere)',
    ]);
  });

  test('carry the folder they are for', () => {
    expect(find('claude-code', { projects: { '/other': filled } })).toEqual([
      { path: ['projects', '/other', 'mcpServers'], entries: { files: local }, forFolder: '/other' },
    ]);
  });

  test('are passed over where there are none, but not where they are of the wrong type', () => {
    expect(foldersOf({ '/work/app': { mcpServers: {} }, '/work': filled, '/a': {}, '/b': 3, '/c': null })).toEqual([
      '/work (elsewhere)',
    ]);
    expect(foldersOf({ '/work/app': { mcpServers: 'x' } })).toEqual(['/work/app']);
  });

  test('a folder that is no absolute path is never this one', () => {
    expect(foldersOf({ '': filled, '.': filled, app: filled })).toEqual([
      ' (elsewhere)',
      '. (elsewhere)',
      'app (elsewhere)',
    ]);
  });

  test('are found on Windows whichever slashes and letters the folder is written with', () => {
    const windows = { cwd: 'C:\\Work\\App', home: 'C:\\Users\\me', platform: 'win32' } as const;
    expect(foldersOf({ 'c:/work/app': filled, 'D:\\work\\app': filled }, windows)).toEqual([
      'c:/work/app',
      'D:\\work\\app (elsewhere)',
    ]);
  });
});
