// Owns the proof that a package without a version is found behind every runner, and that its version comes from the runner's cache.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cachedVersion } from '../../../src/config/cached-version.ts';
import { packageWithoutVersion } from '../../../src/config/named-package.ts';
import { verifies } from '../../verifies.ts';

const found = (line: string) => {
  const named = packageWithoutVersion(line.split(' '), 'linux');
  return named && `${named.keeper} ${named.name} ${named.at('1.2.3')}`;
};

describe('a line', () => {
  const cases: Record<string, string | undefined> = {
    'npx -y x': 'npm x x@1.2.3',
    'npx -y @a/x --flag y': 'npm @a/x @a/x@1.2.3',
    'npx x@latest': 'npm x x@1.2.3',
    'npx -y --package=x cmd': 'npm x x@1.2.3',
    'npx -p x cmd': 'npm x x@1.2.3',
    'npx --registry https://r.example x': 'npm x x@1.2.3',
    'npm exec -y -- x': 'npm x x@1.2.3',
    'cmd /c npx -y x': 'npm x x@1.2.3',
    'env A=1 npx x': 'npm x x@1.2.3',
    'pnpm dlx x': 'pnpm x x@1.2.3',
    'pnpx x': 'pnpm x x@1.2.3',
    'bunx x': 'bun x x@1.2.3',
    'bun x @a/x': 'bun @a/x @a/x@1.2.3',
    'uvx x': 'uv x x@1.2.3',
    'uvx --python 3.12 --with y x': 'uv x x@1.2.3',
    'uvx --from x[cli] cmd': 'uv x x[cli]==1.2.3',
    'uv tool run x': 'uv x x@1.2.3',
    // A version, a range, a place or a script: nothing to propose.
    'npx -y x@1.0.0': undefined,
    'npx x@^1': undefined,
    'npx -y github:a/x': undefined,
    'npx ./x': undefined,
    'npx -p x -p y cmd': undefined,
    'npx -c x': undefined,
    'npx -y': undefined,
    'uvx x==1.0': undefined,
    'uvx --from git+https://h/x cmd': undefined,
    'uv tool install x': undefined,
    'uv run x': undefined,
    'node x': undefined,
    'docker run x': undefined,
  };
  for (const [line, package_] of Object.entries(cases))
    test(`${line} names ${package_ === undefined ? 'no package without a version' : package_}`, () =>
      expect(found(line)).toBe(package_));
});

describe('the version in a cache', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'plexus-cache-'));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const write = (file: string, content: unknown, time = 1_000) => {
    const path = join(home, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(content));
    utimesSync(path, time, time);
  };
  /** As npm and pnpm lay a package out. */
  const install = (folder: string, name: string, version: unknown, line: string, time?: number) => {
    write(`${folder}/package.json`, { dependencies: { [name]: '^1.0.0' }, _npx: { packages: [line] } }, time);
    write(`${folder}/node_modules/${name}/package.json`, { name, version });
  };
  const versionOf = (line: string, env: Record<string, string> = {}, platform: NodeJS.Platform = 'linux') => {
    const named = packageWithoutVersion(line.split(' '), platform);
    return named && cachedVersion(named, { env, home, platform });
  };

  verifies('TRU-01', 'of npx is the one fetched for the same line, or else the newest', async () => {
    install('.npm/_npx/aa', '@a/x', '1.5.0', '@a/x@1.5.0', 3_000);
    expect(await versionOf('npx @a/x')).toBe('1.5.0');
    install('.npm/_npx/bb', '@a/x', '1.6.0', '@a/x', 2_000);
    expect(await versionOf('npx @a/x')).toBe('1.6.0');
    // A dependency of another package is not what npx would start.
    install('.npm/_npx/cc', 'other', '9.0.0', 'other', 4_000);
    write('.npm/_npx/cc/node_modules/@a/x/package.json', { version: '9.9.9' });
    expect(await versionOf('npx @a/x')).toBe('1.6.0');
    expect(await versionOf('npx @a/x', { npm_config_cache: join(home, 'elsewhere') })).toBeUndefined();
    expect(await versionOf('npx constructor')).toBeUndefined();
  });

  verifies('TRU-01', 'is found where pnpm, bun and uv keep it, on each system', async () => {
    install('.cache/pnpm/dlx/hash/1a1-a59', 'x', '2.0.0', 'x');
    symlinkSync('1a1-a59', join(home, '.cache/pnpm/dlx/hash/pkg'));
    write('.bun/install/cache/x@3.0.0@@@1/package.json', {});
    write('.bun/install/cache/@a/x@3.1.0-beta.1@@@1/package.json', {});
    write('.cache/uv/wheels-v5/pypi/mcp-server-x/4.0.0-py3-none-any.http', {});
    write('AppData/Local/npm-cache/_npx/aa/package.json', { dependencies: { x: '5' } });
    write('AppData/Local/npm-cache/_npx/aa/node_modules/x/package.json', { version: '5.0.0' });
    expect(
      await Promise.all([
        versionOf('pnpm dlx x'),
        versionOf('bunx x'),
        versionOf('bunx @a/x'),
        versionOf('uvx MCP_server.x'),
        versionOf('npx.cmd x', {}, 'win32'),
        versionOf('pnpm dlx x', {}, 'darwin'),
      ]),
    ).toEqual(['2.0.0', '3.0.0', '3.1.0-beta.1', '4.0.0', '5.0.0', undefined]);
  });

  test('is none where a cache holds what is no version, or no JSON', async () => {
    for (const version of ['1.0.0; rm -rf ~', 5, null, '', '1.0.0\nx']) {
      install('.npm/_npx/aa', 'x', version, 'x');
      expect(await versionOf('npx x'), String(version)).toBe(version === 5 ? '5' : undefined);
    }
    writeFileSync(join(home, '.npm/_npx/aa/package.json'), '{');
    expect(await versionOf('npx x')).toBeUndefined();
  });
});
