// Owns a context for tests of parts of the command line: an empty home, an empty folder, and a record of the warnings.

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { Context } from '../../../src/cli/command.ts';
import { commands } from '../../../src/cli/commands.ts';
import { plain } from '../../../src/cli/render/text.ts';

export function createTestContext(changes: Partial<Context> = {}): { context: Context; warnings: string[] } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plexus-context-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [cwd, home] = [join(folder, 'workspace'), join(folder, 'home')];
  for (const each of [cwd, home]) mkdirSync(each);
  const warnings: string[] = [];
  const context: Context = {
    ...{ positionals: [], rest: [], values: {}, cwd, env: {}, home, commands },
    runtimeOptions: { cwd, env: {}, home },
    signal: new AbortController().signal,
    onCtrlC: () => undefined,
    print: () => undefined,
    ...{ ask: undefined, askText: undefined, toTerminal: false, stdin: new PassThrough() },
    waitFor: (_what, work) => work,
    showStep: () => undefined,
    readStdin: async () => '',
    warn: (text) => void warnings.push(text(plain)),
    ...changes,
  };
  return { context, warnings };
}
