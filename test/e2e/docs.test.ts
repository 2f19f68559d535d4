// Owns the proof that every code block in README and docs is true: files are loaded, programs and commands are run, and
// what the page says they print is what they print. `…` stands for anything.

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { isLong } from '../effort.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];

interface Block {
  readonly language: string;
  readonly title: string;
  readonly body: string;
  readonly line: number;
}

function blocksOf(page: string): Block[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```(\S*)[ \t]*(.*)\n([\s\S]*?)^```$/gm)].map(
    ({ 1: language = '', 2: title = '', 3: body = '', index }) => ({
      language,
      title,
      body,
      line: text.slice(0, index).split('\n').length,
    }),
  );
}

let folder: string;

/** A newcomer's folder: the package and the servers are installed, and nothing else is there. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'plexus-docs-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules', 'plexus'));
  for (const name of ['@modelcontextprotocol', '.bin'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  const shim = join(folder, 'bin', 'plexus');
  mkdirSync(dirname(shim));
  writeFileSync(shim, `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'dist', 'cli.js')}" "$@"\n`);
  chmodSync(shim, 0o755);
  if (!isLong) writeNpx(join(folder, 'bin', 'npx'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** npx takes a second to find a package that is installed: `npm test` finds it at once, `.ci/run` uses the real one. */
function writeNpx(file: string): void {
  const bins = join(root, 'node_modules', '.bin');
  writeFileSync(
    file,
    `#!/bin/sh\n[ "$1" = -y ] && shift\nname="\${1##*/}"; name="mcp-\${name#mcp-}"\nshift\nexec "${bins}/$name" "$@"\n`,
  );
  chmodSync(file, 0o755);
}

function run(command: string, args: readonly string[]): string {
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    HOME: join(folder, 'home'),
    npm_config_offline: 'true',
  };
  const { stdout, stderr } = spawnSync(command, args, { cwd: folder, env, encoding: 'utf8', timeout: 60_000 });
  return stdout + stderr;
}

function expectPrinted(actual: string, expected: string): void {
  const pattern = expected
    .trimEnd()
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[\\s\\S]*');
  expect(actual.trimEnd()).toMatch(new RegExp(`^${pattern}$`));
}

describe.each(pages.filter((page) => blocksOf(page).length > 0))('%s', (page) => {
  const blocks = blocksOf(page);
  for (const [index, { language, title, body, line }] of blocks.entries()) {
    const name = `line ${line}: ${language} ${title}`;
    if (language === 'toml' || language === 'json') {
      test(`${name} loads without a complaint`, async () => {
        const file = join(folder, title);
        writeFileSync(file, body);
        const { diagnostics } = await loadConfig({
          cwd: folder,
          home: folder,
          env: {},
          platform: 'linux',
          discover: false,
          configFile: file,
        });
        expect(diagnostics).toEqual([]);
      });
    } else if (language === 'ts') {
      test(`${name} prints what the page says`, () => {
        const file = join(folder, `block-${line}.mjs`);
        writeFileSync(file, ts.transpile(body, { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext }));
        const next = blocks[index + 1];
        expect(next?.language, 'what it prints follows').toBe('text');
        expectPrinted(run(process.execPath, [file]), next?.body ?? '');
      }, 60_000);
    } else if (language === 'console') {
      test(`${name} prints what the page says`, () => {
        for (const [, command = '', expected = ''] of body.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)) {
          expectPrinted(run('sh', ['-c', command]), expected);
        }
      }, 60_000);
    } else {
      test(`${name} is a drawing or what a program printed`, () => {
        expect(['', 'text']).toContain(language);
      });
    }
  }
});
