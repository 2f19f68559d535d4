// Owns the proof that all writes can be waited for at once, however they end, and that nothing else is.

import { expect, test } from 'vitest';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { trackWrites } from '../../../src/kernel/track-writes.ts';

test('who ends waits for what is being written, whether it goes well or not, and for nothing that was read', async () => {
  const [set, gone] = [createDeferred<void>(), createDeferred<void>()];
  const store = trackWrites({
    get: () => new Promise(() => undefined),
    set: () => set.promise,
    delete: () => gone.promise,
  });
  await store.whenWritten();
  void store.get('a');
  await store.whenWritten();

  const failing = store.set('a', '1');
  void store.delete('b');
  let isWritten = false;
  const written = store.whenWritten().then(() => {
    isWritten = true;
  });
  set.reject(new Error('the disk is full'));
  await expect(failing).rejects.toThrow('the disk is full');
  expect(isWritten).toBe(false);
  gone.resolve();
  await written;
});

test('what is asked of it reaches the store as it is', async () => {
  const heard: unknown[][] = [];
  const store = trackWrites({
    get: async (...words) => {
      heard.push(words);
      return 'kept';
    },
    set: async (...words) => void heard.push(words),
    delete: async (...words) => void heard.push(words),
  });
  await store.set('a', '1', 100);
  expect(await store.get('a')).toBe('kept');
  await store.delete('a');
  expect(heard).toEqual([['a', '1', 100], ['a'], ['a']]);
});
