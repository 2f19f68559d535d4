// Owns the proof that one key runs once at a time, and that nothing of a finished run is kept.

import { expect, test } from 'vitest';
import { createDeferred } from '../../../src/kernel/deferred.ts';
import { SingleFlight } from '../../../src/kernel/single-flight.ts';

test('whoever comes while it runs gets the same promise, and other keys run beside it', async () => {
  const flights = new SingleFlight<string, string>();
  const started: string[] = [];
  const gate = createDeferred<string>();
  const fly = (key: string) =>
    flights.run(key, () => {
      started.push(key);
      return gate.promise;
    });
  const first = fly('a');
  expect(fly('a')).toBe(first);
  expect(fly('b')).not.toBe(first);
  gate.resolve('landed');
  expect(await Promise.all([first, fly('a')])).toEqual(['landed', 'landed']);
  expect(started).toEqual(['a', 'b']);
});

test('after it ended, well or badly, the next one starts anew', async () => {
  const flights = new SingleFlight<string, number>();
  let runs = 0;
  const fail = () => flights.run('a', () => Promise.reject(new Error(`run ${++runs}`)));
  const [first, second] = [fail(), fail()];
  await expect(first).rejects.toThrow('run 1');
  await expect(second).rejects.toThrow('run 1');
  await expect(fail()).rejects.toThrow('run 2');
  await expect(flights.run('a', async () => 3)).resolves.toBe(3);
});
