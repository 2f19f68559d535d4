// Owns one lock between processes: a folder that only one of them can put in place. A holder that died is overtaken when its
// time is up.

import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, rmdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from './clock.ts';
import { isSystemError } from './replace-file.ts';

/** How often a waiter looks again. */
const POLL_MS = 20;

export interface LockOptions {
  /** Where the lock stands while it is held; afterwards nothing is there. */
  readonly lock: string;
  readonly ttlMs: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Resolves with how to let go. Rejects with the signal's reason, or when the lock cannot be written at all.
 *
 * The folder holds one file, named for its claim and the end of its time. The folder comes with that file in it, in one step
 * and only where none or an empty one is; whoever lets go, and whoever breaks a claim, removes the file of exactly that claim.
 * So no moment exists, not even that of expiring, in which one process removes what another has just acquired.
 */
export async function acquire({ lock, ttlMs, clock, signal }: LockOptions): Promise<() => Promise<void>> {
  for (;;) {
    signal?.throwIfAborted();
    const holder = await holderOf(lock);
    if (holder === undefined) {
      const claim = await putInPlace(lock, clock.now() + ttlMs);
      if (claim !== undefined) return () => remove(lock, claim);
    } else if (expiryOf(holder) <= clock.now()) await remove(lock, holder);
    else await clock.sleep(POLL_MS, signal);
  }
}

/** What is no claim of ours never had any time. */
function expiryOf(claim: string): number {
  const expiry = Number.parseFloat(claim);
  return Number.isNaN(expiry) ? 0 : expiry;
}

/** `undefined`: nobody holds it. */
async function holderOf(lock: string): Promise<string | undefined> {
  try {
    const [claim] = await readdir(lock);
    if (claim === undefined) await removeEmpty(lock);
    return claim;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function putInPlace(lock: string, expiresAt: number): Promise<string | undefined> {
  const claim = `${expiresAt}-${randomUUID()}`;
  const prepared = `${lock}.${claim}.tmp`;
  try {
    await mkdir(prepared, { mode: 0o700 });
    await writeFile(join(prepared, claim), '', { flag: 'wx', mode: 0o600 });
    await rename(prepared, lock);
    return claim;
  } catch (error) {
    await rm(prepared, { recursive: true, force: true });
    // EPERM is what Windows says of a folder that is there.
    if (hasCode(error, 'ENOTEMPTY', 'EEXIST') || (hasCode(error, 'EPERM') && (await holderOf(lock)))) return undefined;
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
