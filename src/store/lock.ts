// Owns one lock between processes: a file that only one of them can create. A holder that died is overtaken when its time is up.

import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import type { Clock } from '../kernel/clock.ts';
import { isObject, parseJson } from '../kernel/json.ts';

/** How often a waiter looks again. */
const POLL_MS = 20;
/** Writing or breaking a lock takes a few system calls; whoever needs longer than this is dead. */
const DEAD_AFTER_MS = 5_000;

interface Claim {
  readonly token: string;
  readonly expiresAt: number;
}

export interface LockOptions {
  readonly file: string;
  readonly ttlMs: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/** Resolves with how to let go. Rejects with the signal's reason, or when the file cannot be written at all. */
export async function acquire({ file, ttlMs, clock, signal }: LockOptions): Promise<() => Promise<void>> {
  const token = randomUUID();
  const firstLook = clock.now();
  for (;;) {
    signal?.throwIfAborted();
    const claim: Claim = { token, expiresAt: clock.now() + ttlMs };
    if (await create(file, claim)) return () => release(file, claim, clock);
    const holder = await readClaim(file, firstLook);
    if (holder === undefined) continue;
    if (holder.expiresAt <= clock.now()) await breakLock(file, holder, clock);
    else await clock.sleep(POLL_MS, signal);
  }
}

/** Before its time is up nobody else may have taken it; afterwards only what is still ours is removed. */
async function release(file: string, claim: Claim, clock: Clock): Promise<void> {
  if (clock.now() < claim.expiresAt) await rm(file, { force: true });
  else await breakLock(file, claim, clock);
}

/** One at a time, and looking again first: otherwise the second to notice would remove the lock of the first. */
async function breakLock(file: string, stale: Claim, clock: Clock): Promise<void> {
  const guard = `${file}.break`;
  const now = clock.now();
  if (!(await create(guard, { token: stale.token, expiresAt: now + DEAD_AFTER_MS }))) {
    const other = await readClaim(guard, now);
    if (other !== undefined && other.expiresAt <= now) await rm(guard, { force: true });
    return;
  }
  try {
    const present = await readClaim(file, now);
    if (present?.token === stale.token) await rm(file, { force: true });
  } finally {
    await rm(guard, { force: true });
  }
}

async function create(file: string, claim: Claim): Promise<boolean> {
  try {
    await writeFile(file, JSON.stringify(claim), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** `undefined`: there is none. One that is empty is being written this moment, or its writer died in that moment. */
async function readClaim(file: string, firstLook: number): Promise<Claim | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  const parsed = parseJson(text);
  const { token, expiresAt } = parsed.ok && isObject(parsed.value) ? parsed.value : {};
  if (typeof token === 'string' && typeof expiresAt === 'number') return { token, expiresAt };
  return { token: '', expiresAt: firstLook + DEAD_AFTER_MS };
}
