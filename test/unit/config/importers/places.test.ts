// Owns the proof that each app's files are searched for where that app keeps them, on each platform and with its variables set.

import { describe, expect, test } from 'vitest';
import { importers } from '../../../../src/config/importers/importers.ts';
import { importFolders } from '../../../../src/config/importers/places.ts';
import type { HostEnvironment } from '../../../../src/config/scopes.ts';

const linux = { cwd: '/work', home: '/home/me', env: {}, platform: 'linux' } as const;
const mac = { cwd: '/work', home: '/Users/me', env: {}, platform: 'darwin' } as const;
const windows = { cwd: 'C:\\work', home: 'C:\\Users\\me', env: {}, platform: 'win32' } as const;

function placesOf(app: string, environment: HostEnvironment): string[] {
  const places = importers.find((each) => each.app === app)?.places(environment) ?? [];
  return places.map(({ file, inWorkspace }) => `${inWorkspace ? 'theirs' : 'mine'} ${file}`);
}

const onLinux: Record<string, string[]> = {
  'claude-code': ['theirs /work/.mcp.json', 'mine /home/me/.claude/.config.json', 'mine /home/me/.claude.json'],
  'claude-desktop': ['mine /home/me/.config/Claude/claude_desktop_config.json'],
  codex: ['theirs /work/.codex/config.toml', 'mine /home/me/.codex/config.toml'],
  gemini: ['theirs /work/.gemini/settings.json', 'mine /home/me/.gemini/settings.json'],
  opencode: [
    'mine /home/me/.opencode/opencode.jsonc',
    'mine /home/me/.opencode/opencode.json',
    'theirs /work/.opencode/opencode.jsonc',
    'theirs /work/.opencode/opencode.json',
    'theirs /work/opencode.jsonc',
    'theirs /work/opencode.json',
    'mine /home/me/.config/opencode/opencode.jsonc',
    'mine /home/me/.config/opencode/opencode.json',
    'mine /home/me/.config/opencode/config.json',
  ],
  cursor: ['theirs /work/.cursor/mcp.json', 'mine /home/me/.cursor/mcp.json'],
  windsurf: [
    'mine /home/me/.codeium/windsurf/mcp_config.json',
    'mine /home/me/.codeium/windsurf-next/mcp_config.json',
    'mine /home/me/.codeium/mcp_config.json',
  ],
  zed: ['theirs /work/.zed/settings.json', 'mine /home/me/.config/zed/settings.json'],
  copilot: ['theirs /work/.mcp.json', 'mine /home/me/.copilot/mcp-config.json'],
  vscode: [
    'theirs /work/.vscode/mcp.json',
    'theirs /work/.vscode/settings.json',
    'mine /home/me/.config/Code/User/mcp.json',
    'mine /home/me/.config/Code/User/settings.json',
    'mine /home/me/.config/Code - Insiders/User/mcp.json',
    'mine /home/me/.config/Code - Insiders/User/settings.json',
  ],
  codebuddy: [
    'theirs /work/.codebuddy/mcp.json',
    'theirs /work/.mcp.json',
    'mine /home/me/.codebuddy/.mcp.json',
    'mine /home/me/.codebuddy/mcp.json',
    'mine /home/me/.codebuddy.json',
    'theirs /work/.vscode/settings.json',
    'mine /home/me/.config/Code/User/settings.json',
    'mine /home/me/.config/Code - Insiders/User/settings.json',
  ],
  cocode: [
    'theirs /work/.cocode.local.toml',
    'theirs /work/.cocode.local/mcp.json',
    'theirs /work/.mcp.toml',
    'theirs /work/.cocode/mcp.json',
    'theirs /work/.mcp.json',
    'mine /home/me/.config/cocode/mcp.toml',
    'mine /home/me/.cocode/mcp.json',
  ],
  'oh-my-pi': [
    'theirs /work/.omp/mcp.json',
    'theirs /work/.omp/.mcp.json',
    'mine /home/me/.omp/agent/mcp.json',
    'mine /home/me/.omp/agent/.mcp.json',
    'theirs /work/mcp.json',
    'theirs /work/.mcp.json',
  ],
  'agent-code': [
    'theirs /work/.agent/settings.local.toml',
    'theirs /work/.agent/settings.toml',
    'mine /home/me/.config/agent-code/config.toml',
  ],
  sidecar: [
    'theirs /work/.vscode/settings.json',
    'mine /home/me/.config/Code/User/settings.json',
    'mine /home/me/.config/Code - Insiders/User/settings.json',
    'theirs /work/.mcp.json',
  ],
};

