// Owns the proof that the file store keeps, forgets, locks and watches across processes, and survives a broken disk.

import { chmod, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createFileStore } from '../../../src/store/file.ts';
import { createFakeClock, type FakeClock } from '../../../src/testing/fake-clock.ts';
import { waitFor } from '../../wait-for.ts';

async function createFolder(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'plexus-store-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  return join(root, 'state');
}

const setUp = async () => {
  const folder = await createFolder();
  const clock = createFakeClock(1_000);
  return { folder, clock, store: createFileStore(folder, clock) };
};

describe('what is kept', () => {
  test('is there again, also for another process', async () => {
    const { folder, clock, store } = await setUp();
    expect(await store.get('a')).toBeUndefined();
    await store.set('a', 'one');
    await store.set('a', 'two');
    expect(await createFileStore(folder, clock).get('a')).toBe('two');
    await store.delete('a');
    await store.delete('a');
    expect(await store.get('a')).toBeUndefined();
    expect(await readdir(folder)).toEqual([]);
  });

  test('is kept under any key, and no two keys meet', async () => {
    const { store } = await setUp();
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.string({ maxLength: 80 }), { maxLength: 4 }),
        fc.string(),
        async (keys, value) => {
          for (const key of keys) await store.set(key, key + value);
          for (const key of keys) expect(await store.get(key)).toBe(key + value);
        },
      ),
      { numRuns: 10 },
    );
    const awkward = ['../../escape', '/etc/passwd', 'a/b', 'a_b', 'x'.repeat(5_000), '', '.', '..', 'A', 'CON'];
    for (const key of awkward) await store.set(key, key);
    for (const key of awkward) expect(await store.get(key)).toBe(key);
  });

  test('has a readable name and is for its owner’s eyes only', async () => {
    const { folder, store } = await setUp();
    await store.set('approvals/my server', 'x');
    const [file = ''] = await readdir(folder);
    expect(file).toMatch(/^approvals_my_server-[0-9a-f]{24}\.json$/);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
  });

  test('is gone when its time is up, and leaves nothing', async () => {
    const { folder, clock, store } = await setUp();
    await store.set('a', 'one', 500);
    await clock.advance(499);
    expect(await store.get('a')).toBe('one');
    await clock.advance(1);
    expect(await store.get('a')).toBeUndefined();
    expect(await readdir(folder)).toEqual([]);
  });

  test.each(['', '{', 'null', '[]', '{"key":"b","value":"x"}', '{"key":"a","value":5}'])(
    'is not there when its file says %j, and can be written anew',
    async (content) => {
      const { folder, store } = await setUp();
      await store.set('a', 'one');
      const [file = ''] = await readdir(folder);
      await writeFile(join(folder, file), content);
      expect(await store.get('a')).toBeUndefined();
      expect(await readdir(folder)).toEqual([]);
      await store.set('a', 'two');
      expect(await store.get('a')).toBe('two');
    },
  );

  test('survives that someone clears the folder meanwhile', async () => {
    const { folder, store } = await setUp();
    await store.set('a', 'one');
    await rm(folder, { recursive: true });
    expect(await store.get('a')).toBeUndefined();
    await store.set('a', 'two');
    expect(await store.get('a')).toBe('two');
  });

  test('is whole at every moment, whoever reads while others write', async () => {
    const folder = await createFolder();
    const [writer, other, reader] = [1, 2, 3].map(() => createFileStore(folder, systemClock));
    const values = ['x'.repeat(100_000), 'y'.repeat(200_000)];
    await writer?.set('a', values[0] ?? '');
    const writing = Promise.all(
      values.map(async (value, at) => {
        for (let time = 0; time < 15; time++) await (at === 0 ? writer : other)?.set('a', value);
      }),
    );
    for (let time = 0; time < 100; time++) expect(values).toContain(await reader?.get('a'));
    await writing;
    expect((await readdir(folder)).length).toBe(1);
  });

  test('clears what a dead process left half written', async () => {
    const { folder, store } = await setUp();
    const unfinished = (name: string) => join(folder, `${name}.json.00000000-0000-4000-8000-000000000000.tmp`);
    await mkdir(folder);
    await writeFile(unfinished('old'), 'half');
    await utimes(unfinished('old'), 1, 1);
    await writeFile(unfinished('new'), 'being written');
    await store.set('a', 'one');
    const left = (await readdir(folder)).filter((name) => name.endsWith('.tmp'));
    expect(left.map((name) => join(folder, name))).toEqual([unfinished('new')]);
  });
});

