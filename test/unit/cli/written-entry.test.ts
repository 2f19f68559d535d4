// Owns the proof that a relative program becomes the same absolute one in every notation of an entry.

import { expect, test } from 'vitest';
import { absoluteCommand, withCommand } from '../../../src/cli/written-entry.ts';

const environment = { cwd: '/repo', env: {}, home: '/home/me', platform: 'linux' as const };

test.each([
  ['./x', undefined, '/repo/x'],
  ['./x', 'sub', '/repo/sub/x'],
  ['~/x', undefined, '/home/me/x'],
  ['npx', undefined, undefined],
  ['/bin/x', undefined, undefined],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
  ['${HOME}/x', undefined, undefined],
])('%s in the folder %s is %s', (command, cwd, expected) => {
  expect(absoluteCommand({ command, ...(cwd !== undefined && { cwd }) }, environment)).toBe(expected);
});

test('the program is replaced in a text, in a list and in a map, and its arguments are not', () => {
  const change = { from: './x', to: '/repo/x' };
  expect(withCommand({ command: './x', args: ['./x'] }, 'command', change)).toEqual({
    command: '/repo/x',
    args: ['./x'],
  });
  expect(withCommand({ cmd: ['./x', './x'] }, 'cmd', change)).toEqual({ cmd: ['/repo/x', './x'] });
  expect(withCommand({ command: { path: './x', args: ['./x'] } }, 'command', change)).toEqual({
    command: { path: '/repo/x', args: ['./x'] },
  });
});
