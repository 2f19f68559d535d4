// Owns the proof that a fingerprint changes with everything that decides what runs and with nothing else, and that a change is
// described without a secret in it.

import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Launch, RemoteLaunch, ServerDefinition, StdioLaunch } from '../../../src/model/server.ts';
import { definitionHash, launchIdentityOf, trustFingerprint } from '../../../src/trust/fingerprint.ts';
import { differences, digestOf, storedPartsOf } from '../../../src/trust/launch-parts.ts';
import { verifies } from '../../verifies.ts';
import { defined, remote, stdio } from './definition.ts';

/** A folder with two programs of the same name, and one that is only a file. */
async function createPrograms(): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'plexus-trust-')));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (const folder of ['first', 'second', 'plain', 'links']) await mkdir(join(root, folder));
  for (const folder of ['first', 'second', 'plain']) await writeFile(join(root, folder, 'node'), '#!/bin/sh\n');
  for (const folder of ['first', 'second']) await chmod(join(root, folder, 'node'), 0o755);
  return root;
}

/** Lets a test read the digests. */
const unsealed = async (digest: string) => digest;

const pathOf = (root: string, folders: readonly string[]) => folders.map((each) => join(root, each)).join(delimiter);
const identityIn = (cwd: string, path: readonly string[]) => (launch: Launch) =>
  launchIdentityOf(defined(launch), { cwd, pathEnv: pathOf(cwd, path), platform: 'linux' });
const fingerprintIn = (cwd: string, path: readonly string[]) => async (launch: Launch) =>
  trustFingerprint(await identityIn(cwd, path)(launch));

