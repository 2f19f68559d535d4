// Owns programs that a test starts with plain Node, on modules of `src/`: in a process of its own they may be killed, or hang.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import ts from 'typescript';

const compilerOptions: ts.CompilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2022,
  rewriteRelativeImportExtensions: true,
};

/** Makes the folder, with the modules (such as `kernel/clock`, all of one folder) and the program beside them; gives the program's path. */
export async function writeProgram(folder: string, modules: readonly string[], program: string): Promise<string> {
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  for (const module of modules) {
    const text = await readFile(new URL(`../src/${module}.ts`, import.meta.url), 'utf8');
    const { outputText } = ts.transpileModule(text, { compilerOptions });
    await writeFile(join(folder, `${basename(module)}.js`), outputText);
  }
  const path = join(folder, 'program.js');
  await writeFile(path, program);
  return path;
}
