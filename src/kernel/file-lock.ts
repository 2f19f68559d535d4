// Owns a lock between processes: a folder that only one of them can put in place. The lock of a dead process is broken: at once
// where its death is known, otherwise when its time is up. A file or folder at that path that is no lock is neither followed nor
// removed: then there is no lock, and an error says so.

import { randomUUID } from 'node:crypto';
import { constants, lstat, mkdir, open, readdir, rename, rm, rmdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from './clock.ts';
import { hasEnded, markOfThisProcess } from './process-mark.ts';
import { isSystemError } from './replace-file.ts';

/** How often a waiting process checks again. */
const POLL_MS = 20;

export interface LockOptions {
  /** The path of the lock's folder, which exists only while the lock is held. */
  readonly lock: string;
  /** The same for all processes that share the lock: none waits longer than this for one holder, whatever its claim says. */
  readonly ttlMs: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

type Release = () => Promise<void>;

/**
 * Resolves with the release function. Rejects with the signal's reason, or when the lock cannot be written at all.
 *
 * The folder holds one file, the claim: its name has the expiry and an id, its content identifies the process. Folder and claim
 * appear in one rename, which succeeds only where no folder or an empty one is. Releasing or breaking a lock removes the file of
 * exactly that claim. So a process never removes a lock that another has just acquired, not even at the moment of expiry.
 */
export async function acquire(options: LockOptions): Promise<Release> {
  const { clock, signal } = options;
  const seen: SeenClaim = {};
  for (;;) {
    const release = await attempt(options, seen);
    if (release !== undefined) return release;
    await clock.sleep(POLL_MS, signal);
  }
}

/** The same without waiting: `undefined` where a living process holds the lock. */
export const tryAcquire = (options: LockOptions): Promise<Release | undefined> => attempt(options, {});

/** The claim that a process waits for, read once. */
interface SeenClaim {
  claim?: string;
  until?: number;
  holder?: string;
}

async function attempt({ lock, ttlMs, clock, signal }: LockOptions, seen: SeenClaim): Promise<Release | undefined> {
  const mark = markOfThisProcess();
  for (;;) {
    signal?.throwIfAborted();
    const claim = await claimOn(lock);
    if (claim === undefined) {
      const own = await putInPlace(lock, Math.ceil(clock.now() + ttlMs), mark);
      if (own !== undefined) return () => remove(lock, own);
      continue;
    }
    if (seen.claim !== claim) {
      const until = Math.min(expiryOf(claim), clock.now() + ttlMs);
      Object.assign(seen, { claim, until, holder: mark === undefined ? '' : await holderOf(lock, claim) });
    }
    const { until = 0, holder = '' } = seen;
    if (until > clock.now() && !hasEnded(holder, mark)) return undefined;
    await remove(lock, claim);
  }
}

const CLAIM = /^\d+-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const expiryOf = (claim: string) => Number.parseInt(claim, 10);

/** The name of the claim; `undefined`: no process holds the lock. */
async function claimOn(lock: string): Promise<string | undefined> {
  try {
    if (!(await lstat(lock)).isDirectory()) throw inTheWay('ENOTDIR', lock, 'is not a folder');
    const entries = await readdir(lock, { withFileTypes: true });
    const claim = entries.find((entry) => entry.isFile() && CLAIM.test(entry.name));
    if (claim === undefined && entries.length > 0) throw inTheWay('ENOTEMPTY', lock, 'holds what is no claim');
    if (claim === undefined) await removeEmpty(lock);
    return claim?.name;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** In the form of a system error. */
const inTheWay = (code: string, lock: string, what: string) =>
  Object.assign(new Error(`${code}: ${lock} ${what}`), { code, syscall: 'lock', path: lock });

/** Longer than any mark of a process. */
const MARK_BYTES = 256;

/** The mark of the process that holds the claim; empty where it is unreadable, gone, or of an older version. */
async function holderOf(lock: string, claim: string): Promise<string> {
  try {
    const file = await open(join(lock, claim), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MARK_BYTES), 0, MARK_BYTES);
      return buffer.toString('latin1', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isSystemError(error)) return '';
    throw error;
  }
}

async function putInPlace(lock: string, expiresAt: number, mark = ''): Promise<string | undefined> {
  const claim = `${expiresAt}-${randomUUID()}`;
  const prepared = `${lock}.${claim}.tmp`;
  try {
    await mkdir(prepared, { mode: 0o700 });
    await writeFile(join(prepared, claim), mark, { flag: 'wx', mode: 0o600 });
    await rename(prepared, lock);
    return claim;
  } catch (error) {
    await rm(prepared, { recursive: true, force: true });
    // Windows reports an existing folder as EPERM.
    if (hasCode(error, 'ENOTEMPTY', 'EEXIST') || (hasCode(error, 'EPERM') && (await claimOn(lock)))) return undefined;
    throw error;
  }
}

async function remove(lock: string, claim: string): Promise<void> {
  try {
    await unlink(join(lock, claim));
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  await removeEmpty(lock);
}

/** A folder that is not empty was acquired by another process meanwhile, and stays. */
async function removeEmpty(lock: string): Promise<void> {
  try {
    await rmdir(lock);
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST')) throw error;
  }
}

const hasCode = (error: unknown, ...codes: readonly string[]) => isSystemError(error) && codes.includes(error.code);
