// Owns reaching the system's keychain, through a package that the person may have installed. A keychain that denies, hangs or is
// locked counts as none: each question has a second.

import { randomBytes } from 'node:crypto';
import type { Clock } from '../kernel/clock.ts';
import { createDeferred } from '../kernel/deferred.ts';

/** Resolves within the limit of the keychain, or rejects with an `Error` that says why not. */
export interface Keychain {
  /** `undefined`: it holds no such entry. */
  get(account: string): Promise<Buffer | undefined>;
  set(account: string, secret: Buffer): Promise<void>;
  delete(account: string): Promise<void>;
}

/** The part of `@napi-rs/keyring` 2 that is used. */
interface KeyringModule {
  readonly AsyncEntry: new (
    service: string,
    account: string,
    options: { readonly linux: { readonly store: 'secret-service' } },
  ) => {
    getPassword(signal: AbortSignal): Promise<string | null>;
    setPassword(password: string, signal: AbortSignal): Promise<void>;
    deletePassword(signal: AbortSignal): Promise<boolean>;
  };
}

const SERVICE = 'plexus';
const LIMIT_MS = 1_000;
/** The kernel's keyring, to which the package would turn otherwise, forgets everything at reboot. */
const OPTIONS = { linux: { store: 'secret-service' } } as const;

/** `undefined`: the package is not installed, or not for this system. */
export async function systemKeychain(clock: Clock, load = loadKeyring): Promise<Keychain | undefined> {
  const keyring = await load();
  if (keyring === undefined) return undefined;
  const ask = <Value>(account: string, question: (entry: Entry, signal: AbortSignal) => Promise<Value>) =>
    within(clock, (signal) => question(new keyring.AsyncEntry(SERVICE, account, OPTIONS), signal));
  return {
    get: async (account) => {
      const text = await ask(account, (entry, signal) => entry.getPassword(signal));
      return text === null ? undefined : Buffer.from(text, 'base64');
    },
    set: (account, secret) => ask(account, (entry, signal) => entry.setPassword(secret.toString('base64'), signal)),
    delete: async (account) => {
      await ask(account, (entry, signal) => entry.deletePassword(signal));
    },
  };
}

type Entry = InstanceType<KeyringModule['AsyncEntry']>;

/** A name that no build resolves: the package is not ours. */
const PACKAGE = '@napi-rs/keyring';

async function loadKeyring(): Promise<KeyringModule | undefined> {
  try {
    return (await import(PACKAGE)) as KeyringModule;
  } catch (error) {
    // Not installed, or without a binary for this system.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

/** Not only aborted but left alone: a keychain that waits for its own window may not notice the signal. */
async function within<Value>(clock: Clock, work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
  const giveUp = new AbortController();
  const late = createDeferred<never>();
  const cancel = clock.after(LIMIT_MS, () => {
    giveUp.abort();
    late.reject(new Error(`it did not answer within ${LIMIT_MS / 1_000} s`));
  });
  try {
    return await Promise.race([work(giveUp.signal), late.promise]);
  } finally {
    cancel();
  }
}

/** Whether it keeps what it is given: some answer everything and keep nothing. */
export async function keepsSecrets(keychain: Keychain): Promise<boolean> {
  const secret = randomBytes(8);
  const account = `probe ${secret.toString('hex')}`;
  try {
    await keychain.set(account, secret);
    const read = await keychain.get(account);
    await keychain.delete(account);
    return read?.equals(secret) === true;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}
