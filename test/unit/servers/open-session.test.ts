// Owns the proof of how long a server may take to start, by what starts it.

import { expect, test } from 'vitest';
import { startLimitOf } from '../../../src/servers/open-session.ts';
import { defined, stdio } from '../trust/definition.ts';

const limitOf = (line: string, startupTimeoutMs: number) => {
  const [command = '', ...args] = line.split(' ');
  const definition = defined({ ...stdio, command, args });
  const settings = { ...definition.settings, startupTimeoutMs };
  return startLimitOf({ ...definition, settings }, { platform: 'linux', installTimeoutMs: 300_000 });
};

test.each(['npx -y x', 'bunx x', 'pnpm dlx x', 'yarn dlx x', 'uvx x', 'docker run -i x', 'cmd /c npx -y x'])(
  'a start with %s has the limit of an installation, unless its own is longer or there is none',
  (line) => expect([30_000, 400_000, 0].map((own) => limitOf(line, own))).toEqual([300_000, 400_000, 0]),
);

test('a program that installs nothing has its own limit alone', () => {
  expect(limitOf('node /srv/x.js', 30_000)).toBe(30_000);
});