test('what has expired and was left alone for long is cleared with the first write, and nothing else is', async () => {
  const { folder, store, clock } = await setUp();
  await store.set('short', 'x', 10);
  await store.set('long', 'x', 1e12);
  await store.set('ever', 'x');
  await clock.advance(20);
  const files = await readdir(folder);
  await Promise.all(files.map((name) => utimes(join(folder, name), 1, 1)));
  await writeFile(join(folder, 'foreign.json'), '{"expiresAt":');
  await utimes(join(folder, 'foreign.json'), 1, 1);
  await createFileStore(folder, clock).set('a', 'one');
  const left = (await readdir(folder)).map((name) => name.split('-')[0]).sort();
  expect(left).toEqual(['a', 'ever', 'foreign.json', 'long']);
});

test('what cannot be read is told by its file, and what has expired is not', async () => {
  const dropped: string[] = [];
  const { folder, clock } = await setUp();
  const store = createFileStore(folder, clock, (file) => dropped.push(file));
  await store.set('a', 'one', 10);
  const [name = ''] = await readdir(folder);
  await clock.advance(20);
  expect([await store.get('a'), dropped]).toEqual([undefined, []]);
  await writeFile(join(folder, name), '{"key":"a","val');
  expect([await store.get('a'), await store.get('a'), dropped]).toEqual([undefined, undefined, [join(folder, name)]]);
});

describe('comparing before writing', () => {
  test('writes only over what was expected', async () => {
    const { store } = await setUp();
    expect(await store.compareAndSet('a', 'x', 'one')).toBe(false);
    expect(await store.compareAndSet('a', undefined, 'one')).toBe(true);
    expect(await store.compareAndSet('a', undefined, 'two')).toBe(false);
    expect(await store.compareAndSet('a', 'one', 'two')).toBe(true);
    expect(await store.get('a')).toBe('two');
  });

  test('loses no count, however many count at once', async () => {
    const folder = await createFolder();
    const count = async () => {
      const store = createFileStore(folder, systemClock);
      for (let done = 0; done < 5; ) {
        const before = await store.get('n');
        if (await store.compareAndSet('n', before, String(Number(before ?? 0) + 1))) done++;
      }
    };
    await Promise.all(Array.from({ length: 5 }, count));
    expect(await createFileStore(folder, systemClock).get('n')).toBe('25');
  });

  test('is possible while the key is held by a lock of the caller', async () => {
    const { store } = await setUp();
    const release = await store.lock('a', 10_000);
    expect(await store.compareAndSet('a', undefined, 'one')).toBe(true);
    await release();
  });
});

