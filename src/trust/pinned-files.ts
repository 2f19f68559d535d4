// Owns which files of the workspace an entry names, and a digest of what they hold now: what an approval with pinned files covers
// besides the command. Finds no file that a program looks up by itself, such as the modules that a script imports.

import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { type HostEnvironment, isWithin, pathsOf } from '../config/scopes.ts';
import { limits } from '../model/limits.ts';
import type { Launch } from '../model/server.ts';
import type { LaunchIdentity } from './fingerprint.ts';
import type { LaunchValues } from './launch-parts.ts';

type Place = Pick<HostEnvironment, 'cwd' | 'platform'>;

/** By `file PATH`: a digest of the contents, or the size and time of a file over the limit. `launch` is filled in. */
export async function namedFiles(launch: Launch, identity: LaunchIdentity, place: Place): Promise<LaunchValues> {
  if (launch.kind !== 'stdio') return {};
  const texts = [identity['program'] ?? '', launch.command, ...launch.args, ...Object.values(launch.env)];
  const { resolve, relative } = pathsOf(place.platform);
  const folder = identity['folder'] ?? place.cwd;
  const words = [...new Set(texts.flatMap((text) => wordsOf(text, place.platform)))].slice(0, limits.pinnedFiles.words);
  const paths = [...new Set(words.map((word) => resolve(folder, word)))];
  const found: [string, string][] = [];
  for (const path of paths.filter((each) => isWithin(place.cwd, each, place.platform))) {
    const contents = found.length < limits.pinnedFiles.most ? await contentsOf(path) : undefined;
    if (contents !== undefined) found.push([`file ${relative(place.cwd, path)}`, contents]);
  }
  return Object.fromEntries(found);
}

/** A path may be a whole text, or stand in one: `--require=./hook.js`, `file:///repo/a%20hook.mjs`, `true&&./run.sh`. */
function wordsOf(text: string, platform: NodeJS.Platform): readonly string[] {
  const separators = platform === 'win32' ? /[\s=,;"']+/ : /[\s=,;:"']+/;
  const parts = [text, ...text.split(separators)].flatMap((part) => [part, ...part.split(OPERATORS), decoded(part)]);
  const words = parts.filter((word) => word !== '' && !word.includes('\0'));
  // Node finds `./hook.js` for `./hook`.
  return words.flatMap((word) => (/[\\/]/.test(word) ? ENDINGS.map((ending) => word + ending) : [word]));
}

/** Between the commands of a shell line. A file's name may hold them too. */
const OPERATORS = /[&|()<>`]+/;

/** As the path of an address is written. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

const ENDINGS = ['', '.js', '.mjs', '.cjs'];

async function contentsOf(path: string): Promise<string | undefined> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return undefined;
    if (found.size > limits.pinnedFiles.bytes) return `${found.size} bytes of ${found.mtimeMs}`;
    return createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
