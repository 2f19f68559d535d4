// Owns the proof that the package as it is published has its pages and its doors, and that a strict TypeScript project that installs it
// compiles every program of the pages, with the types as others see them.

import { execFile, execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, expect } from 'vitest';
import { npmCommand } from '../../scripts/setup.mjs';
import { blocksOf, pages, textOf } from '../unit/docs/pages.ts';
import { root } from '../unit/docs/program.ts';
import { verifies } from '../verifies.ts';

let project: string;
let installed: string;

/** A project with the packed package, the types of Node, and nothing of this repository. */
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'plexus-packed-'));
  installed = join(project, 'node_modules', 'plexus');
  mkdirSync(join(project, 'node_modules', '@types'), { recursive: true });
  const { command, args } = npmCommand('pack', '--ignore-scripts', '--silent', '--pack-destination', project);
  execFileSync(command, args, { cwd: root, stdio: 'ignore' });
  const archive = readdirSync(project).find((file) => file.endsWith('.tgz')) ?? '';
  mkdirSync(installed);
  execFileSync('tar', ['-xzf', join(project, archive), '-C', installed, '--strip-components=1']);
  for (const name of ['@types/node', 'undici-types'])
    symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name));
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** The strictest that a project may ask for. */
const strictest: ts.CompilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noUnusedLocals: true,
  verbatimModuleSyntax: true,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
  types: ['node'],
  noEmit: true,
};

/** The part of a provider's SDK that docs/agent-loop.md uses: the SDK itself is no dependency of ours. */
const PROVIDER = `declare module '@anthropic-ai/sdk' {
  namespace Anthropic {
    namespace Tool { interface InputSchema { type: 'object'; properties?: unknown; required?: string[] | null; [key: string]: unknown } }
    interface Tool { name: string; description?: string; input_schema: Tool.InputSchema }
    interface Base64ImageSource { type: 'base64'; media_type: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'; data: string }
    type ResultBlock = { type: 'text'; text: string } | { type: 'image'; source: Base64ImageSource };
    interface ToolResultBlockParam { type: 'tool_result'; tool_use_id: string; content: ResultBlock[]; is_error?: boolean }
    interface ToolUseBlock { type: 'tool_use'; id: string; name: string; input: unknown }
    type ContentBlock = { type: 'text'; text: string } | ToolUseBlock;
    interface MessageParam { role: 'user' | 'assistant'; content: string | (ContentBlock | ToolResultBlockParam)[] }
    interface Message { content: ContentBlock[]; stop_reason: string | null }
    interface Request { model: string; max_tokens: number; system?: string; tools?: Tool[]; messages: MessageParam[] }
  }
  class Anthropic { messages: { create(request: Anthropic.Request): Promise<Anthropic.Message> } }
  export default Anthropic;
}
`;

verifies('INT-04', 'a strict project made from the packed package compiles every program of the pages', () => {
  writeFileSync(join(project, 'provider.d.ts'), PROVIDER);
  const files = pages.flatMap((page) =>
    blocksOf(textOf(page))
      .filter(({ language }) => language === 'ts')
      .map(({ body, line }) => {
        const file = join(project, `${page.replaceAll('/', '-')}-${line}.ts`);
        writeFileSync(file, body);
        return file;
      }),
  );
  expect(files.length, 'there are programs').toBeGreaterThan(5);
  const program = ts.createProgram([...files, join(project, 'provider.d.ts')], strictest);
  const problems = ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
    const line = file ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
    return `${file?.fileName.slice(project.length + 1)}:${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
  expect(problems).toEqual([]);
});

verifies('INT-04', 'every page travels in the package', () => {
  expect([...pages, 'CHANGELOG.md', 'schema.json'].filter((page) => !existsSync(join(installed, page)))).toEqual([]);
});

/** One name of each door, which a host imports from there. */
const doors: Readonly<Record<string, string>> = {
  plexus: 'createRuntime',
  'plexus/agent': 'createAgent',
  'plexus/ai-sdk': 'aiTools',
  'plexus/anthropic': 'messagesTools',
  'plexus/gateway': 'createGateway',
  'plexus/google': 'fleetTool',
  'plexus/openai': 'responsesTools',
  'plexus/openai-agents': 'agentsServer',
  'plexus/serving': 'createMcpServer',
  'plexus/testing': 'createFakeServer',
};

/** What a process says that only opens this door. */
async function opened(door: string): Promise<string> {
  const program = `import(${JSON.stringify(door)}).then(Object.keys, (error) => [error.message]).then((all) => console.log(all.join()))`;
  return (await promisify(execFile)(process.execPath, ['-e', program], { cwd: project })).stdout.trim();
}

verifies('INT-06', 'one package without dependencies has a door for each part, which opens alone', async () => {
  const { exports, dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  expect(dependencies).toBeUndefined();
  const names = Object.keys(exports).filter((path) => !path.endsWith('.json'));
  const langchain = 'plexus/langchain';
  expect(names.map((path) => `plexus${path.slice(1)}`).toSorted()).toEqual(
    [...Object.keys(doors), langchain].toSorted(),
  );
  await Promise.all(
    Object.entries(doors).map(async ([door, name]) => expect((await opened(door)).split(','), door).toContain(name)),
  );
  // The one door that needs its framework, since a tool is a class there, says which one.
  expect(await opened(langchain)).toContain("Cannot find package '@langchain/core'");
});
