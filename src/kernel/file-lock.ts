// Owns one lock between processes: a folder that only one of them can put in place. A holder that died is overtaken: at once
// where that is known, otherwise when its time is up. What stands there and is not ours is neither followed nor removed: then
// there is no lock, and an error says so.

import { randomUUID } from 'node:crypto';
import { constants, lstat, mkdir, open, readdir, rename, rm, rmdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from './clock.ts';
import { hasEnded, markOfThisProcess } from './process-mark.ts';
import { isSystemError } from './replace-file.ts';

/** How often a waiter looks again. */
const POLL_MS = 20;

export interface LockOptions {
  /** Where the lock stands while it is held; afterwards nothing is there. */
  readonly lock: string;
  /** The same for all who share the lock: nobody waits longer than this for one holder, whatever its claim says. */
  readonly ttlMs: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Resolves with how to let go. Rejects with the signal's reason, or when the lock cannot be written at all.
 *
 * The folder holds one file, named for its claim and the end of its time; in it stands whose it is. The folder comes with that
 * file in it, in one step and only where none or an empty one is; whoever lets go, and whoever breaks a claim, removes the file
 * of exactly that claim. So no moment exists, not even that of expiring, in which one process removes what another has just acquired.
 */
export async function acquire({ lock, ttlMs, clock, signal }: LockOptions): Promise<() => Promise<void>> {
  const mark = markOfThisProcess();
  let seen: { readonly claim: string; readonly until: number; readonly holder: string } | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const claim = await claimOn(lock);
    if (claim === undefined) {
      const own = await putInPlace(lock, Math.ceil(clock.now() + ttlMs), mark);
      if (own !== undefined) return () => remove(lock, own);
      continue;
    }
    if (seen?.claim !== claim) {
      const until = Math.min(expiryOf(claim), clock.now() + ttlMs);
      seen = { claim, until, holder: mark === undefined ? '' : await holderOf(lock, claim) };
    }
    if (seen.until <= clock.now() || hasEnded(seen.holder, mark)) await remove(lock, claim);
    else await clock.sleep(POLL_MS, signal);
  }
}

const CLAIM = /^\d+-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const expiryOf = (claim: string) => Number.parseInt(claim, 10);

/** `undefined`: nobody holds it. */
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

/** As the system would say it. */
const inTheWay = (code: string, lock: string, what: string) =>
  Object.assign(new Error(`${code}: ${lock} ${what}`), { code, syscall: 'lock', path: lock });

/** A mark is shorter than this. */
const MARK_BYTES = 256;

/** Empty where nobody can say: written by an older version, another one's, or gone by now. */
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
    // EPERM is what Windows says of a folder that is there.
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

/** One that is not empty was acquired in this very moment. */
async function removeEmpty(lock: string): Promise<void> {
  try {
    await rmdir(lock);
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST')) throw error;
  }
}

const hasCode = (error: unknown, ...codes: readonly string[]) => isSystemError(error) && codes.includes(error.code);
