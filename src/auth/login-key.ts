// Owns the key that encrypts the logins: in the system's keychain where that works, otherwise in a file of its own. The choice is
// made when the first login is stored, and stays: a process that cannot open the keychain opens no second store.

import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../kernel/clock.ts';
import { RuntimeError } from '../model/errors.ts';
import type { KeyPlace } from '../store/login-file.ts';
import { KEY_BYTES, loadKey, readKey } from '../store/secrets.ts';
import { type Keychain, keepsSecrets, systemKeychain } from './keychain.ts';

export interface LoginKeys {
  /** Makes the key of a new store, and says where it is kept. */
  choose(): Promise<{ readonly place: KeyPlace; readonly key: Buffer }>;
  /** Throws `LOGINS_UNUSABLE` where the key is not to be had; a key that is missing is never made anew. */
  open(place: KeyPlace): Promise<Buffer>;
}

export interface LoginKeyOptions {
  /** The file of logins: each has a key of its own. */
  readonly file: string;
  readonly keyFile: string;
  readonly clock: Clock;
  readonly keychain?: (() => Promise<Keychain | undefined>) | undefined;
}

export function createLoginKeys({ file, keyFile, clock, ...options }: LoginKeyOptions): LoginKeys {
  const reach = options.keychain ?? (() => systemKeychain(clock));
  const account = `logins ${createHash('sha256').update(file).digest('hex').slice(0, 16)}`;
  const opened = new Map<KeyPlace, Buffer>();
  const unusable = (problem: 'keychain' | 'keychain-package' | 'key', reason: string, cause?: unknown) =>
    new RuntimeError('LOGINS_UNUSABLE', { file, problem, reason }, { cause });
  const refused = (error: unknown): never => {
    throw unusable('keychain', error instanceof Error ? error.message : String(error), error);
  };

  const fromKeychain = async (): Promise<Buffer> => {
    const keychain = await reach();
    if (keychain === undefined)
      throw unusable('keychain-package', 'the package @napi-rs/keyring is not installed here');
    const key = await keychain.get(account).catch(refused);
    if (key?.length !== KEY_BYTES) throw unusable('keychain', 'it does not hold the key');
    return key;
  };
  const fromFile = async (): Promise<Buffer> => {
    const key = await readKey(keyFile);
    if (key?.length === KEY_BYTES) return key;
    throw unusable('key', `${keyFile} ${key === undefined ? 'is gone' : 'is broken'}`);
  };
  const open = async (place: KeyPlace) => {
    const key = opened.get(place) ?? (await (place === 'keychain' ? fromKeychain() : fromFile()));
    opened.set(place, key);
    return key;
  };

  return {
    open,
    async choose() {
      const keychain = await reach();
      if (keychain === undefined || !(await keepsSecrets(keychain)))
        return { place: 'file', key: await loadKey(keyFile) };
      // The key of a store that was deleted is used again.
      const key = (await keychain.get(account).catch(refused)) ?? randomBytes(KEY_BYTES);
      await keychain.set(account, key).catch(refused);
      opened.set('keychain', key);
      return { place: 'keychain', key };
    },
  };
}