describe('the fingerprint of an approval', () => {
  verifies('EXT-04', 'changes with the program, its arguments, folder and environment', async () => {
    const root = await createPrograms();
    const of = (change: Partial<StdioLaunch>) => fingerprintIn(root, ['first'])({ ...stdio, ...change });
    const all = await Promise.all([
      of({}),
      of({ command: join(root, 'second', 'node') }),
      of({ args: ['other.js'] }),
      of({ args: ['server.js', ''] }),
      of({ args: ['--token', 'a'] }),
      of({ args: ['--token', 'b'] }),
      of({ args: ['--key=a'] }),
      of({ args: ['--key=b'] }),
      of({ cwd: 'first' }),
      of({ env: { A: 'b' } }),
      of({ env: { A: 'c' } }),
      of({ env: { B: 'b' } }),
      of({ inheritEnv: 'all' }),
      of({ inheritEnv: ['A'] }),
      of({ envFile: '.env' }),
      of({ envAllow: ['A'] }),
    ]);
    expect(new Set(all).size).toBe(all.length);
    expect(all.every((each) => /^[0-9a-f]{64}$/.test(each))).toBe(true);
  });

  verifies('EXT-04', 'names the program the path leads to, with every link followed', async () => {
    const root = await createPrograms();
    await symlink(join(root, 'second', 'node'), join(root, 'links', 'node'));
    const program = async (path: readonly string[], launch: Launch = stdio) =>
      (await identityIn(root, path)(launch))['program'];
    const [first, second] = ['first', 'second'].map((folder) => join(root, folder, 'node'));
    expect(await program(['plain', 'first'])).toBe(first);
    expect(await program(['first', 'second'])).toBe(first);
    expect(await program(['second', 'first'])).toBe(second);
    expect(await program(['links'])).toBe(second);
    expect(await program([], { ...stdio, command: './first/node' })).toBe(first);
    expect(await program([], { ...stdio, command: './node', cwd: 'links' })).toBe(second);
  });

  verifies('EXT-04', 'changes when a link is changed to lead elsewhere', async () => {
    const root = await createPrograms();
    const link = join(root, 'links', 'node');
    await symlink(join(root, 'first', 'node'), link);
    const before = await fingerprintIn(root, ['links'])(stdio);
    await rm(link);
    await symlink(join(root, 'second', 'node'), link);
    expect(await fingerprintIn(root, ['links'])(stdio)).not.toBe(before);
  });

  test('follows the path that the entry itself sets, with the host’s in it', async () => {
    const root = await createPrograms();
    const program = async (PATH: string) => (await identityIn(root, ['first'])({ ...stdio, env: { PATH } }))['program'];
    const second = join(root, 'second');
    expect(await program(second)).toBe(join(second, 'node'));
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how an entry names the host's path
    const [before, after] = [`${second}:\${PATH}`, '${env:PATH}:/opt'];
    expect([await program(before), await program(after)]).toEqual([join(second, 'node'), join(root, 'first', 'node')]);
    expect(await program(`{env:PATH}:${second}`)).toBe(join(root, 'first', 'node'));
  });

  test('uses the command as written while no such program exists', async () => {
    const root = await createPrograms();
    const missing = await fingerprintIn(root, [])(stdio);
    expect(missing).toBe(await fingerprintIn(root, ['plain'])(stdio));
    expect(await fingerprintIn(root, ['first'])(stdio)).not.toBe(missing);
    const noPath = await launchIdentityOf(defined(), { cwd: root, pathEnv: undefined, platform: 'linux' });
    expect(trustFingerprint(noPath)).toBe(missing);
    expect((await identityIn(root, ['first'])({ ...stdio, command: 'a\0b' }))['program']).toBe('a\0b');
  });

  verifies(
    ['EXT-04', 'AUT-01'],
    'changes with where a remote server is, what is sent to it and how one logs in to it',
    async () => {
      const of = (change: Partial<RemoteLaunch>) => fingerprintIn('/', [])({ ...remote, ...change });
      const all = await Promise.all([
        of({}),
        of({ url: 'https://b.example/mcp' }),
        of({ url: 'https://a.example/mcp?a' }),
        of({ url: 'https://a.example/mcp?b' }),
        of({ url: 'https://a.example/mcp#b' }),
        of({ url: 'https://me:one@a.example/mcp' }),
        of({ url: 'https://me:two@a.example/mcp' }),
        of({ headers: { A: 'b' } }),
        of({ headers: { A: 'c' } }),
        of({ env: { A: 'b' } }),
        of({ bearerTokenEnvVar: 'A' }),
        of({ headersHelper: 'x' }),
        of({ envAllow: ['A'] }),
        of({ kind: 'sse' }),
        of({ oauth: false }),
        of({ oauth: { clientId: 'a' } }),
        of({ oauth: { clientId: 'b' } }),
        of({ oauth: { scopes: ['a'] } }),
        of({ oauth: { resource: 'off' } }),
        of({ oauth: { redirectUri: 'http://localhost:1/x' } }),
        of({ oauth: { metadataUrl: 'https://a.example/m' } }),
        of({ oauth: { clientMetadataUrl: 'https://a.example/m' } }),
      ]);
      expect(new Set(all).size).toBe(all.length);
      // Only a suggestion, which the person may follow or not.
      expect(await of({ oauth: { account: 'work' } })).toBe(await of({ oauth: {} }));
    },
  );

  verifies('EXT-04', 'tells a value from one that is written like its digest', async () => {
    const of = fingerprintIn('/', []);
    const mark = `(hidden ${digestOf('--key=y')})`;
    expect(await of({ ...stdio, args: [mark] })).not.toBe(await of({ ...stdio, args: ['--key=y'] }));
    const url = 'https://a.example/?key=y';
    const posing = `https://a.example/ (hidden ${digestOf(url)})`;
    expect(await of({ ...remote, url: posing })).not.toBe(await of({ ...remote, url }));
  });

  test('is the same for every in-process server', async () => {
    const of = fingerprintIn('/', []);
    const [one, other] = [() => undefined, () => Promise.resolve()];
    expect(await of({ kind: 'in-process', serve: one })).toBe(await of({ kind: 'in-process', serve: other }));
  });
});

