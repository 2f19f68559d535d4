// Owns the proof that logins come back to their owner alone, that two writers never undo each other, and that a file which cannot
// be read is left as it is.

import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Keychain, systemKeychain } from '../../../src/auth/keychain.ts';
import { createLoginKeys } from '../../../src/auth/login-key.ts';
import { createLoginStore } from '../../../src/auth/login-store.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { mayHaveLogin, serverUrlOf } from '../../../src/store/login-file.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { verifies } from '../../verifies.ts';
import { sampleKey, sampleStored } from './logins.ts';

async function setUp(keychain?: Keychain) {
  const root = await mkdtemp(join(tmpdir(), 'plexus-logins-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const file = join(root, 'state', 'logins.json');
  const keyFile = join(root, 'data', 'logins.key');
  const open = (reached = keychain) =>
    createLoginStore({ file, keyFile, clock: systemClock, keychain: async () => reached });
  return { root, file, keyFile, open, store: open() };
}

function createKeychain(): Keychain & { entries: Map<string, Buffer> } {
  const entries = new Map<string, Buffer>();
  return {
    entries,
    get: async (account) => entries.get(account),
    set: async (account, secret) => void entries.set(account, secret),
    delete: async (account) => void entries.delete(account),
  };
}

const one = sampleStored(1);
const two = sampleStored(2);

describe('a stored login', () => {
  verifies('AUT-04', 'comes back to another process, and only under its own key', async () => {
    const { store, open, file } = await setUp();
    const work = sampleStored(3, { account: 'work' });
    expect(await store.replace(sampleKey, undefined, one)).toBe(true);
    expect(await store.replace(work.login.key, undefined, work)).toBe(true);
    expect(await open().list()).toEqual([one, work]);
    expect(await open().replace(sampleKey, one, undefined)).toBe(true);
    expect(await store.list()).toEqual([work]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  verifies('AUT-04', 'is one per issuer, server, resource, client and account', async () => {
    const { store } = await setUp();
    const parts = ['issuer', 'serverUrl', 'resource', 'clientId', 'account'] as const;
    const each = [one, ...parts.map((part, at) => sampleStored(at + 2, { [part]: `another ${part}` }))];
    for (const stored of each) expect(await store.replace(stored.login.key, undefined, stored)).toBe(true);
    expect(await store.list()).toEqual(each);
  });

  verifies('EXT-07', 'is replaced only where it still is what the writer has read', async () => {
    const { store, open } = await setUp();
    await store.replace(sampleKey, undefined, one);
    expect(await open().replace(sampleKey, undefined, two)).toBe(false);
    const other = open();
    const writers = await Promise.all([store.replace(sampleKey, one, two), other.replace(sampleKey, one, two)]);
    expect(writers.toSorted()).toEqual([false, true]);
    const keys = Array.from({ length: 20 }, (_, at) => sampleStored(at, { account: `a${at}` }));
    const opened = [store, other, open()];
    await Promise.all(keys.map((each, at) => opened[at % 3]?.replace(each.login.key, undefined, each)));
    expect(await open().list()).toHaveLength(21);
  });

  verifies('AUT-01', 'is known beforehand not to be writable, and the question changes nothing', async () => {
    const { store, file, keyFile } = await setUp();
    await store.requireWritable();
    expect(await textOf(file)).toContain('ENOENT');
    await store.replace(sampleKey, undefined, one);
    const before = await readFile(file, 'utf8');
    await store.requireWritable();
    expect(await readFile(file, 'utf8')).toBe(before);
    expect((await readdir(dirname(file))).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    // As root one may write everywhere: something else is in the way of the lock.
    await writeFile(`${file}.write`, '');
    await expect(store.requireWritable()).rejects.toThrow(`Plexus cannot store anything in ${dirname(file)}`);
    await rm(file);
    await rm(`${file}.write`);
    await rm(dirname(keyFile), { recursive: true });
    await writeFile(dirname(keyFile), '');
    await expect(store.requireWritable()).rejects.toMatchObject({ code: 'STORE_UNWRITABLE' });
  });

  test('is nowhere on the disk to be read', async () => {
    const { root, store } = await setUp();
    await store.replace(sampleKey, undefined, one);
    const files = await readdir(root, { recursive: true, withFileTypes: true });
    for (const each of files.filter((entry) => entry.isFile())) {
      const text = await readFile(join(each.parentPath, each.name), 'latin1');
      expect(text).not.toMatch(/-value-|example\.com/);
    }
    const names = files.filter((each) => each.isFile()).map(({ name }) => name);
    expect(names.toSorted()).toEqual(['logins.json', 'logins.key']);
  });

  test('is noticed by others', async () => {
    const { store, open } = await setUp();
    const noticed = createDeferred<void>();
    onTestFinished(open().watch(() => noticed.resolve()));
    await store.replace(sampleKey, undefined, one);
    await noticed.promise;
  });

  test('shows by its address alone that it may be there', async () => {
    const { store, file } = await setUp();
    const url = serverUrlOf('wss://mcp.example.com/mcp?x=1') ?? '';
    expect(mayHaveLogin(file, url)).toBe(false);
    await store.replace(sampleKey, undefined, one);
    expect([mayHaveLogin(file, url), mayHaveLogin(file, 'https://mcp.example.com/other')]).toEqual([true, false]);
    await writeFile(file, 'torn');
    expect(mayHaveLogin(file, 'https://mcp.example.com/other')).toBe(true);
  });
});

const textOf = (file: string) => readFile(file, 'utf8').catch((error: Error) => error.message);

describe('a file that cannot be read', () => {
  const cases: Record<string, [damage: (file: string, keyFile: string) => Promise<void>, problem: string]> = {
    'is torn': [async (file) => writeFile(file, (await readFile(file, 'utf8')).slice(0, 50)), 'torn'],
    'is empty': [(file) => writeFile(file, ''), 'torn'],
    'has a changed byte': [
      async (file) => writeFile(file, (await readFile(file, 'utf8')).replace(/"sealed":"...../, '"sealed":"AAAAA')),
      'torn',
    ],
    'comes from a newer version': [(file) => writeFile(file, '{"version":2,"more":1}'), 'newer'],
    'is no file': [(file) => rm(file).then(() => mkdir(file)), 'unreadable'],
    'lost its key': [(_, keyFile) => rm(keyFile), 'key'],
    'has a broken key': [(_, keyFile) => writeFile(keyFile, 'short'), 'key'],
    'has the key of another': [(_, keyFile) => writeFile(keyFile, randomBytes(32)), 'torn'],
  };
  for (const [name, [damage, problem]] of Object.entries(cases)) {
    test(`${name}: it says so and stays as it is`, async () => {
      const { store, open, file, keyFile } = await setUp();
      await store.replace(sampleKey, undefined, one);
      await damage(file, keyFile);
      const before = await textOf(file);
      await expect(open().list()).rejects.toMatchObject({ code: 'LOGINS_UNUSABLE', data: { problem } });
      await expect(open().replace(sampleKey, undefined, two)).rejects.toMatchObject({ code: 'LOGINS_UNUSABLE' });
      expect(mayHaveLogin(file, sampleKey.serverUrl), 'so that it is told').toBe(true);
      expect(await textOf(file)).toBe(before);
    });
  }
});

describe('the key', () => {
  verifies('AUT-03', 'lies in the keychain where one works, and stays there', async () => {
    const keychain = createKeychain();
    const { store, open, root } = await setUp(keychain);
    await store.replace(sampleKey, undefined, one);
    expect(await store.keyPlace()).toBe('keychain');
    expect([...keychain.entries.values()].map(({ length }) => length)).toEqual([32]);
    expect(await readdir(root)).toEqual(['state']);
    expect(await open().list()).toEqual([one]);
    // A process without the keychain says so, and opens no second store.
    const nothing = createLoginStore({
      file: join(root, 'state', 'logins.json'),
      keyFile: join(root, 'data', 'logins.key'),
      clock: systemClock,
      keychain: async () => undefined,
    });
    await expect(nothing.replace(sampleKey, one, two)).rejects.toThrow(
      'lies in the system keychain, and the package @napi-rs/keyring is not installed here. Nothing of it was changed. Install that package beside Plexus',
    );
    expect(await readdir(root)).toEqual(['state']);
  });

  verifies('AUT-03', 'lies in a file of its own where the keychain denies, forgets or hangs', async () => {
    const denies: Keychain = { ...createKeychain(), set: () => Promise.reject(new Error('locked')) };
    const forgets: Keychain = { ...createKeychain(), get: async () => undefined };
    for (const keychain of [denies, forgets, undefined]) {
      const { store, keyFile } = await setUp(keychain);
      await store.replace(sampleKey, undefined, one);
      expect(await store.keyPlace()).toBe('file');
      expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
    }
  });

  test('says so where the keychain is locked between its probe and the key', async () => {
    const { get, ...rest } = createKeychain();
    const locked = (account: string) =>
      account.startsWith('probe') ? get(account) : Promise.reject(new Error('it is locked'));
    const { store } = await setUp({ ...rest, get: locked });
    await expect(store.replace(sampleKey, undefined, one)).rejects.toMatchObject({ code: 'LOGINS_UNUSABLE' });
  });

  test('of a keychain that was locked since is not made anew', async () => {
    const keychain = createKeychain();
    const { store, open } = await setUp(keychain);
    await store.replace(sampleKey, undefined, one);
    const locked: Keychain = { ...keychain, get: () => Promise.reject(new Error('it is locked')) };
    await expect(open(locked).list()).rejects.toThrow('lies in the system keychain, and it is locked.');
  });
});

test('a key that is gone is never made anew', async () => {
  const { file, keyFile } = await setUp();
  const keys = createLoginKeys({ file, keyFile, clock: systemClock, keychain: async () => undefined });
  await expect(keys.open('file')).rejects.toThrow(`${keyFile} is gone`);
  const { place, key } = await keys.choose();
  expect([place, key.equals(await keys.open('file'))]).toEqual(['file', true]);
});

test('a keychain that hangs is given up after a second', async () => {
  const clock = createFakeClock();
  const asked: unknown[] = [];
  class AsyncEntry {
    constructor(...words: unknown[]) {
      asked.push(words);
    }
    getPassword = () => new Promise<never>(() => undefined);
    setPassword = async () => undefined;
    deletePassword = async () => true;
  }
  const keychain = await systemKeychain(clock, async () => ({ AsyncEntry }));
  const answer = keychain?.get('logins').catch((error: unknown) => error);
  await clock.advance(1_000);
  expect(await answer).toEqual(new Error('it did not answer within 1 s'));
  expect(asked).toEqual([['plexus', 'logins', { linux: { store: 'secret-service' } }]]);
});
