// Owns the logins on disk: one encrypted file that only its owner can read, replaced atomically and only under a lock between
// processes. A file that cannot be read is reported and stays as it is: nothing is dropped and nothing written over it.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { acquire } from '../kernel/file-lock.ts';
import { canonicalJson, isObject, parseJson, sameJson } from '../kernel/json.ts';
import { makeFolder } from '../kernel/make-folder.ts';
import { isSystemError, removeDebris, replaceFile } from '../kernel/replace-file.ts';
import { RuntimeError } from '../model/errors.ts';
import { unwritable } from '../store/disk.ts';
import { type KeyPlace, type LoginFile, parseLoginFile, serverHash, watchLoginFile } from '../store/login-file.ts';
import { decrypt, encrypt } from '../store/secrets.ts';
import { createLoginKeys, type LoginKeyOptions } from './login-key.ts';
import type { LoginKey } from './login-model.ts';
import { isSameLogin, type StoredLogin, type TokenStore } from './token-store.ts';

/** Only a dead process holds a write lock for so long. */
const WRITE_TTL_MS = 10_000;

/** More than one login takes. */
const ROOM_CHARS = 16_384;

/** Authenticated with the text: a sealed text of another purpose is no list of logins. */
const PURPOSE = 'logins';

export interface LoginStore extends TokenStore {
  requireWritable(): Promise<void>;
  /** The place of the key; `undefined` before the first login. */
  keyPlace(): Promise<KeyPlace | undefined>;
}

interface Content {
  readonly file: LoginFile;
  readonly logins: readonly StoredLogin[];
}

export function createLoginStore(options: LoginKeyOptions): LoginStore {
  const { file, clock } = options;
  const keys = createLoginKeys(options);
  let last: { readonly text: string; readonly content: Content } | undefined;

  const read = async (): Promise<Content | undefined> => {
    const text = await textOf(file);
    if (text === undefined) return undefined;
    if (last?.text === text) return last.content;
    const envelope = parseLoginFile(text);
    if (envelope === 'torn') throw unusable(file, 'torn', 'it is damaged');
    if ('newer' in envelope) throw unusable(file, 'newer', `it has version ${envelope.newer}`);
    const opened = decrypt(envelope.sealed, PURPOSE, await keys.open(envelope.key));
    if (opened === undefined) throw unusable(file, 'torn', 'its key does not fit it');
    const content = { file: envelope, logins: loginsIn(file, opened) };
    last = { text, content };
    return content;
  };
  const textFor = async (before: Content | undefined, logins: readonly StoredLogin[]): Promise<string> => {
    const { place, key } = before
      ? { place: before.file.key, key: await keys.open(before.file.key) }
      : await keys.choose();
    const servers = [...new Set(logins.map(({ login }) => serverHash(login.key.serverUrl)))];
    const sealed = encrypt(JSON.stringify({ logins }), PURPOSE, key);
    const envelope: LoginFile = { version: 1, key: place, servers, sealed };
    return `${JSON.stringify(envelope)}\n`;
  };
  const hold = async (lock: string, ttlMs: number, signal?: AbortSignal) => {
    try {
      await makeFolder(dirname(file), { mode: 0o700 });
      return await acquire({ lock, ttlMs, clock, signal });
    } catch (error) {
      throw unwritable(error, dirname(file));
    }
  };
  const alone = async <Value>(act: (before: Content | undefined) => Promise<Value>): Promise<Value> => {
    const release = await hold(`${file}.write`, WRITE_TTL_MS);
    try {
      await removeDebris(dirname(file), 'logins.json.');
      return await act(await read());
    } catch (error) {
      throw unwritable(error, dirname(file));
    } finally {
      await release();
    }
  };

  return {
    list: async () => (await read())?.logins ?? [],
    keyPlace: async () => (await read())?.file.key,
    replace: (key, expected, next) =>
      alone(async (before) => {
        const logins = before?.logins ?? [];
        const present = logins.find(({ login }) => isSameLogin(login.key, key));
        if (!sameJson(present, expected)) return false;
        const others = logins.filter((each) => each !== present);
        await replaceFile(file, await textFor(before, next === undefined ? others : [...others, next]));
        return true;
      }),
    requireWritable: () =>
      alone(async (before) => {
        const text = await textFor(before, before?.logins ?? []);
        // All of a write but its last step.
        await replaceFile(file, text.padEnd(text.length + ROOM_CHARS), { mayReplace: () => false });
      }),
    lock: (key, ttlMs, signal) => hold(`${file}.${hashOf(key)}.refresh`, ttlMs, signal),
    watch: (changed) => watchLoginFile(file, clock, changed),
  };
}

const hashOf = (key: LoginKey) => createHash('sha256').update(canonicalJson(key)).digest('hex').slice(0, 24);

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'ENOENT') return undefined;
    throw unusable(file, 'unreadable', `the system says ${error.code}`, error);
  }
}

/** Decrypted, so written by Plexus: only its rough form is checked. */
function loginsIn(file: string, text: string): readonly StoredLogin[] {
  const parsed = parseJson(text);
  const logins = parsed.ok && isObject(parsed.value) ? parsed.value['logins'] : undefined;
  if (!Array.isArray(logins)) throw unusable(file, 'torn', 'it holds no list of logins');
  return logins;
}

function unusable(
  file: string,
  problem: 'torn' | 'newer' | 'unreadable',
  reason: string,
  cause?: unknown,
): RuntimeError {
  return new RuntimeError('LOGINS_UNUSABLE', { file, problem, reason }, { cause });
}
