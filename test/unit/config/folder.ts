// Owns a real folder per test: files in, a loaded configuration out, and nothing left behind.

import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { defineServer } from '../../../src/config/define.ts';
import type { LoadOptions } from '../../../src/config/discover.ts';
import { type LoadedConfig, loadConfig } from '../../../src/config/load.ts';
import type { ServerSettings } from '../../../src/model/server.ts';
import { removeFolder } from '../../remove-folder.ts';

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** The user's own file, and the enterprise's, in the folder of a test. */
export const USER = 'home/.config/plexus/mcp.toml';
export const SYSTEM = 'system/mcp.toml';

export async function createFolder(files: Files = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'plexus-config-'));
  onTestFinished(() => removeFolder(folder));
  await writeFiles(folder, files);
  return folder;
}

export async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}

/** The folder is the workspace; the user's own files lie in `home`, the enterprise's in `system`. */
export function environment(cwd: string): LoadOptions & { readonly systemFolder: string } {
  return {
    cwd,
    home: join(cwd, 'home'),
    systemFolder: join(cwd, 'system'),
    env: {},
    platform: 'linux',
    discover: true,
    docker: { ask: async () => ({ kind: 'no-cli', problem: 'a test is about something else' }) },
  };
}

export async function loadFolder(files: Files, options: Partial<LoadOptions> = {}): Promise<LoadedConfig> {
  const cwd = await createFolder(files);
  return withoutFolder(await loadConfig({ ...environment(cwd), ...options }), cwd);
}

/** Paths as a test can write them. */
export function withoutFolder<Value>(value: Value, folder: string): Value {
  const change = <Each>(each: Each): Each => withoutFolder(each, folder);
  if (typeof value === 'string') return value.replaceAll(`${folder}/`, '').replaceAll(folder, '.') as Value;
  if (Array.isArray(value)) return value.map(change) as Value;
  if (value instanceof Map) return new Map([...value].map(change)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, change(each)])) as Value;
}

/** The servers in use, by name: `name scope`. */
export const scopesOf = ({ definitions }: Pick<LoadedConfig, 'definitions'>): string[] =>
  definitions.map(({ name, provenance }) => `${name} ${provenance.scope}`);

export const messagesOf = ({ diagnostics }: Pick<LoadedConfig, 'diagnostics'>): string[] =>
  diagnostics.map(({ severity, message }) => `${severity}: ${message}`);

/** A TOML file of local servers, each with its own name as the command. */
export const servers = (...names: readonly string[]): string =>
  names.map((name) => `[mcp_servers."${name}"]\ncommand = "${name}"\n`).join('');

/** The settings of a local server whose entry has only a command. */
export const defaultSettings = (() => {
  const written = { name: 'it', value: { command: 'x' }, provenance: { scope: 'host', key: [] } } as const;
  const { definition } = defineServer(written, { defaults: {}, mayLoosen: true });
  return definition?.settings as ServerSettings;
})();
