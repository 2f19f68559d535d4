// Owns finding out which version of a package a runner has in its cache, and would start: by reading the cache, never by asking a
// registry. The layouts of npx, pnpm and bun were looked at; that of uv is as its source says.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject, parseJson } from '../kernel/json.ts';
import { isSystemError } from '../kernel/replace-file.ts';
import type { NamedPackage } from './named-package.ts';
import { readText } from './read-text.ts';
import type { HostEnvironment } from './scopes.ts';

type CacheEnvironment = Pick<HostEnvironment, 'env' | 'home' | 'platform'>;

interface FoundVersion {
  readonly version: string;
  /** It was fetched for a line that names the package in the same way. */
  readonly isForSameLine: boolean;
  readonly fetchedAt: number;
}

/** A cache may hold thousands of packages; an approval waits for this. */
const MOST_ENTRIES = 1_000;

export async function cachedVersion(named: NamedPackage, environment: CacheEnvironment): Promise<string | undefined> {
  const finders = { npm: inNpm, pnpm: inPnpm, bun: inBun, uv: inUv };
  const found = await finders[named.keeper](named, environment);
  const [best] = found
    .filter(({ version }) => VERSION.test(version))
    .sort((a, b) => Number(b.isForSameLine) - Number(a.isForSameLine) || b.fetchedAt - a.fetchedAt);
  return best?.version;
}

/** The text goes into a command that a person is told to write. */
const VERSION = /^v?\d+(?:\.\d+)*[\w.+!-]{0,60}$/;

/** `_npx/HASH` is a folder with the package as its dependency; its `package.json` holds the words of the line. */
async function inNpm(named: NamedPackage, { env, home, platform }: CacheEnvironment) {
  const local = platform === 'win32' ? join(localFolder(env, home), 'npm-cache') : join(home, '.npm');
  return installedIn(join(env['npm_config_cache'] || local, '_npx'), '.', named);
}

/** `dlx/HASH/pkg` links to such a folder. */
async function inPnpm(named: NamedPackage, environment: CacheEnvironment) {
  const { env, home, platform } = environment;
  const moved = env['XDG_CACHE_HOME'] && join(env['XDG_CACHE_HOME'], 'pnpm');
  const folders: Partial<Record<NodeJS.Platform, string>> = {
    darwin: join(home, 'Library', 'Caches', 'pnpm'),
    win32: join(localFolder(env, home), 'pnpm-cache'),
  };
  return installedIn(join(moved || folders[platform] || join(home, '.cache', 'pnpm'), 'dlx'), 'pkg', named);
}

async function installedIn(cache: string, inner: string, { name, written }: NamedPackage) {
  const found = (await namesIn(cache)).map(async (hash): Promise<readonly FoundVersion[]> => {
    const folder = join(cache, hash, inner);
    const manifest = await readManifest(folder);
    const { dependencies, _npx: line } = manifest;
    if (!isObject(dependencies) || !Object.hasOwn(dependencies, name)) return [];
    const { version } = await readManifest(join(folder, 'node_modules', name));
    const words = isObject(line) && Array.isArray(line['packages']) ? line['packages'] : [];
    const isForSameLine = words.length === 1 && words[0] === written;
    return [{ version: String(version), isForSameLine, fetchedAt: await changedAt(join(folder, 'package.json')) }];
  });
  return (await Promise.all(found)).flat();
}

/** `NAME@VERSION@@@1`, in a folder of its own for each scope. */
async function inBun({ name }: NamedPackage, { env, home }: CacheEnvironment) {
  const cache = env['BUN_INSTALL_CACHE_DIR'] || join(env['BUN_INSTALL'] || join(home, '.bun'), 'install', 'cache');
  const [bare = name, scope = '.'] = name.split('/').reverse();
  return versionsIn(join(cache, scope), (entry) => {
    const [, version] = entry.startsWith(`${bare}@`) ? (/^[^@]*@(.+?)@@/.exec(entry) ?? []) : [];
    return version;
  });
}

/** `wheels-vN/pypi/NAME/VERSION-TAGS`. */
async function inUv({ name }: NamedPackage, { env, home, platform }: CacheEnvironment) {
  const local = platform === 'win32' ? join(localFolder(env, home), 'uv', 'cache') : join(home, '.cache', 'uv');
  const moved = env['XDG_CACHE_HOME'] && join(env['XDG_CACHE_HOME'], 'uv');
  const cache = env['UV_CACHE_DIR'] || moved || local;
  const buckets = (await namesIn(cache)).filter((each) => /^wheels-v\d+$/.test(each));
  const normal = name.toLowerCase().replace(/[-_.]+/g, '-');
  const found = buckets.map((bucket) =>
    versionsIn(join(cache, bucket, 'pypi', normal), (entry) => entry.split('-')[0]),
  );
  return (await Promise.all(found)).flat();
}

async function versionsIn(folder: string, versionOf: (entry: string) => string | undefined) {
  const entries = (await namesIn(folder)).flatMap((entry) => {
    const version = versionOf(entry);
    return version === undefined ? [] : [{ entry, version }];
  });
  const found = entries.map(async ({ entry, version }): Promise<FoundVersion> => {
    return { version, isForSameLine: false, fetchedAt: await changedAt(join(folder, entry)) };
  });
  return Promise.all(found);
}

const localFolder = (env: CacheEnvironment['env'], home: string) =>
  env['LOCALAPPDATA'] || join(home, 'AppData', 'Local');

const namesIn = async (folder: string) => ((await ifReadable(readdir(folder))) ?? []).slice(0, MOST_ENTRIES);
const changedAt = async (file: string) => (await ifReadable(stat(file)))?.mtimeMs ?? 0;

/** A cache that is not there, or cannot be read, knows nothing. */
async function ifReadable<Value>(read: Promise<Value>): Promise<Value | undefined> {
  try {
    return await read;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

async function readManifest(folder: string): Promise<Readonly<Record<string, unknown>>> {
  const read = await readText(join(folder, 'package.json'));
  const parsed = read.kind === 'text' ? parseJson(read.text) : undefined;
  return parsed?.ok && isObject(parsed.value) ? parsed.value : {};
}
