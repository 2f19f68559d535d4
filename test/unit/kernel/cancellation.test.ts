// Owns the proof that work is cancelled once, and that only the current listener hears of it.

import { expect, test } from 'vitest';
import { Cancellation } from '../../../src/kernel/cancellation.ts';
import { createDeferred } from '../../../src/kernel/deferred.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('the first reason wins and is told once', () => {
  const cancellation = new Cancellation();
  const heard: unknown[] = [];
  cancellation.listen((reason) => heard.push(reason));
  expect([cancellation.cancelled, cancellation.reason]).toEqual([false, undefined]);
  cancellation.cancel('first');
  cancellation.cancel('second');
  expect([cancellation.cancelled, cancellation.reason]).toEqual([true, 'first']);
  expect(heard).toEqual(['first']);
});

test('who listens after the fact hears at once', () => {
  const cancellation = new Cancellation();
  cancellation.cancel('done');
  const heard: unknown[] = [];
  cancellation.listen((reason) => heard.push(reason));
  expect(heard).toEqual(['done']);
});

test('handing over replaces the former listener', () => {
  const cancellation = new Cancellation();
  const heard: string[] = [];
  cancellation.listen(() => heard.push('former'));
  cancellation.listen(() => heard.push('present'));
  cancellation.cancel('now');
  expect(heard).toEqual(['present']);
});

test('a race settles as its work does', async () => {
  await expect(new Cancellation().race(Promise.resolve('done'))).resolves.toBe('done');
  await expect(new Cancellation().race(Promise.reject(new Error('failed')))).rejects.toThrow('failed');
});

test('a race is lost the moment it is cancelled, and the work goes on unheard', async () => {
  const cancellation = new Cancellation();
  const work = createDeferred<string>();
  const race = cancellation.race(work.promise);
  const reason = { why: 'enough' };
  cancellation.cancel(reason);
  await expect(race).rejects.toBe(reason);
  work.reject(new Error('nobody hears this'));
  await settled();
});

test('a race that begins after the fact is lost', async () => {
  const cancellation = new Cancellation();
  cancellation.cancel('too late');
  await expect(cancellation.race(Promise.resolve('done'))).rejects.toBe('too late');
});

test('who listens right after a race is over stays the listener', async () => {
  const cancellation = new Cancellation();
  const heard: unknown[] = [];
  await cancellation.race(Promise.resolve('ready'));
  cancellation.listen((reason) => heard.push(reason));
  await settled();
  cancellation.cancel('now');
  expect(heard).toEqual(['now']);
});

test('who listens right after a race has failed stays the listener', async () => {
  const cancellation = new Cancellation();
  const heard: unknown[] = [];
  await cancellation.race(Promise.reject(new Error('not ready'))).catch((error: unknown) => heard.push(error));
  heard.length = 0;
  cancellation.listen((reason) => heard.push(reason));
  await settled();
  cancellation.cancel('now');
  expect(heard).toEqual(['now']);
});
