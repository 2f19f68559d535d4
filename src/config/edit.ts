// Owns changing a configuration file: one server is put, removed, enabled or disabled, under a lock and in one atomic write.
// Everything else in the file stays byte for byte, and a file that another program changed meanwhile is never overwritten.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { access, constants, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Clock } from '../kernel/clock.ts';
import { acquire } from '../kernel/file-lock.ts';
import { makeFolder } from '../kernel/make-folder.ts';
import { fullness, isSystemError, reasonOf, removeDebris, replaceFile } from '../kernel/replace-file.ts';
import { RuntimeError } from '../model/errors.ts';
import { editText, planText } from './edits/edit-text.ts';
import type { Change } from './edits/plan.ts';
import { readText } from './read-text.ts';
import { isWithin } from './scopes.ts';

export type { Change } from './edits/plan.ts';

export interface EditOptions {
  /** The folder of all lock files. It is the user's own, since a repository could put lock files into a workspace. */
  readonly lockFolder: string;
  /** The folder that the file must not leave. For files of a repository, whose links lead where its author wants. */
  readonly within?: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /**
   * Whether to remove other users' rights to the file. For the user's own file only: a file in a workspace, or one that the user
   * named, may be shared on purpose.
   */
  readonly closeToOthers: boolean;
  /** Whether missing folders are made for the user alone. */
  readonly isPrivateFolder: boolean;
}

export type EditResult =
  | {
      readonly kind: 'written';
      /** The entry as the file has it now; for a removed server, as it was. */
      readonly entry: unknown;
      readonly before: unknown;
      readonly isReadableByOthers: boolean;
      /** The whole file before and now; `before` is empty when the file is new. */
      readonly texts: { readonly before: string; readonly now: string };
    }
  /** `unchanged`: the file says so already. `present`: the server exists and should not be replaced. */
  | { readonly kind: 'unchanged' | 'present'; readonly entry: unknown }
  | { readonly kind: 'absent' };

/** Only a dead process holds the lock for so long: the work under it takes milliseconds. */
const LOCK_TTL_MS = 10_000;
const MOST_TRIES = 20;

export async function editServer(file: string, change: Change, options: EditOptions): Promise<EditResult> {
  try {
    return await editLocked(file, change, options);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    // EEXIST: a folder should be made where a file is.
    const problem = error.code === 'EEXIST' ? 'a part of its path is not a folder' : reasonOf(error);
    throw new RuntimeError('CONFIG_UNWRITABLE', { file, problem, ...fullness(error) }, { cause: error });
  }
}

async function editLocked(file: string, change: Change, options: EditOptions): Promise<EditResult> {
  const target = await followLinks(file);
  if (options.within !== undefined) await refuseOutside(options.within, { file, target });
  // Planned once without the lock: most refusals end here, and the parsers are loaded before the lock is held.
  const planned = await planText(file, (await readWritten(file, target)) ?? '', change);
  if (planned.kind !== 'edit') return planned;

  const folder = dirname(target);
  await makeFolder(folder, options.isPrivateFolder ? { mode: 0o700 } : {});
  const release = await hold(target, options);
  try {
    await removeDebris(folder, `${basename(target)}.`);
    for (let time = 0; time < MOST_TRIES; time++) {
      const edited = await editOnce({ file, target }, change, options);
      if (edited !== 'overtaken') return edited;
    }
  } finally {
    await release();
  }
  throw new RuntimeError('CONFIG_UNWRITABLE', { file, problem: 'another program keeps changing it' });
}

/**
 * One lock for every path that leads to the file. It does not exclude other users; for them the file is compared once more
 * before it is replaced.
 */
async function hold(target: string, { lockFolder, clock, signal }: EditOptions): Promise<() => Promise<void>> {
  const lock = join(lockFolder, `edit-${createHash('sha256').update(target).digest('hex').slice(0, 32)}.lock`);
  try {
    await makeFolder(lockFolder, { mode: 0o700 });
    await removeDebris(lockFolder);
    return await acquire({ lock, ttlMs: LOCK_TTL_MS, clock, signal });
  } catch (error) {
    if (!isSystemError(error)) throw error;
    // The lock's own path would help nobody: its folder is what a person can mend.
    const data = { folder: lockFolder, reason: reasonOf(error), ...fullness(error) };
    throw new RuntimeError('STORE_UNWRITABLE', data, { cause: error });
  }
}

/** The file that a link leads to, which is replaced while the link stays. It may not exist yet; then its folder is resolved. */
async function followLinks(file: string): Promise<string> {
  const found = await ifThere(realpath(file));
  if (found !== undefined) return found;
  const folder = await followLinks(dirname(file));
  const link = await ifThere(readlink(file));
  return link === undefined ? join(folder, basename(file)) : followLinks(resolve(folder, link));
}

async function refuseOutside(within: string, { file, target }: EditTarget): Promise<void> {
  if (isWithin(await realpath(within), target, process.platform)) return;
  throw new RuntimeError('CONFIG_UNWRITABLE', { file, problem: `its link leads out of ${within}, to ${target}` });
}

async function ifThere(path: Promise<string>): Promise<string | undefined> {
  try {
    return await path;
  } catch (error) {
    if (isSystemError(error) && ['ENOENT', 'ENOTDIR', 'EINVAL'].includes(error.code)) return undefined;
    throw error;
  }
}

interface EditTarget {
  /** The path as the user named it. */
  readonly file: string;
  readonly target: string;
}

async function editOnce(
  { file, target }: EditTarget,
  change: Change,
  options: EditOptions,
): Promise<EditResult | 'overtaken'> {
  const written = await readWritten(file, target);
  const edited = await editText(file, written ?? '', change);
  if (edited.kind !== 'edited') return edited;
  const rights = await rightsOf(target, written !== undefined, options.closeToOthers);
  const mayReplace = () => readCurrent(target) === written;
  if (!(await replaceFile(target, edited.text, { ...rights, mayReplace }))) return 'overtaken';
  const { entry, before, text: now } = edited;
  const texts = { before: written ?? '', now };
  return { kind: 'written', entry, before, isReadableByOthers: (rights.mode & 0o044) !== 0, texts };
}

async function readWritten(file: string, target: string): Promise<string | undefined> {
  const read = await readText(target);
  if (read.kind === 'text') return read.text;
  if (read.kind === 'absent') return undefined;
  const { problem } = read;
  if (read.kind === 'not-text') throw new RuntimeError('CONFIG_INVALID', { file, ...read.position, problem });
  throw new RuntimeError('CONFIG_UNREADABLE', { file, problem }, { cause: read.cause });
}

/** The rights of the file as they were; a new file is for its owner only. */
async function rightsOf(target: string, isThere: boolean, closeToOthers: boolean) {
  if (!isThere) return { mode: 0o600 };
  await access(target, constants.W_OK);
  const { mode, uid, gid } = await stat(target);
  return { mode: mode & (closeToOthers ? 0o700 : 0o777), owner: { uid, gid } };
}

function readCurrent(target: string): string | undefined {
  try {
    return readFileSync(target, 'utf8');
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
