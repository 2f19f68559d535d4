// Owns the proof that each platform looks for its files in the right places, and which scopes a repository can write.

import { describe, expect, test } from 'vitest';
import { isWorkspaceScope, placesOf } from '../../../src/config/scopes.ts';
import { scopeOrder } from '../../../src/model/server.ts';
import { verifies } from '../../verifies.ts';

test('the scopes a repository can write are local, project, plugin and imported', () => {
  expect(scopeOrder.filter(isWorkspaceScope)).toEqual(['local', 'project', 'plugin', 'imported']);
});

describe('places', () => {
  const user = (platform: NodeJS.Platform, env: Record<string, string> = {}) =>
    placesOf({ cwd: '/work', home: '/home/me', env, platform }).flatMap(({ scope, file }) =>
      scope === 'user' ? file : [],
    );

  verifies(
    'CFG-02',
    'on Linux they are the local file, the project’s three and the user’s two, strongest first',
    () => {
      expect(placesOf({ cwd: '/work', home: '/home/me', env: {}, platform: 'linux' })).toEqual([
        { scope: 'local', file: '/work/.plexus.local.toml' },
        { scope: 'project', file: '/work/.mcp.toml' },
        { scope: 'project', file: '/work/.mcp.json' },
        { scope: 'project', file: '/work/.plexus/mcp.json' },
        { scope: 'user', file: '/home/me/.config/plexus/mcp.toml' },
        { scope: 'user', file: '/home/me/.config/plexus/mcp.json' },
      ]);
    },
  );

  test('XDG_CONFIG_HOME moves the user’s, unless it is relative', () => {
    expect(user('linux', { XDG_CONFIG_HOME: '/x' })).toEqual(['/x/plexus/mcp.toml', '/x/plexus/mcp.json']);
    expect(user('linux', { XDG_CONFIG_HOME: 'x' })[0]).toBe('/home/me/.config/plexus/mcp.toml');
  });

  test('macOS and Windows have their own', () => {
    expect(user('darwin')[0]).toBe('/home/me/Library/Application Support/plexus/mcp.toml');
    const windows = { cwd: 'C:\\work', home: 'C:\\Users\\me', platform: 'win32' } as const;
    expect(placesOf({ ...windows, env: { APPDATA: 'D:\\Roaming' } }).map(({ file }) => file)).toEqual([
      'C:\\work\\.plexus.local.toml',
      'C:\\work\\.mcp.toml',
      'C:\\work\\.mcp.json',
      'C:\\work\\.plexus\\mcp.json',
      'D:\\Roaming\\plexus\\mcp.toml',
      'D:\\Roaming\\plexus\\mcp.json',
    ]);
    expect(placesOf({ ...windows, env: {} }).at(-1)?.file).toBe('C:\\Users\\me\\AppData\\Roaming\\plexus\\mcp.json');
  });
});
