// Owns the proof that files lying in a workspace do not run in place of the person's own servers, with the real python3 and npx.
// The packages come from a registry of the test's own, so that no network is needed.

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished } from 'vitest';
import type { Runtime, RuntimeOptions } from '../../src/api.ts';
import { createRuntime } from '../../src/runtime.ts';
import type { ApprovalRequest } from '../../src/trust/approval.ts';
import { FAULTY } from '../servers/faulty.ts';
import { verifies } from '../verifies.ts';
import { waitFor } from '../wait-for.ts';
import { Sandbox } from './plexus.ts';

let box: Sandbox;
let open: Runtime[];

beforeEach(() => {
  box = new Sandbox();
  open = [];
});
afterEach(async () => {
  await Promise.all(open.map((runtime) => runtime.close()));
  await box.remove();
});

const PATH = process.env['PATH'] ?? '';
const evil = () => box.path('evil');
const place = () => box.path('~/place');
const neutral = () => join(box.home, '.local/state/plexus/runners/empty');

function program(file: string, text: string): string {
  const path = box.write(file, text);
  chmodSync(path, 0o755);
  return path;
}

/** All that a repository could put in the way of `python3 -m weather_server` and `npx -y x`. */
function beHostile(): void {
  box.write('weather_server.py', `open(${JSON.stringify(evil())}, 'a').write('python')`);
  for (const name of ['x', 'node', 'sh'])
    program(`node_modules/.bin/${name}`, `#!/bin/sh\necho ${name} >> '${evil()}'\n`);
  box.write('package.json', { name: 'theirs', dependencies: { x: '1.0.0' } });
  box.write('.npmrc', `registry=http://127.0.0.1:9/\nscript-shell=${box.path('node_modules/.bin/sh')}\n`);
}

async function start(options: RuntimeOptions = {}): Promise<Runtime> {
  const runtime = await createRuntime({
    cwd: box.workspace,
    home: box.home,
    env: { PATH, HOME: box.home },
    permissions: [{ tool: 'mcp__*', action: 'allow' }],
    interactive: false,
    startup: { waitMs: 60_000 },
    ...options,
  });
  open.push(runtime);
  return runtime;
}

const statusOf = (runtime: Runtime, name: string) => runtime.status().find((each) => each.name === name);
const ownServers = (servers: object) => box.write('~/.config/plexus/mcp.json', { mcpServers: servers });
const placed = () => readFileSync(place(), 'utf8').trim();

const asFaulty = `import os, sys
open(${JSON.stringify('PLACE')}, 'w').write(os.getcwd())
os.execv(${JSON.stringify(process.execPath)}, [${JSON.stringify(process.execPath)}, ${JSON.stringify(FAULTY)}])
`;

verifies('TRU-01', "the person's python -m runs no module of the workspace, and still works in it", async () => {
  beHostile();
  box.write('~/lib/weather_server.py', asFaulty.replace('PLACE', place()));
  ownServers({
    weather: { command: 'python3', args: ['-m', 'weather_server'], env: { PYTHONPATH: box.path('~/lib') } },
  });
  const runtime = await start();
  expect(existsSync(evil())).toBe(false);
  expect(statusOf(runtime, 'weather')?.state).toBe('connected');
  expect(placed()).toBe(box.workspace);
  expect((await box.plexus('get', 'weather')).out).toContain('PYTHONSAFEPATH=1');
});

verifies('TRU-01', 'a Python that is too old for that is started in an empty folder', async () => {
  beHostile();
  const old = program(
    '~/bin/python3',
    `#!/bin/sh\nif [ "$1" = --version ]; then echo Python 3.8.18; exit; fi\npwd > '${place()}'\nexec '${process.execPath}' '${FAULTY}'\n`,
  );
  ownServers({ weather: { command: old, args: ['-m', 'weather_server'] } });
  const runtime = await start();
  expect(statusOf(runtime, 'weather')?.state).toBe('connected');
  expect(placed()).toBe(neutral());
  expect([readdirSync(neutral()), statSync(neutral()).mode & 0o777]).toEqual([[], 0o700]);
});

