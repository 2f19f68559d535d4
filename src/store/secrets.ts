// Owns storing secrets: encrypted in the store, with a key in a file that only its owner can read. A copy of the store alone
// (a backup, a synchronized folder, a shared database) reveals nothing.

import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../kernel/make-folder.ts';
import { isSystemError } from '../kernel/replace-file.ts';
import type { Store } from '../kernel/store.ts';
import { RuntimeError } from '../model/errors.ts';
import { unwritable } from './disk.ts';

export interface Secrets {
  /** `undefined` also for a value that cannot be decrypted. */
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  delete(name: string): Promise<void>;
  /** Holds the name between all processes that share the store, as `Store.lock` does. */
  lock: Store['lock'];
}

export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function createSecrets(store: Store, keyFile: string): Secrets {
  let key: Promise<Buffer> | undefined;
  const keyOf = (name: string) => `secrets/${name}`;
  const encryptionKey = () => {
    key ??= loadKey(keyFile);
    // Forget a failed attempt: the next call may be able to load or create the key.
    key.catch(() => {
      key = undefined;
    });
    return key;
  };
  return {
    async get(name) {
      const encrypted = await store.get(keyOf(name));
      return encrypted === undefined ? undefined : decrypt(encrypted, name, await encryptionKey());
    },
    set: async (name, value) => store.set(keyOf(name), encrypt(value, name, await encryptionKey())),
    delete: (name) => store.delete(keyOf(name)),
    lock: (name, ttlMs, signal) => store.lock(keyOf(name), ttlMs, signal),
  };
}

/** Authenticates the name as well: a value stored under one name cannot be moved to another. */
export function encrypt(value: string, name: string, key: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(name));
  const sealed = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
}

/** `undefined` where another key, or another name, encrypted it, or a byte has changed. */
export function decrypt(encrypted: string, name: string, key: Buffer): string | undefined {
  const bytes = Buffer.from(encrypted, 'base64');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce)
    .setAAD(Buffer.from(name))
    .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const opened = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([opened, decipher.final()]).toString('utf8');
  } catch (error) {
    // Another key or a changed byte: the library throws a plain error for both.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

/** Creates the key on first use. If two processes create one at the same time, the first wins and both use it. */
export async function loadKey(file: string): Promise<Buffer> {
  try {
    const key = (await readKey(file)) ?? (await makeKey(file)) ?? (await readKey(file));
    if (key?.length === KEY_BYTES) return key;
  } catch (error) {
    throw unwritable(error, dirname(file));
  }
  const reason = `the key file ${file} is broken; delete it to get a new one, which cannot decrypt the secrets stored so far`;
  throw new RuntimeError('STORE_UNWRITABLE', { folder: dirname(file), reason });
}

export async function readKey(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Names the file only when it is complete, so that no process reads half a key. `undefined`: another process was first. */
async function makeKey(file: string): Promise<Buffer | undefined> {
  const key = randomBytes(KEY_BYTES);
  const temporary = `${file}.${randomUUID()}.tmp`;
  await makeFolder(dirname(file), { mode: 0o700 });
  try {
    await writeFile(temporary, key, { flag: 'wx', mode: 0o600, flush: true });
    await link(temporary, file);
    return key;
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') return undefined;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}