describe('what has changed', () => {
  const changes = async (before: Launch, now: Launch) => {
    const of = async (launch: Launch) => storedPartsOf(await identityIn('/work', [])(launch), unsealed);
    return differences(await of(before), await of(now));
  };
  const local = (change: Partial<StdioLaunch>): StdioLaunch => ({ ...stdio, ...change });
  const away = (change: Partial<RemoteLaunch>): RemoteLaunch => ({ ...remote, ...change });

  const cases: Record<string, [before: Launch, now: Launch, changes: string[]]> = {
    'is nothing when nothing has': [stdio, { ...stdio }, []],
    'may be an argument': [stdio, local({ args: ['other.js'] }), ['argument 1 was server.js and is other.js']],
    'may be one argument more or less': [
      local({ args: ['a', 'b'] }),
      local({ args: ['a'], env: {} }),
      ['argument 2 was removed: b'],
    ],
    'may be the command, and with it the program': [
      stdio,
      local({ command: 'deno', args: ['server.js', '-A'] }),
      ['command was node and is deno', 'program was node and is deno', 'argument 2 was added: -A'],
    ],
    'may be the folder': [stdio, local({ cwd: 'sub' }), ['folder was /work and is /work/sub']],
    'may be what it inherits': [stdio, local({ inheritEnv: 'all' }), ['inheritEnv was "safe" and is "all"']],
    'may be the kind of server': [
      stdio,
      { kind: 'in-process', serve: () => undefined },
      [
        'kind was stdio and is in-process',
        'command was removed: node',
        'program was removed: node',
        'argument 1 was removed: server.js',
        'folder was removed: /work',
        'inheritEnv was removed: "safe"',
      ],
    ],
    'may be the address': [
      remote,
      away({ url: 'https://b.example/mcp' }),
      ['url was https://a.example/mcp and is https://b.example/mcp'],
    ],
    'names a variable, never its value': [
      local({ env: { A: 's3-a', B: 's3-b' } }),
      local({ env: { A: 's3-c', C: 's3-d' } }),
      ['variable A has another value', 'variable B was removed', 'variable C was added'],
    ],
    'names a header, never its value': [
      away({ headers: { A: 's3-a', B: 's3-b' }, env: { V: 's3' } }),
      away({ headers: { A: 's3-c', C: 's3-d' }, env: { V: 's3-e' } }),
      ['header A has another value', 'header B was removed', 'variable V has another value', 'header C was added'],
    ],
    'hides an argument that is a secret, or follows the option for one': [
      local({ args: ['--api-key', 's3-a', '--token=s3-b', '-p', 'x'] }),
      local({ args: ['--api-key', 's3-c', 'plain', '-p', 'y', '--password', 's3-d'] }),
      [
        'argument 2 has another value',
        'argument 3 was --token=(hidden) and is plain',
        'argument 5 has another value',
        'argument 6 was added: --password',
        'argument 7 was added: (hidden)',
      ],
    ],
    'hides what follows the path of an address, and who logs in there': [
      away({ url: 'https://me:s3-@-a@a.example/mcp?key=s3-b#s3-c' }),
      away({ url: 'https://me:s3-@-d@a.example/mcp?key=s3-e#s3-f' }),
      ['url has another value'],
    ],
    'shows of two such addresses what may be shown': [
      away({ url: 'https://a.example/mcp?key=s3-b' }),
      away({ url: 'https://s3@b.example/mcp' }),
      ['url was https://a.example/mcp?(hidden) and is https://(hidden)@b.example/mcp'],
    ],
  };
  for (const [sentence, [before, now, expected]] of Object.entries(cases)) {
    verifies('EXT-04', sentence, async () => {
      const told = await changes(before, now);
      expect(told).toEqual(expected);
      expect(told.join()).not.toContain('s3');
    });
  }

  const secretive: Record<string, Launch> = {
    'a variable': local({ env: { LEVEL: 's3-a' } }),
    'after an option': local({
      args: ['--pwd', 's3', '--pat', 's3', '--passphrase', 's3', '--bearer', 's3', '--token', 's3', '-p', 's3'],
    }),
    'in an option': local({ args: ['--signature=s3', '--pwd=s3', '-p=s3', '--env=GITHUB_PAT=s3', 'Cookie: sid=s3'] }),
    'a bare token': local({ args: ['ghp_s30123456789abcdef', 's3Xk2Lp9Zt4Vb8NwQ1'] }),
    'an address in an argument': local({ args: ['postgres://me:s3@h/d', `https://h/ghp_s30123456789abcdef/mcp`] }),
    'code and JSON': local({ args: ['-c', 'curl -H "Authorization: s3" h', '{"apiKey":"s3"}'] }),
    'the address': away({ url: 'https://s3@a.example/x?s3#s3', headers: { A: 's3' }, env: { B: 's3' } }),
    'the path of the address': away({ url: 'https://a.example/s/s3Xk2Lp9Zt4Vb8NwQ1/mcp' }),
    'what prints headers': away({ headersHelper: 'echo s3' }),
  };
  for (const [where, launch] of Object.entries(secretive)) {
    verifies(['TRU-08', 'CFG-19'], `leaves no secret in what is stored: ${where}`, async () => {
      const stored = await storedPartsOf(await identityIn('/work', [])(launch), unsealed);
      expect(
        Object.values(stored)
          .map(({ text }) => text)
          .join(' '),
      ).not.toContain('s3');
    });
  }

  test('shows what is no secret', async () => {
    const args = ['-y', '@scope/pkg@1.2.3', '--port', '8080', '-p', '8080', './server.js', '--region=eu-1'];
    const stored = await storedPartsOf(await identityIn('/work', [])(local({ args })), unsealed);
    const shown = Object.entries(stored).filter(([part]) => part.startsWith('argument'));
    expect(shown.map(([, { text }]) => text)).toEqual(args);
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
      { ...definition, launch: remote },
      { ...definition, launch: { ...remote, headers: { A: 'b' } } },
      { ...definition, launch: { ...remote, bearerTokenEnvVar: 'A' } },
    ];
    expect(new Set([definition, ...others].map(definitionHash)).size).toBe(8);
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
