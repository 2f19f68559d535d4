// Owns the store on disk: one file per key, readable by its owner only, replaced atomically, shared between processes.
// Reading never fails: an unreadable file counts as missing. Writing rejects with the reason.

import { hash } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Clock } from '../kernel/clock.ts';
import { acquire } from '../kernel/file-lock.ts';
import { isObject, parseJson } from '../kernel/json.ts';
import { makeFolder } from '../kernel/make-folder.ts';
import { ageOf, removeDebris, replaceFile } from '../kernel/replace-file.ts';
import type { Store } from '../kernel/store.ts';
import { RuntimeError } from '../model/errors.ts';
import { readIfThere, readNow, unwritable } from './disk.ts';
import { Watcher } from './watcher.ts';

/** How long one write may lock its key; only a dead process holds a lock for so long. */
const WRITE_TTL_MS = 10_000;

/** The sweep skips files younger than this. */
const UNTOUCHED_MS = 7 * 24 * 3_600_000;

type StoredEntry =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'nothing' | 'expired' | 'unreadable' };

/** `onDropped` is called with the path of a file that was dropped because it was unreadable. */
export function createFileStore(folder: string, clock: Clock, onDropped?: (file: string) => void): Store {
  const watchers = new Map<string, Set<Watcher>>();
  // `join` looks at every character: for thirty lists that is 5 % of `plexus list`.
  const prefix = join(folder, sep);
  const fileOf = (key: string) => `${prefix}${nameOf(key)}`;
  const find = async (key: string) => interpret(await readIfThere(fileOf(key)), key, clock.now());
  const notify = (key: string, value: string | undefined) => {
    for (const watcher of watchers.get(key) ?? []) watcher.see(value);
  };

  /** Deletes expired entries that are never read again. Reads only files that have not changed for long. */
  const sweep = async () => {
    for (const name of await readdir(folder)) {
      const file = join(folder, name);
      if (!name.endsWith('.json') || (await ageOf(file)) < UNTOUCHED_MS) continue;
      if (isExpired(await readIfThere(file), clock.now())) await rm(file, { force: true });
    }
  };
  let swept: Promise<unknown> | undefined;
  /** Creates the folder each time, so that a user can delete the cache by hand without restarting anything. */
  const hold = async (lock: string, ttlMs: number, signal?: AbortSignal) => {
    await makeFolder(folder, { mode: 0o700 });
    swept ??= Promise.all([removeDebris(folder), sweep()]);
    await swept;
    return acquire({ lock, ttlMs, clock, signal });
  };
  /** Every change of a key holds its write lock, so that no other write comes between compare and set. */
  const change = async <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
    try {
      const release = await hold(`${fileOf(key)}.write`, WRITE_TTL_MS);
      return await work().finally(release);
    } catch (error) {
      throw unwritable(error, folder);
    }
  };
  const put = async (key: string, value: string, ttlMs?: number) => {
    const expiresAt = ttlMs === undefined ? undefined : clock.now() + ttlMs;
    await replaceFile(fileOf(key), JSON.stringify({ key, value, expiresAt }));
    notify(key, value);
  };
  const clear = async (key: string) => {
    await rm(fileOf(key), { force: true });
    notify(key, undefined);
  };
  const clearStale = async (key: string) => {
    if (isStale(await find(key))) await clear(key);
  };

  return {
    async get(key) {
      const found = await find(key);
      if (found.kind === 'value') return found.value;
      if (found.kind === 'unreadable') onDropped?.(fileOf(key));
      if (isStale(found)) await ignoreUnwritable(change(key, () => clearStale(key)));
      return undefined;
    },
    set: (key, value, ttlMs) => change(key, () => put(key, value, ttlMs)),
    delete: (key) => change(key, () => clear(key)),
    compareAndSet: (key, expected, value, ttlMs) =>
      change(key, async () => {
        const present = await find(key);
        if (presentValue(present) !== expected) return false;
        await put(key, value, ttlMs);
        return true;
      }),
    watch(key, changed) {
      const read = async () => presentValue(await find(key));
      const watcher = new Watcher(presentValue(interpret(readNow(fileOf(key)), key, clock.now())), read, changed);
      const watching = watchers.get(key) ?? new Set();
      watchers.set(key, watching.add(watcher));
      watcher.start(clock);
      return () => {
        watcher.stop();
        watching.delete(watcher);
        if (watching.size === 0) watchers.delete(key);
      };
    },
    async lock(key, ttlMs, signal) {
      try {
        return await hold(`${fileOf(key)}.lock`, ttlMs, signal);
      } catch (error) {
        throw unwritable(error, folder);
      }
    },
  };
}

/** A readable first part for people, and a hash so that two keys never share a file. */
function nameOf(key: string): string {
  const readable = key.replace(/[^A-Za-z0-9._-]+/g, '_').slice(0, 40);
  return `${readable}-${hash('sha256', key).slice(0, 24)}.json`;
}

function interpret(text: string | undefined, key: string, now: number): StoredEntry {
  if (text === undefined) return { kind: 'nothing' };
  const parsed = parseJson(text);
  if (!parsed.ok || !isObject(parsed.value)) return { kind: 'unreadable' };
  const { key: storedKey, value, expiresAt } = parsed.value;
  if (storedKey !== key || typeof value !== 'string') return { kind: 'unreadable' };
  if (typeof expiresAt === 'number' && expiresAt <= now) return { kind: 'expired' };
  return { kind: 'value', value };
}

function isExpired(text: string | undefined, now: number): boolean {
  const parsed = parseJson(text ?? '');
  return (
    parsed.ok &&
    isObject(parsed.value) &&
    typeof parsed.value['expiresAt'] === 'number' &&
    parsed.value['expiresAt'] <= now
  );
}

const isStale = ({ kind }: StoredEntry) => kind === 'expired' || kind === 'unreadable';
const presentValue = (found: StoredEntry) => (found.kind === 'value' ? found.value : undefined);

/** A stale file that cannot be deleted does no harm: every read ignores it. */
async function ignoreUnwritable(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
  }
}
