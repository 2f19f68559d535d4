// Owns the proof of how each runner is kept out of the workspace, on every platform, and that the folder and the shell are made.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { awayFromWorkspace, startedProgramOf, workspaceFileOf } from '../../../src/config/away-from-workspace.ts';
import { launchAwayFromWorkspace } from '../../../src/config/neutral-folder.ts';
import type { HostEnvironment } from '../../../src/config/scopes.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { commandLine, type Provenance, type ServerDefinition, type StdioLaunch } from '../../../src/model/server.ts';
import { verifies } from '../../verifies.ts';

const linux: HostEnvironment = { cwd: '/repo', home: '/home/me', env: {}, platform: 'linux' };
const windows: HostEnvironment = { cwd: 'C:\\repo', home: 'C:\\me', env: {}, platform: 'win32' };
const EMPTY = '/home/me/.local/state/plexus/runners/empty';
const SHELL = '/home/me/.local/state/plexus/runners/shell';
const EMPTY_WINDOWS = 'C:\\me\\AppData\\Local\\plexus\\state\\runners\\empty';

const own: Provenance = { scope: 'user', file: '/home/me/mcp.toml', key: [] };

function define(line: string, provenance = own, more: Partial<StdioLaunch> = {}) {
  const [command = '', ...args] = line.split(' ');
  const launch: StdioLaunch = { kind: 'stdio', command, args, env: {}, inheritEnv: 'safe', ...more };
  return { name: 'x', launch, provenance, settings: {} } as unknown as ServerDefinition & { launch: StdioLaunch };
}

function started(line: string, environment = linux, more: { hasSafePath?: boolean; provenance?: Provenance } = {}) {
  const definition = define(line, more.provenance);
  return commandLine(awayFromWorkspace(definition, definition.launch, { environment, ...more }).launch);
}

const OPTIONS = `--prefix ${EMPTY} --script-shell ${SHELL}`;

verifies('EXT-32', 'a runner whose process all workspaces share is started alike in all of them', () => {
  const definition = { ...define('npx -y x'), settings: { share: 'machine' } } as unknown as ServerDefinition;
  const launches = ['/repo', '/other'].map(
    (cwd) => awayFromWorkspace(definition, define('npx -y x').launch, { environment: { ...linux, cwd } }).launch,
  );
  expect(launches.map(commandLine)).toEqual(
    Array(2).fill(`PLEXUS_WORKSPACE=/home/me npx ${OPTIONS} -y x (in ${EMPTY})`),
  );
});

test.each([
  ['npx -y x .', `PLEXUS_WORKSPACE=/repo npx ${OPTIONS} -y x . (in ${EMPTY})`],
  ['env A=1 npx x', `PLEXUS_WORKSPACE=/repo env A=1 npx ${OPTIONS} x (in ${EMPTY})`],
  ['npm exec x', `PLEXUS_WORKSPACE=/repo npm ${OPTIONS} exec x (in ${EMPTY})`],
  ['bunx x', `bunx x (in ${EMPTY})`],
  ['bun /srv/x.ts', `bun /srv/x.ts (in ${EMPTY})`],
  ['pnpm dlx x', `pnpm dlx x (in ${EMPTY})`],
  ['yarn dlx x', `yarn dlx x (in ${EMPTY})`],
  ['python3 -m x', 'PYTHONSAFEPATH=1 python3 -m x'],
  ['python3 -mx', 'PYTHONSAFEPATH=1 python3 -mx'],
  ['python3 -W ignore -m x', 'PYTHONSAFEPATH=1 python3 -W ignore -m x'],
  ['python3 -Xutf8 -Bc x', 'PYTHONSAFEPATH=1 python3 -Xutf8 -Bc x'],
  ['python3 -E -m x', `python3 -E -m x (in ${EMPTY})`],
  ['uv run x', `uv --project ${EMPTY} run x`],
  ['uv run /srv/x.py -m y', `uv --project ${EMPTY} run /srv/x.py -m y`],
  ['uv run -m x', `PYTHONSAFEPATH=1 uv --project ${EMPTY} run -m x`],
  ['uv run --with y python -m x', `PYTHONSAFEPATH=1 uv --project ${EMPTY} run --with y python -m x`],
  ['uv run --project /srv python3 -m x', 'PYTHONSAFEPATH=1 uv run --project /srv python3 -m x'],
  ['uvx --from y python -m x', 'PYTHONSAFEPATH=1 uvx --from y python -m x'],
  ['npx --prefix /srv x', `PLEXUS_WORKSPACE=/repo npx --script-shell ${SHELL} --prefix /srv x (in ${EMPTY})`],
  ['npm --prefix /srv exec x', `PLEXUS_WORKSPACE=/repo npm --script-shell ${SHELL} --prefix /srv exec x (in ${EMPTY})`],
  ['yarn --cwd /srv dlx x', `yarn --cwd /srv dlx x (in ${EMPTY})`],
  ['yarn --cwd /srv start', `yarn --cwd /srv start (in ${EMPTY})`],
  ['deno -A npm:x', 'deno --no-config -A npm:x'],
  ['deno run -A npm:x --config y', 'deno run --no-config -A npm:x --config y'],
  ['deno x -y x', 'deno x --no-config -y x'],
  ['dx -y x', 'dx --no-config -y x'],
  ['deno run -A npm:x', 'deno run --no-config -A npm:x'],
  ['deno x npm:x', 'deno x --no-config npm:x'],
])('%s', (line, expected) => expect(started(line)).toBe(expected));

