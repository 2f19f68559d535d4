// Owns the proof that a secret comes back to its owner, under its own name, with the right key, and to nobody else.

import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMemoryStore, type Store } from '../../../src/kernel/store.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { createFileStore } from '../../../src/store/file.ts';
import { createSecrets } from '../../../src/store/secrets.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';

async function setUp() {
  const root = await mkdtemp(join(tmpdir(), 'plexus-secrets-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const keyFile = join(root, 'state', 'key');
  const store = createMemoryStore(createFakeClock());
  return { root, keyFile, store, secrets: createSecrets(store, keyFile) };
}

const keptUnder = async (store: Store, name: string) => (await store.get(`secrets/${name}`)) ?? '';

describe('a secret', () => {
  test('comes back as it was, also later, and is gone when deleted', async () => {
    const { store, keyFile, secrets } = await setUp();
    expect(await secrets.get('a')).toBeUndefined();
    await secrets.set('a', 'one');
    await secrets.set('a', 'two');
    expect(await createSecrets(store, keyFile).get('a')).toBe('two');
    await secrets.delete('a');
    expect(await secrets.get('a')).toBeUndefined();
  });

  test('may be any text under any name', async () => {
    const { secrets } = await setUp();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), async (name, value) => {
        await secrets.set(name, value);
        expect(await secrets.get(name)).toBe(value);
      }),
    );
    await secrets.set('long', 'x'.repeat(1_000_000));
    expect(await secrets.get('long')).toBe('x'.repeat(1_000_000));
  });

  test('is not to be found in what is kept, nor twice in the same way', async () => {
    const { root } = await setUp();
    const folder = join(root, 'state');
    const secrets = createSecrets(createFileStore(folder, createFakeClock()), join(folder, 'key'));
    await secrets.set('a', 's3cret-value');
    await secrets.set('b', 's3cret-value');
    const files = (await readdir(folder)).filter((name) => name.startsWith('secrets_'));
    const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
    const values = texts.map((text) => String(JSON.parse(text).value));
    expect([files.length, new Set(values.map((value) => value.slice(16))).size]).toEqual([2, 2]);
    for (const text of [...texts, ...values.map((value) => Buffer.from(value, 'base64').toString('latin1'))]) {
      expect(text).not.toContain('s3cret');
    }
  });

  test('cannot be passed off as another', async () => {
    const { store, secrets } = await setUp();
    await secrets.set('mine', 'one');
    await store.set('secrets/other', await keptUnder(store, 'mine'));
    expect([await secrets.get('other'), await secrets.get('mine')]).toEqual([undefined, 'one']);
  });

  test('is not there with another key', async () => {
    const { root, store, secrets } = await setUp();
    await secrets.set('a', 'one');
    const other = createSecrets(store, join(root, 'elsewhere', 'key'));
    expect(await other.get('a')).toBeUndefined();
    await other.set('a', 'two');
    expect([await other.get('a'), await secrets.get('a')]).toEqual(['two', undefined]);
  });

  test('is not there when any of its bytes was changed, or some are missing', async () => {
    const { store, secrets } = await setUp();
    await secrets.set('a', 'one');
    const kept = Buffer.from(await keptUnder(store, 'a'), 'base64');
    for (let at = 0; at < kept.length; at++) {
      const flipped = Buffer.from(kept);
      flipped[at] = (flipped[at] ?? 0) ^ 1;
      await store.set('secrets/a', flipped.toString('base64'));
      expect(await secrets.get('a')).toBeUndefined();
      await store.set('secrets/a', kept.subarray(0, at).toString('base64'));
      expect(await secrets.get('a')).toBeUndefined();
    }
    for (const odd of ['', '!', '{}', 'one']) {
      await store.set('secrets/a', odd);
      expect(await secrets.get('a')).toBeUndefined();
    }
  });
});

describe('the key', () => {
  test('is made when it is first needed, and for its owner’s eyes only', async () => {
    const { root, keyFile, secrets } = await setUp();
    await secrets.get('a');
    expect(await readdir(root)).toEqual([]);
    await secrets.set('a', 'one');
    expect(await readdir(join(root, 'state'))).toEqual(['key']);
    const [file, folder] = [await stat(keyFile), await stat(join(root, 'state'))];
    expect([file.mode & 0o777, file.size, folder.mode & 0o777]).toEqual([0o600, 32, 0o700]);
  });

  test('is the same for all who make it at once', async () => {
    const { store, keyFile } = await setUp();
    const many = Array.from({ length: 20 }, () => createSecrets(store, keyFile));
    await Promise.all(many.map((secrets, at) => secrets.set(`s${at}`, `v${at}`)));
    const [first] = many;
    for (let at = 0; at < many.length; at++) expect(await first?.get(`s${at}`)).toBe(`v${at}`);
  });

  test('is whole from the moment it has its name', async () => {
    const { keyFile, store } = await setUp();
    const sizes = new Set<number>();
    let made = false;
    const looking = (async () => {
      while (!made) sizes.add((await stat(keyFile).catch(() => undefined))?.size ?? -1);
    })();
    await createSecrets(store, keyFile).set('a', 'one');
    made = true;
    await looking;
    expect([...sizes].filter((size) => size !== -1 && size !== 32)).toEqual([]);
  });

  test.each([0, 1, 31, 33])('of %i bytes is broken: a clear error, and nothing is thrown away', async (size) => {
    const { root, store, keyFile, secrets } = await setUp();
    await secrets.set('a', 'one');
    const good = await readFile(keyFile);
    await writeFile(keyFile, Buffer.alloc(size));
    const broken = createSecrets(store, keyFile);
    const failure = new RuntimeError('STORE_UNWRITABLE', {
      folder: join(root, 'state'),
      reason: `the key file ${keyFile} is broken; delete it to get a new one, which cannot decrypt the secrets stored so far`,
    });
    await expect(broken.get('a')).rejects.toThrow(failure);
    await expect(broken.set('b', 'two')).rejects.toThrow(failure);
    expect((await readFile(keyFile)).length).toBe(size);
    await writeFile(keyFile, good);
    expect(await broken.get('a')).toBe('one');
  });

  test('that is a folder, or cannot lie where it should, is a clear error', async () => {
    const { root, store, keyFile } = await setUp();
    await mkdir(keyFile, { recursive: true });
    await expect(createSecrets(store, keyFile).set('a', 'one')).rejects.toMatchObject({
      code: 'STORE_UNWRITABLE',
      data: { folder: join(root, 'state'), reason: 'the system says EISDIR' },
    });
    await writeFile(join(root, 'file'), '');
    await expect(createSecrets(store, join(root, 'file', 'key')).set('a', 'one')).rejects.toMatchObject({
      code: 'STORE_UNWRITABLE',
      data: { folder: join(root, 'file'), reason: 'a part of its path is not a folder' },
    });
  });
});
