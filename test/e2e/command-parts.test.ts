// Owns the proof, with the built program in a process of its own, of what a command does not load. A part is known by a text that
// only its code has, and that outlives bundling and minification.

import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { verifies } from '../verifies.ts';
import { Sandbox } from './plexus.ts';

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** What only a start, a connection, a call or a search needs. */
const parts: Readonly<Record<string, string>> = {
  'runtime.ts': 'function createRuntime(',
  'connection/handshake.ts': 'the connection ended during the handshake',
  'connection/session.ts': 'tools/call',
  'transport/process-group.ts': 'detached:',
  'transport/http.ts': 'mcp-session-id',
  'shaping/injection.ts': 'function findSignals(',
  'shaping/redact.ts': 'function createRedactor(',
  'catalog/search/query.ts': 'function parseQuery(',
  'catalog/definition/present.ts': 'function presentAnew(',
  'call/authorize/authorize.ts': 'function authorize(',
  'config/imports.ts': 'function chooseApps(',
  'config/sources/docker-gateway.ts': 'function unusedGateway(',
  'cli/elicitation.ts': 'function answerOnTerminal(',
};

/** Node's modules for connections and processes. */
const nodeModules = ['net', 'tls', 'http', 'https', 'child_process', 'worker_threads', 'readline'].map(
  (name) => `node:${name}`,
);

const box = new Sandbox();
afterAll(() => box.remove());

interface Loaded {
  readonly out: string;
  /** The names of the built files, without their hashes. */
  readonly files: readonly string[];
  readonly code: string;
  readonly nodeModules: readonly string[];
}

/** Node writes down which scripts a process has compiled when it is asked for their coverage. */
async function run(...args: readonly string[]): Promise<Loaded> {
  const folder = mkdtempSync(join(box.folder, 'coverage-'));
  const { code, out, err } = await box.spawn(args, { env: { NODE_V8_COVERAGE: folder } }).done;
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const [report = ''] = readdirSync(folder);
  const scripts: { url: string }[] = JSON.parse(readFileSync(join(folder, report), 'utf8')).result;
  const urls = [...new Set(scripts.map(({ url }) => url))];
  const files = urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url));
  return {
    out,
    files: files.map((file) => file.replace(/^.*[\\/]|(-[\w-]{8})?\.c?js$/g, '')).sort(),
    code: files.map((file) => readFileSync(file, 'utf8')).join('\n'),
    nodeModules: nodeModules.filter((name) => urls.includes(name)),
  };
}

const partsIn = (code: string) => Object.keys(parts).filter((part) => code.includes(parts[part] ?? ''));

describe('a command loads only the parts that it needs', () => {
  verifies('EXT-44', 'help is three files, one of them a line', async () => {
    const { out, files, code, nodeModules } = await run('--help');
    expect(out).toMatch(/plexus import/);
    expect({ files, parts: partsIn(code), nodeModules }).toEqual({
      files: ['cli', 'command-line', 'help'],
      parts: [],
      nodeModules: [],
    });
  });

  verifies('EXT-44', 'a list of known servers starts no runtime', async () => {
    const args = [fileOf('../servers/sdk.mjs')];
    box.write('~/.config/plexus/mcp.json', { mcpServers: { one: { command: process.execPath, args } } });
    const live = await run('list', '--live');
    expect(partsIn(live.code), 'a start is seen').toContain('runtime.ts');
    const { out, files, code, nodeModules } = await run('list');
    expect(out).toMatch(/^one +idle +stdio +user +\d+ +just now$/m);
    expect({ files, parts: partsIn(code), nodeModules }).toEqual({
      files: ['cli', 'command-line', 'help', 'known', 'list'],
      parts: [],
      nodeModules: [],
    });
  });

  test('and a part would be noticed', () => {
    const folder = fileOf('../../dist');
    const built = readdirSync(folder).filter((file) => file.endsWith('.js'));
    const code = built.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
    for (const [path, text] of Object.entries(parts)) {
      expect(readFileSync(fileOf(`../../src/${path}`), 'utf8').includes(text), path).toBe(true);
      expect(code.includes(text), text).toBe(true);
    }
  });
});
