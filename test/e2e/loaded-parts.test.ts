// Owns the proof, with the built library in a process of its own, of what is not loaded on the way to a server's tools.
// A package is known by texts that only its code has: they outlive bundling and minification.

import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { RuntimeOptions, ServerConfig } from '../../src/index.ts';
import { startAsking } from '../servers/asking.ts';
import { startOAuth } from '../servers/oauth.ts';
import { startSdkWeb } from '../servers/sdk-web.ts';
import { verifies } from '../verifies.ts';
import { loginStoreIn, seedLogin } from './login-scene.ts';
import { program, Sandbox } from './plexus.ts';

const host = fileURLToPath(new URL('./loaded-host.mjs', import.meta.url));
const built = fileURLToPath(new URL('../../dist', import.meta.url));
const packages = fileURLToPath(new URL('../../node_modules', import.meta.url));
const sdkServer = fileURLToPath(new URL('../servers/sdk.mjs', import.meta.url));

/** One text for each part of a package that can be loaded by itself. */
const textsOf = {
  '@modelcontextprotocol/client': {
    folder: 'dist',
    texts: ['ERA_NEGOTIATION_FAILED', "Server's protocol version is not supported"],
  },
  zod: { folder: 'v4/core', texts: ['$ZodType', 'invalid_union'] },
};

/** A text of the build for each module of `src/auth`, by its name. */
const loginTexts: Readonly<Record<string, string>> = {
  'auth-http': 'an address of the login',
  authorization: 'code_challenge_method:',
  callback: 'This login has ended.',
  challenge: 'resource_metadata',
  'client-authentication': 'client_assertion_type',
  discovery: 'oauth-protected-resource',
  dpop: 'ath:s256(',
  'holding-store': 'requireWritable:async',
  jwt: 'no signature is known',
  keychain: 'secret-service',
  'kept-logins': 'login-registration/',
  login: 'code_verifier',
  'login-choice': 'function chooseLogin(',
  'login-key': 'it does not hold the key',
  'login-store': 'it holds no list of logins',
  'login-use': 'insufficient_scope',
  logins: 'isResourceDemanded:',
  'machine-login': 'urn:ietf:params:oauth:grant-type',
  metadata: 'code_challenge_methods_supported',
  'open-browser': 'rundll32.exe',
  'perform-login': 'function performLogin(',
  quirks: 'sendsNoResource',
  refresh: 'refreshBegan:',
  registration: 'unauthorized_client',
  revocation: 'token_type_hint',
  'token-request': 'temporarily_unavailable',
};
/** Types, or a few lines that stand in the build with one of those above. */
const withoutText = ['events', 'login-model', 'login-parts', 'login-request', 'pkce', 'token-store'];

interface Listed {
  readonly tools: readonly string[];
  /** The files that were loaded, and their texts. */
  readonly files: readonly string[];
  readonly code: string;
}

async function run(options: readonly RuntimeOptions[], sandbox = new Sandbox()): Promise<Listed> {
  onTestFinished(() => sandbox.remove());
  const child = spawn(process.execPath, [host, ...options.map((each) => JSON.stringify(each))], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: sandbox.workspace,
    env: { PATH: process.env['PATH'], HOME: sandbox.home },
  });
  const said = child.stdout.toArray();
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  const { tools, loaded } = JSON.parse(Buffer.concat(await said).toString()) as Record<'tools' | 'loaded', string[]>;
  const files = loaded
    .filter((each) => !each.startsWith('node:') && !each.startsWith('data:'))
    .map((each) => (each.startsWith('file:') ? fileURLToPath(each) : each));
  return { tools, files, code: files.map((file) => readFileSync(file, 'utf8')).join('\n') };
}

const list = (entry: ServerConfig, sandbox?: Sandbox) => run([{ discover: false, servers: { one: entry } }], sandbox);

function expectNone(name: keyof typeof textsOf, { files, code }: Listed): void {
  expect(
    files.filter((file) => file.includes(join('dist', 'index.js'))),
    'files are seen',
  ).toHaveLength(1);
  expect(files.filter((file) => file.includes(join('node_modules', name)))).toEqual([]);
  for (const text of textsOf[name].texts) expect(code.includes(text), text).toBe(false);
}

