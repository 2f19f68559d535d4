// Owns the proof that every app is listed once, in the order of strength, and that no file content makes its importer throw.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isMap } from '../../../../src/config/config-map.ts';
import { importers } from '../../../../src/config/importers/importers.ts';
import { verifies } from '../../../verifies.ts';

const environment = { cwd: '/work/app', home: '/home/me', env: {}, platform: 'linux' } as const;

verifies('CFG-09', 'ten other agents and the five sources are known, the strongest first', () => {
  expect(importers.map(({ app, title }) => `${app}: ${title}`)).toEqual([
    'claude-code: Claude Code',
    'claude-desktop: Claude Desktop',
    'codex: Codex',
    'gemini: Gemini CLI',
    'opencode: OpenCode',
    'cursor: Cursor',
    'windsurf: Windsurf',
    'zed: Zed',
    'copilot: Copilot CLI',
    'vscode: VS Code',
    'codebuddy: CodeBuddy',
    'cocode: cocode',
    'oh-my-pi: Oh My Pi',
    'agent-code: agent-code',
    'sidecar: SideCar',
  ]);
});

describe.each(importers)('$app, whatever a file holds', ({ places, find, translate }) => {
  const words = ['mcp', 'mcpServers', 'mcp_servers', 'servers', 'context_servers', 'projects', 'sidecar', 'codebuddy'];
  const more = [
    '/work',
    '/work/app',
    'timeout',
    'env',
    'env_vars',
    'tools',
    'headers',
    'type',
    '__proto__',
    'constructor',
  ];
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'medium' },
      fc.jsonValue({ maxDepth: 1 }),
      fc.constantFrom('local', '*', '$A', 'A', Number.NaN, undefined, new Date(0)),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.array(fc.tuple(fc.constantFrom(...words, ...more), tie('tree')), { maxLength: 4 }).map(Object.fromEntries),
    ),
  }));
  const content = tree.filter(isMap);

  test('servers are looked for without an exception, and found where the path says', () => {
    const check = (value: Readonly<Record<string, unknown>>) => {
      for (const { path, entries } of find(value, environment)) {
        const there = path.reduce<unknown>((map, key) => (isMap(map) ? map[key] : undefined), value);
        expect(Object.is(entries, there) || (isMap(there) && isMap(entries))).toBe(true);
      }
    };
    fc.assert(fc.property(content, check));
  });

  test('an entry is translated without an exception, and without changing what was read', () => {
    const check = (value: Readonly<Record<string, unknown>>) => {
      const before = structuredClone(value);
      const after = translate?.(value) ?? value;
      expect(isMap(after)).toBe(true);
      expect(Object.getPrototypeOf(after)).toBe(Object.prototype);
      expect(value).toEqual(before);
    };
    fc.assert(fc.property(content, check));
  });

  test('every place is an absolute path, on every platform', () => {
    const windows = { cwd: 'C:\\work', home: 'C:\\Users\\me', env: {}, platform: 'win32' } as const;
    const files = [environment, { ...environment, platform: 'darwin' as const }].flatMap((each) => places(each));
    expect(files.filter(({ file }) => !file.startsWith('/'))).toEqual([]);
    expect(places(windows).filter(({ file }) => !/^C:\\[^/]+$/.test(file))).toEqual([]);
  });
});

test('a hundred thousand folders cost no noticeable time', () => {
  const folders = Array.from({ length: 100_000 }, (_, at) => [`/elsewhere/${at}`, { mcpServers: {} }]);
  const same = Array.from({ length: 1_000 }, (_, at) => [`/work${'/'.repeat(at)}`, { mcpServers: { a: {} } }]);
  const content = { projects: Object.fromEntries([...folders, ...same]) };
  const groups = importers.find(({ app }) => app === 'claude-code')?.find(content, environment) ?? [];
  expect([groups.length, groups.filter(({ forFolder }) => forFolder !== undefined)]).toEqual([1_000, []]);
});