test('on Linux every app has its files, strongest first', () => {
  expect(Object.fromEntries(importers.map(({ app }) => [app, placesOf(app, linux)]))).toEqual(onLinux);
});

test('macOS keeps the files of programs with windows in its library, and of the others in the home folder', () => {
  expect(placesOf('claude-desktop', mac)).toEqual([
    'mine /Users/me/Library/Application Support/Claude/claude_desktop_config.json',
  ]);
  expect(placesOf('vscode', mac).slice(2)).toEqual([
    'mine /Users/me/Library/Application Support/Code/User/mcp.json',
    'mine /Users/me/Library/Application Support/Code/User/settings.json',
    'mine /Users/me/Library/Application Support/Code - Insiders/User/mcp.json',
    'mine /Users/me/Library/Application Support/Code - Insiders/User/settings.json',
  ]);
  expect(placesOf('agent-code', mac).at(-1)).toBe('mine /Users/me/Library/Application Support/agent-code/config.toml');
  expect(placesOf('zed', mac).at(-1)).toBe('mine /Users/me/.config/zed/settings.json');
  expect(placesOf('opencode', mac).at(-1)).toBe('mine /Users/me/.config/opencode/config.json');
});

test('Windows has backslashes, its own folders, and a second place for the app from the store', () => {
  expect(placesOf('claude-desktop', windows)).toEqual([
    'mine C:\\Users\\me\\AppData\\Roaming\\Claude\\claude_desktop_config.json',
    'mine C:\\Users\\me\\AppData\\Local\\Packages\\Claude_pzs8sxrjxfjjc\\LocalCache\\Roaming\\Claude\\claude_desktop_config.json',
  ]);
  expect(placesOf('zed', { ...windows, env: { APPDATA: 'D:\\Roaming' } })).toEqual([
    'theirs C:\\work\\.zed\\settings.json',
    'mine D:\\Roaming\\Zed\\settings.json',
  ]);
  expect(placesOf('claude-code', windows)).toEqual([
    'theirs C:\\work\\.mcp.json',
    'mine C:\\Users\\me\\.claude\\.config.json',
    'mine C:\\Users\\me\\.claude.json',
  ]);
  expect(placesOf('vscode', windows)[2]).toBe('mine C:\\Users\\me\\AppData\\Roaming\\Code\\User\\mcp.json');
  expect(placesOf('opencode', windows).at(-2)).toBe('mine C:\\Users\\me\\.config\\opencode\\opencode.json');
});

