// Owns memory on disk: one file per key, readable by its owner only, replaced in one step, shared between processes.
// Reading never fails: what cannot be read is not there. Writing says why it could not.

import { createHash } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../kernel/clock.ts';
import { acquire } from '../kernel/file-lock.ts';
import { isObject, parseJson } from '../kernel/json.ts';
import { makeFolder } from '../kernel/make-folder.ts';
import { ageOf, removeDebris, replaceFile } from '../kernel/replace-file.ts';
import type { Store } from '../kernel/store.ts';
import { RuntimeError } from '../model/errors.ts';
import { readIfThere, readNow, unwritable } from './disk.ts';
import { Watcher } from './watcher.ts';

/** How long one write may hold its key; only a dead process does for so long. */
const WRITE_TTL_MS = 10_000;

/** A file younger than this is not looked at when the folder is swept. */
const UNTOUCHED_MS = 7 * 24 * 3_600_000;

type Found =
  | { readonly kind: 'value'; readonly value: string }
  /** What is left of something: no longer valid, or not to be read. */
  | { readonly kind: 'nothing' | 'expired' | 'unreadable' };

/** `onDropped` is told which file held something that nobody could read. */
export function createFileStore(folder: string, clock: Clock, onDropped?: (file: string) => void): Store {
  const watchers = new Map<string, Set<Watcher>>();
  const fileOf = (key: string) => join(folder, nameOf(key));
  const find = async (key: string) => interpret(await readIfThere(fileOf(key)), key, clock.now());
  const notify = (key: string, value: string | undefined) => {
    for (const watcher of watchers.get(key) ?? []) watcher.see(value);
  };

  /** What nobody asks for any more would otherwise stay for ever. Looked at are only files that have been left alone for long. */
  const sweep = async () => {
    for (const name of await readdir(folder)) {
      const file = join(folder, name);
      if (!name.endsWith('.json') || (await ageOf(file)) < UNTOUCHED_MS) continue;
      if (isExpired(await readIfThere(file), clock.now())) await rm(file, { force: true });
    }
  };
  let swept: Promise<unknown> | undefined;
  /** The folder is made each time: whoever clears a cache by hand must not have to restart anything. */
  const hold = async (lock: string, ttlMs: number, signal?: AbortSignal) => {
    await makeFolder(folder, { mode: 0o700 });
    swept ??= Promise.all([removeDebris(folder), sweep()]);
    await swept;
    return acquire({ lock, ttlMs, clock, signal });
  };
  /** Every change of a key happens under its write lock, so that no comparison is ever overtaken. */
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
  const clearRemains = async (key: string) => {
    if (isRemains(await find(key))) await clear(key);
  };

  return {
    async get(key) {
      const found = await find(key);
      if (found.kind === 'value') return found.value;
      if (found.kind === 'unreadable') onDropped?.(fileOf(key));
      if (isRemains(found)) await forgiving(change(key, () => clearRemains(key)));
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
      const look = async () => presentValue(await find(key));
      const watcher = new Watcher(presentValue(interpret(readNow(fileOf(key)), key, clock.now())), look, changed);
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

/** A readable beginning for people, a hash for everything else: two keys never share a file. */
function nameOf(key: string): string {
  const readable = key.replace(/[^A-Za-z0-9._-]+/g, '_').slice(0, 40);
  return `${readable}-${createHash('sha256').update(key).digest('hex').slice(0, 24)}.json`;
}

function interpret(text: string | undefined, key: string, now: number): Found {
  if (text === undefined) return { kind: 'nothing' };
  const parsed = parseJson(text);
  if (!parsed.ok || !isObject(parsed.value)) return { kind: 'unreadable' };
  const { key: written, value, expiresAt } = parsed.value;
  if (written !== key || typeof value !== 'string') return { kind: 'unreadable' };
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

const isRemains = ({ kind }: Found) => kind === 'expired' || kind === 'unreadable';
const presentValue = (found: Found) => (found.kind === 'value' ? found.value : undefined);

/** What could not be cleared away now is in nobody's way. */
async function forgiving(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
  }
}