/** A registry with the package `x`, whose program notes where it runs and then is the faulty server. */
async function openRegistry(): Promise<string> {
  box.write('~/package/package.json', { name: 'x', version: '1.0.0', bin: { x: 'x.mjs' } });
  box.write(
    '~/package/x.mjs',
    `#!/usr/bin/env node
import { writeFileSync } from 'node:fs';
writeFileSync(${JSON.stringify(place())}, process.cwd() + '\\n' + process.env.PATH);
await import(${JSON.stringify(FAULTY)});
`,
  );
  const tarball = join(box.home, 'x.tgz');
  execFileSync('tar', ['-czf', tarball, '-C', box.home, 'package']);
  const server = createServer(({ url = '' }, response) => {
    const { port } = server.address() as AddressInfo;
    const dist = { tarball: `http://127.0.0.1:${port}/x.tgz` };
    const version = { name: 'x', version: '1.0.0', bin: { x: 'x.mjs' }, dist };
    if (url.endsWith('.tgz')) response.end(readFileSync(tarball));
    else response.end(JSON.stringify({ name: 'x', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

verifies(
  'TRU-01',
  "the person's npx runs no program and reads no setting of the workspace, and its server still works there",
  async () => {
    beHostile();
    box.write('~/.npmrc', `registry=${await openRegistry()}\naudit=false\nfund=false\nupdate-notifier=false\n`);
    // A folder that the line names itself does not keep npm from that of the workspace.
    const named = { command: 'npx', args: ['--prefix', box.home, '-y', 'x'] };
    ownServers({ x: { command: 'npx', args: ['-y', 'x'] }, named });
    const runtime = await start();
    expect(existsSync(evil())).toBe(false);
    expect(statusOf(runtime, 'named')?.state).toBe('connected');
    expect(statusOf(runtime, 'x')?.error?.message).toBe(undefined);
    expect(statusOf(runtime, 'x')?.state).toBe('connected');
    const [folder, path = ''] = placed().split('\n');
    expect(folder).toBe(box.workspace);
    expect(path).not.toContain(box.workspace);
    expect((await box.plexus('get', 'x')).out).toContain(`npx --prefix ${neutral()}`);
    expect(readdirSync(neutral())).toEqual([]);
  },
);

verifies('TRU-01', 'an entry that names its folder, or is given in code, is started as it is written', async () => {
  beHostile();
  ownServers({ mine: { command: 'npx', args: ['-y', 'x'], cwd: box.workspace } });
  await start({ servers: { given: { command: 'python3', args: ['-m', 'weather_server'] } } });
  await waitFor(() => expect(readFileSync(evil(), 'utf8')).toMatch(/python/));
  await waitFor(() => expect(readFileSync(evil(), 'utf8')).toMatch(/sh|x/));
});

verifies(
  'TRU-01',
  "a file of the workspace that the person's own entry names is asked about once in each workspace",
  async () => {
    box.write('server.mjs', `await import(${JSON.stringify(FAULTY)});`);
    ownServers({ local: { command: process.execPath, args: ['server.mjs'] } });
    const asked: ApprovalRequest[] = [];
    const headless = await start();
    expect(statusOf(headless, 'local')).toMatchObject({ state: 'needs-approval', error: { code: 'SERVER_UNTRUSTED' } });
    expect(statusOf(headless, 'local')?.error?.message).toContain('runs "server.mjs" of the folder you are in');
    const approve = async (request: ApprovalRequest) => {
      asked.push(request);
      return 'always' as const;
    };
    const first = await start({ approve });
    expect(statusOf(first, 'local')?.state).toBe('connected');
    const second = await start({ approve });
    expect(statusOf(second, 'local')?.state).toBe('connected');
    expect(asked).toMatchObject([{ kind: 'server', server: 'local', workspaceFile: 'server.mjs' }]);
    box.write('other/server.mjs', 'process.exit(1)');
    expect((await box.run(['list'], { cwd: 'other' })).out).toContain('needs-approval');
    expect((await box.run(['approve', 'local'], { cwd: 'other' })).out).toContain('is approved and may start');
    expect((await box.plexus('revoke', 'local')).out).toContain('withdrawn');
  },
);
