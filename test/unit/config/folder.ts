// Owns a real folder per test: files in, a loaded configuration out, and nothing left behind.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../../../src/config/load.ts';

export type Files = Readonly<Record<string, string | Uint8Array>>;

export async function createFolder(files: Files = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'plexus-config-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return folder;
}

/** The folder is the workspace; the user's own files lie in `home/.config/plexus`. */
export async function loadFolder(files: Files, options: Partial<LoadOptions> = {}): Promise<LoadedConfig> {
  const cwd = await createFolder(files);
  const loaded = await loadConfig({
    cwd,
    home: join(cwd, 'home'),
    env: {},
    platform: 'linux',
    discover: true,
    ...options,
  });
  return withoutFolder(loaded, cwd);
}

/** Paths as a test can write them. */
function withoutFolder<Value>(value: Value, folder: string): Value {
  if (typeof value === 'string') return value.replaceAll(`${folder}/`, '') as Value;
  if (Array.isArray(value)) return value.map((each) => withoutFolder(each, folder)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutFolder(each, folder)])) as Value;
}