async function expectNoSdk(entry: ServerConfig): Promise<void> {
  const listed = await list(entry);
  expect(listed.tools.length, 'the tools are listed').toBeGreaterThan(0);
  expectNone('@modelcontextprotocol/client', listed);
}

describe('listing the tools of a server loads nothing of the SDK', () => {
  for (const transport of ['stdio', 'http', 'sse', 'ws'] as const) {
    verifies('EXT-44', `over ${transport}`, async () => {
      await expectNoSdk((await startAsking(transport)).entry);
    });
  }

  verifies('EXT-44', 'in the modern era', async () => {
    await expectNoSdk({ command: process.execPath, args: [sdkServer, '--modern-only'] });
    await expectNoSdk({ url: (await startSdkWeb()).url, transport: 'http' });
  });
});

describe('zod is not loaded', () => {
  const entry = { command: process.execPath, args: [sdkServer] };

  verifies('EXT-44', 'by importing the library', async () => {
    expectNone('zod', await run([]));
  });

  verifies('EXT-44', 'by servers that code defines', async () => {
    const listed = await list({ ...entry, reconnect: { jitter: 0.1 }, tools: { '*': true } });
    expect(listed.tools.length).toBeGreaterThan(0);
    expectNone('zod', listed);
  });

  verifies('EXT-44', 'by configuration files, correct or not', async () => {
    const sandbox = new Sandbox();
    sandbox.write(
      '~/.config/plexus/mcp.toml',
      [
        '[mcp_servers.one]',
        `command = ${JSON.stringify(process.execPath)}`,
        `args = [${JSON.stringify(sdkServer)}]`,
        'startup_timeout_sec = 30',
        '[plexus.startup]',
        'gate_ms = "soon"',
        '[[permissions.rules]]',
        'tool = "mcp__one__*"',
        'action = "allow"',
        '[security]',
        'mcp_server_denylist = [{ command = "nothing" }, 5]',
      ].join('\n'),
    );
    sandbox.write('.mcp.json', { mcpServers: { two: { command: 5 } }, inputs: [{ id: '' }] });
    const listed = await run([{ logger: false }], sandbox);
    expect(listed.tools.length).toBeGreaterThan(0);
    expectNone('zod', listed);
  });

  verifies('EXT-44', 'by anything that is built', () => {
    const files = readdirSync(built).filter((file) => file.endsWith('.js'));
    const code = files.map((file) => readFileSync(join(built, file), 'utf8')).join('\n');
    for (const text of textsOf.zod.texts) expect(code.includes(text), text).toBe(false);
  });
});

test.each(Object.entries(textsOf))('%s would be noticed', (name, { folder, texts }) => {
  const path = join(packages, name, folder);
  const files = readdirSync(path).filter((file) => /\.m?js$/.test(file));
  const code = files.map((file) => readFileSync(join(path, file), 'utf8')).join('\n');
  for (const text of texts) expect(code.includes(text), text).toBe(true);
});

/** One text for each part that a local server given in code does not need, and where the text would be. */
const partTexts = {
  'the HTTP client': ['its answer is not valid HTTP', 'src/transport/exchange.ts'],
  'the WebSocket client': ['permessage-deflate', 'node_modules/ws/lib/websocket.js'],
  'the JSON parser': ['disallowComments', 'node_modules/jsonc-parser/lib/esm/impl/parser.js'],
  'the TOML parser': ['Invalid TOML document', 'node_modules/smol-toml/dist/error.js'],
  'the files of other agents': ['Claude Desktop', 'src/config/importers/importers.ts'],
  'a command': ['plexus call SERVER TOOL --help', 'src/cli/commands/call.ts'],
} as const;

