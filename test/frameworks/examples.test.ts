// Owns the proof that the programs of each framework do their job, those of `examples/` and those of docs/frameworks.md: with a model that
// reads one note and says what it read.

import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { isLong } from '../effort.ts';
import { removeFolder } from '../remove-folder.ts';
import { sentResults } from '../servers/models/sent.ts';
import { startModelServer } from '../servers/models/server.ts';
import { blocksOf, textOf } from '../unit/docs/pages.ts';
import { root } from '../unit/docs/program.ts';
import { nodeOptions } from './adapter-tests.ts';
import { describeInstalled, newerNode } from './installed.ts';

/** The environment by which each client finds the model. */
const clients: Readonly<Record<string, (url: string) => Readonly<Record<string, string>>>> = {
  'ai-sdk': (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'none' }),
  anthropic: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'none' }),
  google: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'none' }),
  langchain: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'none' }),
  openai: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'none' }),
  'openai-agents': (url) => ({
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: 'none',
    OPENAI_AGENTS_DISABLE_TRACING: '1',
  }),
};
const names = Object.keys(clients);

/** What the program prints with a model that reads the note and repeats it. */
async function printedBy(name: string, program: string, options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  const reading = { name: 'mcp__files__read_text_file', arguments: { path: 'welcome.md' } };
  const model = await startModelServer([
    { calls: [reading] },
    (request) => ({ text: `It says: ${sentResults(request).at(-1)?.text}` }),
  ]);
  try {
    const env = { ...process.env, ...options.env, ...clients[name]?.(model.url) };
    const { stdout } = await promisify(execFile)(newerNode, [...nodeOptions, program], { ...options, env });
    return stdout;
  } finally {
    await model.close();
  }
}

const printed = /^It says: (.|\n)*You are reading this through Plexus/;

describeInstalled('the example of', () => {
  test.concurrent.for(names)('%s', async (name, { expect: expected }) => {
    const program = join(root, 'examples', name, 'main.mjs');
    expected(readFileSync(program, 'utf8').split('\n').length).toBeLessThanOrEqual(40);
    expected(await printedBy(name, program)).toMatch(printed);
  });
});

/** The programs of the page, by the door that they import. */
const blocks = blocksOf(textOf('docs/frameworks.md'));
const programs = new Map(
  blocks
    .filter(({ language, body }) => language === 'js' && body.includes('createRuntime('))
    .map(({ body }) => [/'plexus\/([\w-]+)'/.exec(body)?.[1] ?? '', body]),
);

/** The strictest that a project may ask for. */
const strictest: ts.CompilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  noUnusedLocals: true,
  verbatimModuleSyntax: true,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts', 'lib.dom.d.ts'],
  types: ['node'],
  typeRoots: [join(root, 'node_modules/@types')],
  paths: { plexus: [join(root, 'dist/index.d.ts')], 'plexus/*': [join(root, 'dist/*.d.ts')] },
  // Declarations of the frameworks have faults of their own.
  skipLibCheck: true,
  noEmit: true,
};

/** What the compiler says of these programs, which lie beside the frameworks though they are on no disk. */
function problemsOf(bodies: ReadonlyMap<string, string>): readonly string[] {
  const files = new Map([...bodies].map(([name, body]) => [join(root, 'test/frameworks', `page-${name}.mts`), body]));
  const host = ts.createCompilerHost(strictest);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file) ?? readFile(file);
  host.getSourceFile = (file, language, ...rest) => {
    const body = files.get(file);
    return body === undefined ? getSourceFile(file, language, ...rest) : ts.createSourceFile(file, body, language);
  };
  const program = ts.createProgram([...files.keys()], strictest, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ file, messageText }) =>
        `${basename(file?.fileName ?? '')}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
}

/** A newcomer's folder: the package, the file server, the note and the page's `fleet.toml`. */
function createProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plexus-page-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules', 'plexus'));
  copyFileSync(join(root, 'examples/sample-fleet/notes/welcome.md'), join(folder, 'welcome.md'));
  const fleet = blocks.find(({ language }) => language === 'toml')?.body ?? expect.fail('no fleet.toml');
  // npx would ask a registry.
  const server = join(root, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');
  const [command, args] = ['"npx"', '"-y", "@modelcontextprotocol/server-filesystem"'];
  expect(fleet).toContain(command);
  expect(fleet).toContain(args);
  writeFileSync(
    join(folder, 'fleet.toml'),
    fleet.replace(command, JSON.stringify(process.execPath)).replace(args, JSON.stringify(server)),
  );
  return folder;
}

describeInstalled('the program of the page for', () => {
  test('every framework is there', () => expect([...programs.keys()].toSorted()).toEqual(names));

  // The declarations of six frameworks take the compiler ten seconds.
  test.runIf(isLong)('each is strict TypeScript too', () => expect(problemsOf(programs)).toEqual([]));

  test.concurrent.for([...programs])('%s', async ([name, body], { expect: expected, onTestFinished }) => {
    const cwd = createProject();
    onTestFinished(() => removeFolder(cwd));
    const program = join(cwd, 'main.mjs');
    writeFileSync(program, body);
    expected(await printedBy(name, program, { cwd, env: { HOME: cwd } })).toMatch(printed);
  });
});
