// Owns the test of the options of `plexus agent`.

import { expect, test } from 'vitest';
import { readOptions } from '../../../src/cli/run-agent.ts';

const read = (values: Parameters<typeof readOptions>[0]['values']) => readOptions({ values, cwd: '/work' });

test('folders count from the present one, and everything else has a default', () => {
  expect(read({})).toEqual({ name: 'plexus', port: undefined, hasToken: true, allowed: [] });
  expect(read({ port: '0', 'no-token': true, name: 'cocode', 'allow-cwd': ['a', '/b'] })).toEqual({
    ...{ name: 'cocode', port: 0, hasToken: false, allowed: ['/work/a', '/b'] },
  });
});

test.each([
  [{ port: 'x' }, '--port'],
  [{ port: '65536' }, '--port'],
  [{ port: '-1' }, '--port'],
  [{ 'no-token': true }, '--no-token'],
])('%j is a mistake', (values, word) => {
  expect(() => read(values)).toThrow(word);
});