describe('a start loads what its servers need, in few files', () => {
  verifies('EXT-44', 'for a local server neither network clients nor parsers nor commands', async () => {
    const { files, code } = await list((await startAsking('stdio')).entry);
    const loaded = Object.entries(partTexts).filter(([, [text]]) => code.includes(text));
    expect(loaded.map(([name]) => name)).toEqual([]);
    expect(files.filter((file) => file.includes(join('dist', ''))).length).toBeLessThanOrEqual(4);
  });

  verifies('EXT-44', 'for a server over HTTP its client alone', async () => {
    const { code } = await list((await startAsking('http')).entry);
    const loaded = Object.entries(partTexts).filter(([, [text]]) => code.includes(text));
    expect(loaded.map(([name]) => name)).toEqual(['the HTTP client']);
  });

  test('and it would be noticed', () => {
    for (const [text, file] of Object.values(partTexts))
      expect(readFileSync(join(packages, '..', file), 'utf8').includes(text), file).toBe(true);
  });

  verifies('EXT-44', 'no pattern with classes of Unicode, which V8 would look up while it reads the file', async () => {
    const { code } = await list((await startAsking('stdio')).entry);
    const literal = /(?<![\w`\\])\/(?:[^/\n\\`]|\\.)*\\p\{(?:[^/\n\\`]|\\.)*\/[dgimsvy]*u/;
    expect(literal.test(String.raw`const pattern=/^\p{L}+$/u;`), 'one would be seen').toBe(true);
    expect(literal.exec(code)?.[0]).toBeUndefined();
  });

  verifies('EXT-44', 'every function has its name, so that stacks can be read', async () => {
    const { code } = await list((await startAsking('stdio')).entry);
    for (const name of ['function createFileStore(', 'clearStale=async', 'ProcessGroup=class'])
      expect(code.includes(name), name).toBe(true);
  });

  test("Node's own modules are not imported: the getters of `node:crypto` alone would load Web Crypto", async () => {
    const { files } = await list((await startAsking('stdio')).entry);
    const ours = files.filter((file) => file.includes(join('dist', '')));
    expect(ours.filter((file) => /\bfrom ?["'`]node:/.test(readFileSync(file, 'utf8')))).toEqual([]);
  });
});

describe('listing the tools of a server without a login loads nothing that logs in', () => {
  verifies('AUT-03', 'whether or not there is a login for another server', async () => {
    const { url } = await startSdkWeb();
    const sandbox = new Sandbox();
    const expectNothing = async () => {
      const { tools, code } = await list({ url, transport: 'http' }, sandbox);
      expect(tools.length).toBeGreaterThan(0);
      const loaded = Object.entries(loginTexts).filter(([, text]) => code.includes(text));
      expect(loaded.map(([module]) => module)).toEqual([]);
    };
    await expectNothing();
    const server = await startOAuth();
    await seedLogin(server, loginStoreIn(sandbox.home));
    await expectNothing();
    const { tools, code } = await list({ url: server.url, transport: 'http' }, sandbox);
    expect(tools).toEqual(['mcp__one__echo']);
    expect(code, 'a login in use needs its store').toContain('secret-service');
  });

  test('and it would be noticed', () => {
    const files = readdirSync(built).filter((file) => file.endsWith('.js'));
    const code = files.map((file) => readFileSync(join(built, file), 'utf8')).join('\n');
    for (const text of Object.values(loginTexts)) expect(code.includes(text), text).toBe(true);
    const modules = readdirSync(join(packages, '../src/auth')).map((file) => file.replace(/\.ts$/, ''));
    expect([...Object.keys(loginTexts), ...withoutText].toSorted()).toEqual(modules.toSorted());
  });
});

describe('help', () => {
  /** Loading runs in a thread of its own, so the hook itself notes each file. */
  function filesOf(...words: readonly string[]): readonly string[] {
    const sandbox = new Sandbox();
    onTestFinished(() => sandbox.remove());
    const list = sandbox.write('loaded.txt', '');
    const inData = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
    const hook = `import { appendFileSync } from 'node:fs';
      export const load = (url, context, next) => {
        appendFileSync(${JSON.stringify(list)}, url + '\\n');
        return next(url, context);
      };`;
    const preload = `import { register } from 'node:module'; register(${JSON.stringify(inData(hook))});`;
    const env = { PATH: process.env['PATH'], HOME: sandbox.home };
    const { status, stdout } = spawnSync(process.execPath, ['--import', inData(preload), program, ...words], { env });
    expect([status, stdout.length > 0]).toEqual([0, true]);
    return readFileSync(list, 'utf8').trimEnd().split('\n').toSorted();
  }

  test('of the chat loads the files that `plexus --help` loads, and no other', () => {
    const files = filesOf('--help');
    expect(
      files.some((file) => file.includes('/dist/cli.cjs')),
      'files are seen',
    ).toBe(true);
    expect(filesOf('chat', '--help')).toEqual(files);
    expect(filesOf('call', '--help').length, 'a further file would be seen').toBeGreaterThan(files.length);
  });
});
