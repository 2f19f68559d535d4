// Owns the proof that runners are recognised however a line is spelled.

import { describe, expect, test } from 'vitest';
import { runnerOf } from '../../../src/config/runner.ts';

const seen = (line: string, platform: NodeJS.Platform = 'linux') => {
  const runner = runnerOf(line.split(' '), platform);
  return runner && [runner.name, runner.installs ? 'installs' : '', runner.shield ?? '', runner.at];
};

describe('the runner of a command line', () => {
  test.each([
    ['npx -y x', ['npx', 'installs', 'npm', 0]],
    ['/usr/bin/npx x', ['npx', 'installs', 'npm', 0]],
    ['env A=1 npx -y x', ['npx', 'installs', 'npm', 2]],
    ['/usr/bin/env -u B npx x', ['npx', 'installs', 'npm', 3]],
    ['npm exec x', ['npm exec', 'installs', 'npm', 0]],
    ['npm --prefix /own exec x', ['npm exec', 'installs', 'npm', 0]],
    ['bunx x', ['bunx', 'installs', 'folder', 0]],
    ['bun x y', ['bun x', 'installs', 'folder', 0]],
    ['bun /srv/x.ts', ['bun', '', 'folder', 0]],
    ['pnpm dlx x', ['pnpm dlx', 'installs', 'folder', 0]],
    ['pnpm --silent dlx x', ['pnpm dlx', 'installs', 'folder', 0]],
    ['pnpx x', ['pnpx', 'installs', 'folder', 0]],
    ['yarn dlx x', ['yarn dlx', 'installs', 'folder', 0]],
    ['pipx run x', ['pipx run', 'installs', 'folder', 0]],
    ['uvx x', ['uvx', 'installs', 'uv', 0]],
    ['uv tool run x', ['uv tool', 'installs', 'uv', 0]],
    ['uv run x', ['uv run', 'installs', 'uv', 0]],
    ['uv --directory /own run x', ['uv run', 'installs', 'uv', 0]],
    ['docker run -i x', ['docker run', 'installs', '', 0]],
    ['python3.12 -m x', ['python', '', 'python', 0]],
    ['py -3 -m x', ['py', '', 'python', 0]],
    ['deno run -A npm:x', ['deno run', 'installs', 'deno', 0]],
    ['deno run /srv/x.ts', ['deno run', '', 'deno', 0]],
    ['node /srv/x.js', ['node', '', '', 0]],
    ['pnpm start', undefined],
    ['npm run npx', undefined],
    ['my-server npx', undefined],
  ])('%s', (line, expected) => expect(seen(line)).toEqual(expected));

  test.each([
    ['cmd /c npx -y x', ['npx', 'installs', 'npm', 2]],
    ['cmd.exe /d /s /c npx.cmd -y x', ['npx', 'installs', 'npm', 4]],
    ['C:\\nodejs\\npx.cmd -y x', ['npx', 'installs', 'npm', 0]],
    ['cmd /c uvx.exe x', ['uvx', 'installs', 'uv', 2]],
    ['PY.EXE -m x', ['py', '', 'python', 0]],
  ])('on Windows: %s', (line, expected) => expect(seen(line, 'win32')).toEqual(expected));

  test('inside a script its place is not known, so that the script is not rewritten', () => {
    expect(runnerOf(['sh', '-c', 'exec npx -y x | tee log'], 'linux')).toMatchObject({ name: 'npx', at: undefined });
  });

  test.each([
    ['npx --prefix /own x', true],
    ['npx --prefix=/own x', true],
    ['npx --prefix own x', false],
    ['npx -y x --dir /data', false],
    ['uv --directory /own run x.py', true],
    ['uv run --project /own x', true],
    ['bunx --cwd /own x', true],
    ['pnpm -C /own dlx x', true],
  ])('an entry may name another folder for it: %s', (line, has) =>
    expect(runnerOf(line.split(' '), 'linux')?.hasOwnFolder).toBe(has),
  );
});