test.each([
  'python3 /srv/server.py',
  'python3 -W module /srv/server.py -m x',
  'node /srv/x.js',
  'deno run -A /srv/x.ts',
  'uvx x',
  'docker run -i x',
  'uvx --from y python /srv/x.py -m z',
  'deno run --config /srv/deno.json npm:x',
  'uv --directory /srv run x.py',
  'my-server',
  'npx ./server',
  'bun server.ts',
])('as it is written: %s', (line) => expect(started(line)).toBe(line));

test('a runner inside a script is started in the empty folder', () => {
  const definition = define('sh', own, { args: ['-c', 'exec npx -y x'] });
  expect(awayFromWorkspace(definition, definition.launch, { environment: linux }).launch.cwd).toBe(EMPTY);
  const tool = define('sh', own, { args: ['-c', 'uvx x'] });
  expect(awayFromWorkspace(tool, tool.launch, { environment: linux }).launch.cwd).toBe(undefined);
});

test('an older Python is started in the empty folder', () => {
  expect(started('python3 -m x', linux, { hasSafePath: false })).toBe(`python3 -m x (in ${EMPTY})`);
});

test.each([
  ['cmd /c npx -y x', `cmd /c npx -y x (in '${EMPTY_WINDOWS}')`],
  ['npx.cmd -y x', `npx.cmd -y x (in '${EMPTY_WINDOWS}')`],
  ['py -3 -m x', 'PYTHONSAFEPATH=1 py -3 -m x'],
  ['cmd /c bunx x', `cmd /c bunx x (in '${EMPTY_WINDOWS}')`],
])('on Windows: %s', (line, expected) => expect(started(line, windows)).toBe(expected));

test.each<[Provenance, boolean]>([
  [own, true],
  [{ scope: 'enterprise', key: [] }, true],
  [{ scope: 'imported', key: [] }, true],
  [{ scope: 'plugin', key: [] }, true],
  [{ scope: 'host', key: [] }, false],
  [{ scope: 'project', inWorkspace: true, key: [] }, false],
])('of whom: %o', (provenance, isKept) => expect(started('bunx x', linux, { provenance }) !== 'bunx x').toBe(isKept));

test('an entry with a folder of its own is left alone', () => {
  const definition = define('bunx x', own, { cwd: '/srv' });
  expect(awayFromWorkspace(definition, definition.launch, { environment: linux }).launch).toBe(definition.launch);
});

test("the workspace's folder in a path is as good as a relative path", () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
  expect(workspaceFileOf(define('node ${workspaceFolder}/x.js'), linux)).toBe('./x.js');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
  expect(workspaceFileOf(define('node ${userHome}/x.js'), linux)).toBe(undefined);
});

test('a folder that the line names is not the one of a script there, where uv stays in the working directory', () => {
  expect(workspaceFileOf(define('uv run --project /srv x.py'), linux)).toBe('x.py');
  expect(workspaceFileOf(define('uv --directory /srv run x.py'), linux)).toBe(undefined);
  expect(workspaceFileOf(define('yarn start'), linux)).toBe('yarn start');
  // Cargo reads `.cargo/config.toml` of the working directory, whichever package it builds.
  expect(workspaceFileOf(define('cargo run --manifest-path /srv/Cargo.toml'), linux)).toBe('cargo run');
});

test('relative paths of a server count from the folder that it runs in itself', () => {
  expect(startedProgramOf(define('bunx x'), linux).cwd).toBe(EMPTY);
  expect(startedProgramOf(define('npx x'), linux).cwd).toBe(undefined);
  expect(startedProgramOf(define('bunx --cwd /srv x'), linux).cwd).toBe(undefined);
});

test('the shell returns to the workspace for the program alone, not for scripts of packages', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plexus-shell-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const cwd = join(folder, 'a workspace');
  mkdirSync(cwd);
  const environment = { ...linux, cwd, home: folder };
  const definition = define('npx x');
  const { launch } = await launchAwayFromWorkspace(definition, definition.launch, environment, systemClock);
  const shell = launch.args[3] ?? '';
  const answer = (event: string) =>
    execFileSync(shell, ['-c', 'pwd; echo "$PLEXUS_WORKSPACE"'], {
      cwd: launch.cwd,
      env: { ...launch.env, npm_lifecycle_event: event },
      encoding: 'utf8',
    }).split('\n');
  expect(answer('npx')).toEqual([cwd, '', '']);
  expect(answer('postinstall')).toEqual([launch.cwd, cwd, '']);
  expect([launch.cwd ?? '', shell].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
  // A second start leaves the shell as it is, and one that was changed is written again.
  const before = readFileSync(shell, 'utf8');
  await launchAwayFromWorkspace(definition, definition.launch, environment, systemClock);
  expect(readFileSync(shell, 'utf8')).toBe(before);
});

test('what cannot be made is named, with the reason and what to do', async () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'plexus-neutral-')));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const environment = { ...linux, home };
  const definition = define('npx x');
  const start = () => launchAwayFromWorkspace(definition, definition.launch, environment, systemClock);
  const runners = join(home, '.local', 'state', 'plexus', 'runners');
  const advice = (path: string) =>
    `Make it possible to write ${path}, or name the folder that "x" is to run in with "cwd" in its configuration.`;
  const message = (path: string, reason: string) =>
    `Server "x" could not be started (npx): Plexus keeps it out of the workspace with ${path}, which cannot be made: ${reason}. ${advice(path)}`;
  mkdirSync(join(runners, 'shell'), { recursive: true });
  await expect(start()).rejects.toMatchObject({
    code: 'SPAWN_FAILED',
    message: message(join(runners, 'shell'), 'the system says EISDIR'),
  });
  rmSync(runners, { recursive: true });
  writeFileSync(runners, 'in the way');
  await expect(start()).rejects.toMatchObject({
    message: message(join(runners, 'empty'), 'a part of its path is not a folder'),
  });
});