describe('variables', () => {
  const own = (app: string, env: Record<string, string>) =>
    placesOf(app, { ...linux, env }).filter((place) => !place.startsWith('theirs /work/'));

  test.each<[string, Record<string, string>, string[]]>([
    ['claude-code', { CLAUDE_CONFIG_DIR: '/c' }, ['mine /c/.config.json', 'mine /c/.claude.json']],
    ['codex', { CODEX_HOME: '/c' }, ['mine /c/config.toml']],
    ['gemini', { GEMINI_CLI_HOME: '/g' }, ['mine /g/.gemini/settings.json']],
    ['copilot', { COPILOT_HOME: '/c' }, ['mine /c/mcp-config.json']],
    ['claude-desktop', { XDG_CONFIG_HOME: '/x' }, ['mine /x/Claude/claude_desktop_config.json']],
    ['claude-desktop', { XDG_CONFIG_HOME: 'x' }, ['mine /home/me/.config/Claude/claude_desktop_config.json']],
    ['zed', { XDG_CONFIG_HOME: '/x' }, ['mine /x/zed/settings.json']],
    ['zed', { XDG_CONFIG_HOME: '/x', FLATPAK_XDG_CONFIG_HOME: '/f' }, ['mine /f/zed/settings.json']],
    ['vscode', { VSCODE_PORTABLE: '/p' }, ['mine /p/user-data/User/mcp.json', 'mine /p/user-data/User/settings.json']],
    [
      'sidecar',
      { VSCODE_APPDATA: '/a' },
      ['mine /a/Code/User/settings.json', 'mine /a/Code - Insiders/User/settings.json'],
    ],
    [
      'opencode',
      { OPENCODE_CONFIG_DIR: '/d', OPENCODE_CONFIG: '/o/mine.json', XDG_CONFIG_HOME: '/x' },
      [
        'mine /d/opencode.jsonc',
        'mine /d/opencode.json',
        'mine /home/me/.opencode/opencode.jsonc',
        'mine /home/me/.opencode/opencode.json',
        'mine /o/mine.json',
        'mine /x/opencode/opencode.jsonc',
        'mine /x/opencode/opencode.json',
        'mine /x/opencode/config.json',
      ],
    ],
    ['cocode', { COCO_CONFIG_DIR: '/c' }, ['mine /home/me/.config/cocode/mcp.toml', 'mine /c/mcp.json']],
    ['oh-my-pi', { PI_CODING_AGENT_DIR: '/a' }, ['mine /a/mcp.json', 'mine /a/.mcp.json']],
    [
      'oh-my-pi',
      { OMP_PROFILE: 'job', PI_CODING_AGENT_DIR: '/a', PI_CONFIG_DIR: '.pi' },
      ['mine /home/me/.pi/profiles/job/agent/mcp.json', 'mine /home/me/.pi/profiles/job/agent/.mcp.json'],
    ],
    [
      'oh-my-pi',
      { OMP_PROFILE: '../../etc', PI_PROFILE: 'job' },
      ['mine /home/me/.omp/agent/mcp.json', 'mine /home/me/.omp/agent/.mcp.json'],
    ],
  ])('%s follows %o', (app, env, expected) => {
    expect(own(app, env)).toEqual(expected);
  });

  test('CodeBuddy follows its own, except for the file beside the folder', () => {
    expect(own('codebuddy', { CODEBUDDY_CONFIG_DIR: '/c', VSCODE_PORTABLE: '/p' })).toEqual([
      'mine /c/.mcp.json',
      'mine /c/mcp.json',
      'mine /home/me/.codebuddy.json',
      'mine /p/user-data/User/settings.json',
    ]);
  });

  test('one that is empty counts as not set', () => {
    expect(placesOf('codex', { ...linux, env: { CODEX_HOME: '' } })).toEqual(onLinux['codex']);
  });

  test.each(['.codex', './.codex', '/work/.codex'])('one that says %s makes the repository the author', (folder) => {
    expect(placesOf('codex', { ...linux, env: { CODEX_HOME: folder } })).toEqual([
      'theirs /work/.codex/config.toml',
      'theirs /work/.codex/config.toml',
    ]);
  });
});

test('a name that only begins like the workspace is not inside it', () => {
  expect(placesOf('codex', { ...linux, env: { CODEX_HOME: '/work-files' } }).at(-1)).toBe(
    'mine /work-files/config.toml',
  );
});

test('in the home folder, what lies there is still one’s own', () => {
  expect(placesOf('codex', { ...linux, cwd: '/home/me' }).at(-1)).toBe('mine /home/me/.codex/config.toml');
  expect(placesOf('codex', { ...linux, cwd: '/' }).at(-1)).toBe('mine /home/me/.codex/config.toml');
});

test('a folder that no variable names has no files', () => {
  const { own } = importFolders({ cwd: '/work/app', home: '/home/me', env: {}, platform: 'linux' });
  expect([own(undefined, 'a.json'), own('', 'a.json'), own('/etc', 'a.json')]).toEqual([
    [],
    [],
    [{ file: '/etc/a.json', inWorkspace: false }],
  ]);
});
