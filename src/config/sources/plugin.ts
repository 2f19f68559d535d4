// Owns plugins as a source: folders with a manifest that defines servers. Their servers are named after the plugin, and a plugin
// in the workspace is as little trusted as any other file there.

import { readdir, realpath } from 'node:fs/promises';
import { latePattern } from '../../kernel/late-pattern.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { ServerName } from '../../model/names.ts';
import { type ConfigMap, isMap } from '../config-map.ts';
import { findGroups } from '../groups.ts';
import type { EntryGroup } from '../importers/importer.ts';
import { type ReadDocument, type Remembered, readRemembering } from '../read-document.ts';
import { type FilePlace, type HostEnvironment, isWithin, pathsOf, userFolder } from '../scopes.ts';

/** One file with servers of one plugin. */
export interface PluginFile {
  readonly place: FilePlace;
  readonly read: ReadDocument;
  readonly find: (content: ConfigMap) => readonly EntryGroup[];
  readonly translate: (entry: ConfigMap) => ConfigMap;
  readonly rename: (name: ServerName) => ServerName;
}

const manifests = [['plugin.json'], ['.claude-plugin', 'plugin.json'], ['.codex-plugin', 'plugin.json']];
/** Far above any real number; a hostile folder must not delay the start. */
const controls = latePattern(String.raw`\p{Cc}`, 'gu');
const MOST_PLUGINS = 200;
const MOST_FILES = 100;

/** The folders that are searched for plugins, whether or not they exist. */
export function pluginFolders(configured: readonly string[], environment: HostEnvironment): readonly string[] {
  const { join, resolve } = pathsOf(environment.platform);
  const own = [join(environment.cwd, '.plexus', 'plugins'), join(userFolder(environment), 'plugins')];
  const named = configured.map((folder) => resolve(environment.cwd, folder.replace(/^~(?=[\\/]|$)/, environment.home)));
  return [...new Set([...named, ...own])];
}

export interface Plugins {
  readonly files: readonly PluginFile[];
  /** Files to watch besides the folders themselves, whether or not they exist. */
  readonly watched: readonly string[];
}

type PluginOptions = HostEnvironment & { readonly remembered?: Remembered | undefined };

export async function readPlugins(folders: readonly string[], environment: PluginOptions): Promise<Plugins> {
  const { join } = pathsOf(environment.platform);
  const roots = (await Promise.all(folders.map((folder) => rootsIn(folder, environment)))).flat();
  const files = (await Promise.all(roots.map((root) => readPlugin(root, environment)))).flat();
  const places = roots.flatMap((root) => [...manifests, ['.mcp.json']].map((parts) => join(root, ...parts)));
  return { files, watched: [...new Set([...places, ...files.map(({ place }) => place.file)])] };
}

/** A folder is a plugin itself, or holds plugins. */
async function rootsIn(folder: string, { platform }: HostEnvironment): Promise<readonly string[]> {
  const { join } = pathsOf(platform);
  const names = (await list(folder)).sort();
  const isPlugin = names.includes('plugin.json') || names.includes('.claude-plugin') || names.includes('.codex-plugin');
  return isPlugin ? [folder] : names.slice(0, MOST_PLUGINS).map((name) => join(folder, name));
}

async function list(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return [];
    throw error;
  }
}

async function readPlugin(root: string, environment: PluginOptions): Promise<readonly PluginFile[]> {
  const { join, basename } = pathsOf(environment.platform);
  const inWorkspace = await isInWorkspace(root, environment);
  for (const parts of manifests) {
    const file = join(root, ...parts);
    const read = await readRemembering(file, environment.remembered, placeIn(inWorkspace));
    if (read.kind === 'absent') continue;
    const content = read.kind === 'document' && isMap(read.document.value) ? read.document.value : {};
    const named = typeof content['name'] === 'string' ? content['name'].replace(controls(), '') : '';
    const plugin = named === '' ? basename(root) : named;
    return filesOf({ root, plugin, inWorkspace, manifest: file, read, declared: content['mcpServers'] }, environment);
  }
  return [];
}

