// Owns the proof that every code block in README and docs is true: files are loaded, programs and commands are run, and
// what the page says they print is what they print. `…` stands for anything. packed.test.ts compiles the programs.

import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { isLong } from '../effort.ts';
import { type ModelServer, startModelServer } from '../servers/models/server.ts';
import { blocksOf, pages, textOf } from '../unit/docs/pages.ts';
import { root } from '../unit/docs/program.ts';
import { verifies } from '../verifies.ts';

let folder: string;
let model: ModelServer;

/** The model of the README's chat. */
const said = [
  {
    text: 'I read it.',
    calls: [{ name: 'mcp__files__read_text_file', arguments: { path: 'welcome.md' } }],
  },
  { text: 'The note says that you are reading it through Plexus.' },
  { text: 'It was the server called files.' },
];

/** A newcomer's folder: the package and the servers are installed, and nothing else is there. */
beforeAll(async () => {
  model = await startModelServer(said);
  folder = mkdtempSync(join(tmpdir(), 'plexus-docs-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules', 'plexus'));
  symlinkSync(join(root, 'examples'), join(folder, 'examples'));
  for (const name of ['@modelcontextprotocol', '.bin'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  const shim = join(folder, 'bin', 'plexus');
  mkdirSync(dirname(shim));
  writeFileSync(shim, `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'dist', 'cli.cjs')}" "$@"\n`);
  chmodSync(shim, 0o755);
  if (!isLong) writeNpx(join(folder, 'bin', 'npx'));
  writeProvider(join(folder, 'node_modules', '@anthropic-ai', 'sdk'));
});
afterAll(async () => {
  await model.close();
  rmSync(folder, { recursive: true, force: true });
});

/** npx takes a second to find a package that is installed: `npm test` finds it at once, `.ci/run` uses the real one. */
function writeNpx(file: string): void {
  const bins = join(root, 'node_modules', '.bin');
  writeFileSync(
    file,
    `#!/bin/sh\n[ "$1" = -y ] && shift\nname="\${1##*/}"; name="mcp-\${name#mcp-}"\nshift\nexec "${bins}/$name" "$@"\n`,
  );
  chmodSync(file, 0o755);
}

/** The SDK of docs/agent-loop.md with a model by script: it calls the first tool it is shown, and is done once it has the result. */
function writeProvider(sdk: string): void {
  mkdirSync(sdk, { recursive: true });
  writeFileSync(join(sdk, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
  writeFileSync(
    join(sdk, 'index.js'),
    `export default class {
  messages = {
    async create({ tools, system, messages }) {
      const result = messages.at(-1).content[0];
      if (result.type === 'tool_result' && result.content[0].text.includes('<mcp_tool_output') && system.includes('mcp_tool_output'))
        return { content: [{ type: 'text', text: 'Done.' }] };
      const { name } = tools.find(({ name, input_schema }) => name.endsWith('read_graph') && input_schema.type === 'object');
      return { content: [{ type: 'tool_use', id: 'toolu_1', name, input: {} }] };
    },
  };
}
`,
  );
}

/** Both streams together, as a terminal shows them. */
async function run(command: string, args: readonly string[]): Promise<string> {
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    HOME: join(folder, 'home'),
    npm_config_offline: 'true',
    PLEXUS_MODEL: 'scripted',
    PLEXUS_MODEL_URL: `${model.url}/v1`,
  };
  const line = [command, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const child = spawn('sh', ['-c', `${line} 2>&1`], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  return Buffer.concat(await child.stdout.toArray()).toString('utf8');
}

function expectPrinted(actual: string, expected: string): void {
  const pattern = expected
    .trimEnd()
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[\\s\\S]*');
  // A slow machine makes a call of a chat last so long that its time is told.
  const quick = actual.trimEnd().replace(/^(\[\d+\] done) after [\d.]+ s:/gm, '$1:');
  expect(quick).toMatch(new RegExp(`^${pattern}$`));
}

verifies(
  'TRU-05',
  'the page about trust begins with whose permissions a server has, and with the hook for a sandbox',
  () => {
    const [, first = ''] = readFileSync(join(root, 'docs/trust.md'), 'utf8').split('\n\n');
    const words = first.replaceAll('\n', ' ');
    expect(words).toMatch(/^An MCP server runs with your permissions\b/);
    expect(words).toMatch(/`launcher`.*\bsandbox\b/);
  },
);

verifies('INT-08', 'the page about several agents explains sub-agents, skills and the host’s own tools', () => {
  const page = readFileSync(join(root, 'docs/several-agents.md'), 'utf8');
  const headings = [...page.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
  expect(headings).toEqual(['Agents and sub-agents', "The host's own functions", 'Skills']);
  const programs = blocksOf(page).filter(({ language }) => language === 'ts');
  expect(programs.map(({ body }) => /\.child\(/.test(body) && /serveTools\(/.test(body))).toEqual([true]);
});

/** Generated from the declarations: it is compiled already. */
const REFERENCE = 'docs/api.md';

describe.each(pages.filter((page) => blocksOf(textOf(page)).length > 0 && page !== REFERENCE))('%s', (page) => {
  const blocks = blocksOf(textOf(page));
  for (const [index, { language, file: title, body, line }] of blocks.entries()) {
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
      test(`${name} prints what the page says`, async () => {
        const file = join(folder, `block-${line}.mjs`);
        writeFileSync(file, ts.transpile(body, { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext }));
        const next = blocks[index + 1];
        expect(next?.language, 'what it prints follows').toBe('text');
        expectPrinted(await run(process.execPath, [file]), next?.body ?? '');
      }, 60_000);
    } else if (language === 'js') {
      test(`${name} is a part of a program, whose whole a test of test/frameworks runs`, () => {
        const { diagnostics } = ts.transpileModule(body, {
          reportDiagnostics: true,
          compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
        });
        expect(diagnostics?.map(({ messageText }) => messageText)).toEqual([]);
      });
    } else if (language === 'console') {
      test(`${name} prints what the page says`, async () => {
        for (const [, command = '', expected = ''] of body.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)) {
          expectPrinted(await run('sh', ['-c', command]), expected);
        }
      }, 60_000);
    } else {
      test(`${name} is a drawing or what a program printed`, () => {
        expect(['', 'text']).toContain(language);
      });
    }
  }
});
