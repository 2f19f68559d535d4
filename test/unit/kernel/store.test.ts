// Owns the proof that the store in memory keeps the contract of the port: expiry, watching, swapping and locking.

import { expect, test } from 'vitest';
import { createMemoryStore } from '../../../src/kernel/store.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';

function setUp() {
  const clock = createFakeClock();
  return { clock, store: createMemoryStore(clock) };
}

test('a value is there until it is deleted', async () => {
  const { store } = setUp();
  const seen = [await store.get('key')];
  await store.set('key', 'value');
  seen.push(await store.get('key'), await store.get('other'));
  await store.delete('key');
  seen.push(await store.get('key'));
  expect(seen).toEqual([undefined, 'value', undefined, undefined]);
});

test('a value with a time to live is gone when that is over, and writing again starts it anew', async () => {
  const { clock, store } = setUp();
  await store.set('key', 'short', 100);
  await clock.advance(99);
  expect(await store.get('key')).toBe('short');
  await store.set('key', 'again', 100);
  await clock.advance(99);
  expect(await store.get('key')).toBe('again');
  await clock.advance(1);
  expect(await store.get('key')).toBeUndefined();
});

test('a value is swapped only for the one that was expected', async () => {
  const { clock, store } = setUp();
  const swapped = [
    await store.compareAndSet('key', 'wrong', 'a'),
    await store.compareAndSet('key', undefined, 'a'),
    await store.compareAndSet('key', undefined, 'b'),
    await store.compareAndSet('key', 'a', 'b', 100),
  ];
  expect(swapped).toEqual([false, true, false, true]);
  expect(await store.get('key')).toBe('b');
  await clock.advance(100);
  expect(await store.compareAndSet('key', undefined, 'c'), 'what has expired is absent').toBe(true);
});

test('of many who swap at once, one wins', async () => {
  const { store } = setUp();
  const swaps = await Promise.all(['a', 'b', 'c'].map((value) => store.compareAndSet('key', undefined, value)));
  expect(swaps).toEqual([true, false, false]);
  expect(await store.get('key')).toBe('a');
});

test('a watcher hears each change of its key, and nothing after it has stopped', async () => {
  const { store } = setUp();
  const heard: unknown[] = [];
  const stop = store.watch('key', (value) => heard.push(value));
  await store.set('key', 'a');
  await store.set('other', 'x');
  await store.compareAndSet('key', 'wrong', 'never');
  await store.compareAndSet('key', 'a', 'b');
  await store.delete('key');
  stop();
  await store.set('key', 'c');
  expect(heard).toEqual(['a', 'b', undefined]);
});

test('who stops watching twice takes nobody else along', async () => {
  const { store } = setUp();
  const heard: unknown[] = [];
  const stop = store.watch('key', () => heard.push('first'));
  stop();
  store.watch('key', (value) => heard.push(value));
  stop();
  await store.set('key', 'a');
  expect(heard).toEqual(['a']);
});

test('a lock is held by one at a time, and the others follow', async () => {
  const { clock, store } = setUp();
  const order: string[] = [];
  const release = await store.lock('key', 1_000);
  const waiting = ['second', 'third'].map(async (name) => {
    const unsubscribe = await store.lock('key', 1_000);
    order.push(name);
    await unsubscribe();
  });
  await clock.advance(0);
  expect(order).toEqual([]);
  await release();
  await Promise.all(waiting);
  expect(order).toEqual(['second', 'third']);
  expect(clock.pending(), 'nothing is left behind').toBe(0);
});

test('other keys are free while one is locked', async () => {
  const { store } = setUp();
  await store.lock('key', 1_000);
  await expect(store.lock('other', 1_000)).resolves.toBeTypeOf('function');
});

test('a lock whose holder has vanished opens by itself', async () => {
  const { clock, store } = setUp();
  await store.lock('key', 1_000);
  let held = false;
  const next = store.lock('key', 1_000).then(() => {
    held = true;
  });
  await clock.advance(999);
  expect(held).toBe(false);
  await clock.advance(1);
  expect(held).toBe(true);
  await next;
});

test('who lets go too late does not open the lock of the next holder', async () => {
  const { clock, store } = setUp();
  const late = await store.lock('key', 1_000);
  await clock.advance(1_000);
  await store.lock('key', 1_000);
  await late();
  let third = false;
  void store.lock('key', 1_000).then(() => {
    third = true;
  });
  await clock.advance(999);
  expect(third).toBe(false);
});

test('waiting for a lock ends with the reason of the signal', async () => {
  const { clock, store } = setUp();
  const release = await store.lock('key', 1_000);
  const controller = new AbortController();
  const reason = { why: 'enough' };
  const waiting = store.lock('key', 1_000, controller.signal);
  const rejected = expect(waiting).rejects.toBe(reason);
  controller.abort(reason);
  await rejected;
  await expect(store.lock('key', 1_000, AbortSignal.abort(reason)), 'held').rejects.toBe(reason);
  await release();
  await expect(store.lock('key', 1_000, AbortSignal.abort(reason)), 'free').rejects.toBe(reason);
  await expect(store.lock('key', 1_000), 'who gave up holds nothing').resolves.toBeTypeOf('function');
  await clock.advance(0);
});