const placeIn = (inWorkspace: boolean) => (inWorkspace ? { inWorkspace } : {});

interface Manifest {
  readonly root: string;
  readonly plugin: string;
  readonly inWorkspace: boolean;
  readonly manifest: string;
  readonly read: ReadDocument;
  readonly declared: unknown;
}

/** The manifest holds the servers, or names the files that do; without either, `.mcp.json` in the plugin's folder counts. */
async function filesOf(found: Manifest, environment: PluginOptions): Promise<readonly PluginFile[]> {
  const { root, manifest, read, declared } = found;
  const { resolve } = pathsOf(environment.platform);
  const names = [declared].flat().filter((each) => typeof each === 'string');
  const isInline = names.length === 0 && declared !== undefined;
  if (isInline || read.kind !== 'document') {
    const find = (content: ConfigMap) =>
      'mcpServers' in content ? [{ path: ['mcpServers'], entries: content['mcpServers'] }] : [];
    return [pluginFile(found, { file: manifest, read, find })];
  }
  const refuse = (because: string) =>
    ({ file: manifest, read: { kind: 'broken', diagnostic: refusal(manifest, because) } }) as const;
  const files = await Promise.all(
    (names.length > 0 ? names.slice(0, MOST_FILES) : ['.mcp.json']).map(async (name) => {
      const file = resolve(root, name);
      const isOwn = await isInside(root, file, environment);
      if (!isOwn) return refuse(`names "${name}", which lies outside of the plugin and is not read`);
      return { file, read: await readRemembering(file, environment.remembered, placeIn(found.inWorkspace)) };
    }),
  );
  const more = names.length > MOST_FILES;
  if (more) files.push(refuse(`names ${names.length} files, of which only the first ${MOST_FILES} are read`));
  return files
    .filter((each) => each.read.kind !== 'absent' || names.length > 0)
    .map((each) => pluginFile(found, { ...each, find: (content) => findGroups(content).groups }));
}

/** A manifest may only name files in its own folder, not files elsewhere that a link leads to. */
async function isInside(root: string, file: string, environment: HostEnvironment): Promise<boolean> {
  const [from = root, to = from] = await Promise.all([follow(root), follow(file)]);
  return isWithin(root, file, environment.platform) && isWithin(from, to, environment.platform);
}

function refusal(file: string, because: string): Diagnostic {
  return {
    severity: 'error',
    code: 'CONFIG_INVALID',
    message: `"mcpServers" ${because}`,
    remedy: 'Put the servers into a file in the folder of the plugin.',
    file,
  };
}

function pluginFile(
  { root, plugin, inWorkspace }: Manifest,
  { file, read, find }: Pick<PluginFile, 'read' | 'find'> & { file: string },
): PluginFile {
  return {
    place: { scope: 'plugin', file, provider: `plugin ${plugin}`, ...placeIn(inWorkspace) },
    read,
    find,
    translate: (entry) => withRoot(entry, root) as ConfigMap,
    rename: (name) => `plugin:${plugin}:${name}`,
  };
}

/** Judged by the path and by its real path: a link in the user's folder does not make a repository's plugin the user's own. */
async function isInWorkspace(root: string, environment: HostEnvironment): Promise<boolean> {
  if (isWithin(userFolder(environment), root, environment.platform)) return false;
  const [from = environment.cwd, to = root] = await Promise.all([follow(environment.cwd), follow(root)]);
  return isWithin(environment.cwd, root, environment.platform) || isWithin(from, to, environment.platform);
}

/** The real path, if it exists. */
async function follow(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

const ROOT = /\$\{(?:CLAUDE_PLUGIN_ROOT|PLUGIN_ROOT|pluginRoot|extensionPath)\}/g;

/** Plugins refer to their own folder by these placeholders. */
function withRoot(value: unknown, root: string): unknown {
  if (typeof value === 'string') return value.includes('${') ? value.replace(ROOT, () => root) : value;
  if (Array.isArray(value)) return value.map((each) => withRoot(each, root));
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withRoot(each, root)]));
}
