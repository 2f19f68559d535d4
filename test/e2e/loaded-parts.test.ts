// Owns the proof, with the built library in a process of its own, of what is not loaded on the way to a server's tools.
// A package is known by texts that only its code has: they outlive bundling and minification.

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { ServerConfig } from '../../src/index.ts';
import { startAsking } from '../servers/asking.ts';
import { startOAuth } from '../servers/oauth.ts';
import { startSdkWeb } from '../servers/sdk-web.ts';
import { verifies } from '../verifies.ts';
import { loginStoreIn, seedLogin } from './login-scene.ts';
import { createFolder } from './runtimes.ts';

const host = fileURLToPath(new URL('./loaded-host.mjs', import.meta.url));
const packages = fileURLToPath(new URL('../../node_modules', import.meta.url));
const sdkServer = fileURLToPath(new URL('../servers/sdk.mjs', import.meta.url));

/** One text for each part of the SDK that a client can load by itself. */
const sdkTexts = {
  '@modelcontextprotocol/client': ['ERA_NEGOTIATION_FAILED', "Server's protocol version is not supported"],
};

/** One text for each part of the logins: the store and its keychain, the metadata, the requests for tokens. */
const loginTexts = [
  'secret-service',
  'code_challenge_methods_supported',
  'urn:ietf:params:oauth:grant-type',
  'ath: s256(',
];

interface Listed {
  readonly tools: readonly string[];
  /** The files that were loaded, and their texts. */
  readonly files: readonly string[];
  readonly code: string;
}

async function list(entry: ServerConfig, home?: string): Promise<Listed> {
  const child = spawn(process.execPath, [host, JSON.stringify(entry)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(home !== undefined && { env: { PATH: process.env['PATH'], HOME: home } }),
  });
  const said = child.stdout.toArray();
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  const { tools, loaded } = JSON.parse(Buffer.concat(await said).toString()) as Record<'tools' | 'loaded', string[]>;
  const files = loaded
    .filter((each) => !each.startsWith('node:') && !each.startsWith('data:'))
    .map((each) => (each.startsWith('file:') ? fileURLToPath(each) : each));
  return { tools, files, code: files.map((file) => readFileSync(file, 'utf8')).join('\n') };
}

async function expectNoSdk(entry: ServerConfig): Promise<void> {
  const { tools, files, code } = await list(entry);
  expect(tools.length, 'the tools are listed').toBeGreaterThan(0);
  expect(
    files.filter((file) => file.includes(join('dist', 'index.js'))),
    'files are seen',
  ).toHaveLength(1);
  expect(files.filter((file) => file.includes('@modelcontextprotocol'))).toEqual([]);
  for (const text of Object.values(sdkTexts).flat()) expect(code.includes(text), text).toBe(false);
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

  test('and it would be noticed', () => {
    for (const [name, texts] of Object.entries(sdkTexts)) {
      const folder = join(packages, name, 'dist');
      const code = readdirSync(folder)
        .filter((file) => file.endsWith('.mjs'))
        .map((file) => readFileSync(join(folder, file), 'utf8'))
        .join('\n');
      for (const text of texts) expect(code.includes(text), text).toBe(true);
    }
  });
});

describe('listing the tools of a server without a login loads nothing that logs in', () => {
  verifies('AUT-03', 'whether or not there is a login for another server', async () => {
    const { url } = await startSdkWeb();
    const home = createFolder();
    const expectNothing = async () => {
      const { tools, code } = await list({ url, transport: 'http' }, home);
      expect(tools.length).toBeGreaterThan(0);
      for (const text of loginTexts) expect(code.includes(text), text).toBe(false);
    };
    await expectNothing();
    const server = await startOAuth();
    await seedLogin(server, loginStoreIn(home));
    await expectNothing();
    const { tools, code } = await list({ url: server.url, transport: 'http' }, home);
    expect(tools).toEqual(['mcp__one__echo']);
    expect(code, 'a login in use needs its store').toContain('secret-service');
  });

  test('and it would be noticed', () => {
    const folder = fileURLToPath(new URL('../../dist', import.meta.url));
    const files = readdirSync(folder).filter((file) => file.endsWith('.js'));
    const code = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
    for (const text of loginTexts) expect(code.includes(text), text).toBe(true);
  });
});
