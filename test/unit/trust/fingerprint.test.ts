// Owns the proof that a fingerprint changes with everything that decides what runs, and with nothing else.

import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ServerDefinition, StdioLaunch } from '../../../src/model/server.ts';
import { definitionHash, trustFingerprint } from '../../../src/trust/fingerprint.ts';
import { verifies } from '../../verifies.ts';
import { defined, stdio } from './definition.ts';

/** A folder with two programs of the same name, and one that is only a file. */
async function createPrograms(): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'plexus-trust-')));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (const folder of ['first', 'second', 'plain', 'links']) await mkdir(join(root, folder));
  for (const folder of ['first', 'second', 'plain']) await writeFile(join(root, folder, 'node'), '#!/bin/sh\n');
  for (const folder of ['first', 'second']) await chmod(join(root, folder, 'node'), 0o755);
  return root;
}

const fingerprintIn = (cwd: string, path: readonly string[]) => (definition: ServerDefinition) =>
  trustFingerprint(definition, { cwd, pathEnv: path.map((each) => join(cwd, each)).join(':'), platform: 'linux' });

describe('the fingerprint of an approval', () => {
  verifies('EXT-04', 'changes with the program, its arguments, folder and environment', async () => {
    const root = await createPrograms();
    const of = (change: Partial<StdioLaunch>) => fingerprintIn(root, ['first'])(defined({ ...stdio, ...change }));
    const all = await Promise.all([
      of({}),
      of({ command: join(root, 'second', 'node') }),
      of({ args: ['other.js'] }),
      of({ args: ['server.js', ''] }),
      of({ cwd: 'first' }),
      of({ env: { A: 'b' } }),
      of({ env: { A: 'c' } }),
      of({ env: { B: 'b' } }),
      of({ inheritEnv: 'all' }),
    ]);
    expect(new Set(all).size).toBe(all.length);
    expect(all.every((each) => /^[0-9a-f]{64}$/.test(each))).toBe(true);
  });

  verifies('EXT-04', 'names the program the path leads to, with every link followed', async () => {
    const root = await createPrograms();
    await symlink(join(root, 'second', 'node'), join(root, 'links', 'node'));
    const [plain, first, second, linked] = await Promise.all(
      [['plain', 'first'], ['first', 'second'], ['second', 'first'], ['links']].map((path) =>
        fingerprintIn(root, path)(defined()),
      ),
    );
    expect(plain).toBe(first);
    expect(linked).toBe(second);
    expect(first).not.toBe(second);
    const direct = { ...stdio, command: './first/node' };
    expect(await fingerprintIn(root, [])(defined(direct))).toBe(first);
  });

  verifies('EXT-04', 'changes when a link comes to lead elsewhere', async () => {
    const root = await createPrograms();
    const link = join(root, 'links', 'node');
    await symlink(join(root, 'first', 'node'), link);
    const before = await fingerprintIn(root, ['links'])(defined());
    await rm(link);
    await symlink(join(root, 'second', 'node'), link);
    expect(await fingerprintIn(root, ['links'])(defined())).not.toBe(before);
  });

  test('follows the path that the entry itself sets', async () => {
    const root = await createPrograms();
    const entry = { ...stdio, env: { PATH: join(root, 'second') } };
    const other = { ...stdio, env: { PATH: join(root, 'second') }, command: join(root, 'second', 'node') };
    const of = fingerprintIn(root, ['first']);
    expect(await of(defined(entry))).toBe(await of(defined(other)));
  });

  test('is that of the command as written when nothing is there, and appears with the program', async () => {
    const root = await createPrograms();
    const missing = await fingerprintIn(root, [])(defined());
    expect(missing).toBe(await fingerprintIn(root, ['plain'])(defined()));
    expect(await fingerprintIn(root, ['first'])(defined())).not.toBe(missing);
    const noPath = await trustFingerprint(defined(), { cwd: root, pathEnv: undefined, platform: 'linux' });
    expect(noPath).toBe(missing);
  });

  verifies('EXT-04', 'changes with where a remote server is and what is sent to it', async () => {
    const of = fingerprintIn('/', []);
    const remote = { kind: 'http', url: 'https://a.example', headers: {} } as const;
    const all = await Promise.all([
      of(defined(remote)),
      of(defined({ ...remote, url: 'https://b.example' })),
      of(defined({ ...remote, headers: { A: 'b' } })),
      of(defined({ ...remote, bearerTokenEnvVar: 'A' })),
      of(defined({ ...remote, kind: 'sse' })),
    ]);
    expect(new Set(all).size).toBe(all.length);
  });
});

describe('the hash of a definition as written', () => {
  verifies('CFG-19', 'depends on how the server is reached, its name and its file, and on no setting', () => {
    const definition = defined();
    const { settings, provenance } = definition;
    const same: ServerDefinition = { ...definition, settings: { ...settings, toolTimeoutMs: 99, description: 'x' } };
    expect(definitionHash(same)).toBe(definitionHash(definition));
    const others: ServerDefinition[] = [
      { ...definition, name: 'other' },
      { ...definition, launch: { ...stdio, env: { A: 'b' } } },
      { ...definition, provenance: { ...provenance, file: '/elsewhere/.mcp.json' } },
      { ...definition, launch: { kind: 'in-process', serve: () => undefined } },
    ];
    expect(new Set([definition, ...others].map(definitionHash)).size).toBe(5);
  });

  test('does not depend on the order of keys', () => {
    const one = defined({ ...stdio, env: { A: '1', B: '2' } });
    const two = defined({
      env: { B: '2', A: '1' },
      inheritEnv: 'safe',
      args: ['server.js'],
      command: 'node',
      kind: 'stdio',
    });
    expect(definitionHash(one)).toBe(definitionHash(two));
  });
});