describe('a lock', () => {
  test('has one holder at a time, between processes', async () => {
    const folder = await createFolder();
    let holders = 0;
    let most = 0;
    const work = async () => {
      const release = await createFileStore(folder, systemClock).lock('a', 10_000);
      most = Math.max(most, ++holders);
      await systemClock.sleep(5);
      holders--;
      await release();
    };
    await Promise.all(Array.from({ length: 6 }, work));
    expect(most).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });

  /** Each step of a waiter works on real files: the clock moves on only when all waiters wait for it again. */
  const until = async (clock: FakeClock, done: () => boolean, waiters = 1) => {
    while (!done()) {
      await waitFor(() => expect(done() || clock.pending() >= waiters).toBe(true));
      await clock.advance(20);
    }
  };

  test('of a dead process is overtaken when its time is up, by one after the other of those who wait', async () => {
    const { folder, clock, store } = await setUp();
    await store.lock('a', 200);
    const taken: number[] = [];
    let holders = 0;
    const waiters = [1, 2, 3].map(async () => {
      const release = await createFileStore(folder, clock).lock('a', 50_000);
      taken.push(clock.now());
      expect(++holders).toBe(1);
      await clock.sleep(40);
      holders--;
      await release();
    });
    await until(clock, () => taken.length === 3);
    await until(clock, () => holders === 0);
    await Promise.all(waiters);
    expect(Math.min(...taken)).toBeGreaterThanOrEqual(1_200);
    expect(await readdir(folder)).toEqual([]);
  });

  test('that was overtaken cannot be let go by its former holder', async () => {
    const { folder, clock, store } = await setUp();
    const release = await store.lock('a', 100);
    await clock.advance(100);
    await store.lock('a', 10_000);
    const [file = ''] = await readdir(folder);
    const held = await readdir(join(folder, file));
    await release();
    expect(await readdir(join(folder, file))).toEqual(held);
  });

  test('is waited for until the signal aborts, and leaves no timer', async () => {
    const { clock, store } = await setUp();
    await store.lock('a', 10_000);
    const abort = new AbortController();
    const waiting = store.lock('a', 10_000, abort.signal);
    await waitFor(() => expect(clock.pending()).toBe(1));
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(clock.pending()).toBe(0);
    await expect(store.lock('a', 10_000, abort.signal)).rejects.toThrow('enough');
  });
});

describe('watching', () => {
  test('tells at once what this process does, and soon what others do', async () => {
    const { folder, clock, store } = await setUp();
    await store.set('a', 'zero');
    const seen: (string | undefined)[] = [];
    const stop = store.watch('a', (value) => seen.push(value));
    await store.set('a', 'one');
    expect(seen).toEqual(['one']);
    await createFileStore(folder, clock).set('a', 'two');
    await createFileStore(folder, clock).set('b', 'other');
    await clock.advance(500);
    await waitFor(() => expect(seen).toEqual(['one', 'two']));
    await store.delete('a');
    expect(seen).toEqual(['one', 'two', undefined]);
    stop();
    await store.set('a', 'three');
    await clock.advance(2_000);
    expect(seen).toHaveLength(3);
    expect(clock.pending()).toBe(0);
  });

  test('tells when a value’s time is up', async () => {
    const { clock, store } = await setUp();
    await store.set('a', 'one', 300);
    const seen: (string | undefined)[] = [];
    const stop = store.watch('a', (value) => seen.push(value));
    await clock.advance(500);
    await waitFor(() => expect(seen).toEqual([undefined]));
    stop();
  });
});

describe('a folder that cannot be written', () => {
  test('says so when something is to be kept, and never when something is read', async () => {
    const folder = await createFolder();
    await writeFile(folder, 'a file in the way');
    const store = createFileStore(folder, createFakeClock());
    expect(await store.get('a')).toBeUndefined();
    store.watch('a', () => undefined)();
    await expect(store.set('a', 'one')).rejects.toMatchObject({
      code: 'STORE_UNWRITABLE',
      data: { folder, reason: 'it is not a folder' },
    });
    await expect(store.lock('a', 1)).rejects.toMatchObject({ name: 'RuntimeError' });
  });

  test.skipIf(process.getuid?.() === 0)('still gives what was kept before', async () => {
    const { folder, clock, store } = await setUp();
    await store.set('a', 'one');
    await store.set('b', 'two', 1);
    await clock.advance(1);
    await chmod(folder, 0o500);
    onTestFinished(() => chmod(folder, 0o700));
    expect([await store.get('a'), await store.get('b')]).toEqual(['one', undefined]);
    await expect(store.set('a', 'two')).rejects.toMatchObject({
      message: expect.stringContaining('you may not write there'),
    });
  });
});
