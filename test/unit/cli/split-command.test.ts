// Owns the proof that a command line is split as a shell splits it, and that what only a shell could do is refused.

import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitCommand } from '../../../src/cli/split-command.ts';
import { runs } from '../../effort.ts';

const posix = { platform: 'linux', home: '/home/ada' } as const;
const windows = { platform: 'win32', home: 'C:\\Users\\Ada' } as const;

test.each([
  ['words', 'npx -y x', ['npx', '-y', 'x']],
  ['spaces of all kinds', '  npx\t-y \n x ', ['npx', '-y', 'x']],
  ['single quotes', `node 'my server.js' 'a"b\\'`, ['node', 'my server.js', 'a"b\\']],
  ['double quotes', `node "my server.js" "a'b" "c\\"d\\\\e\\f"`, ['node', 'my server.js', "a'b", 'c"d\\e\\f']],
  ['parts that touch', `a'b'"c"\\ d`, ['abc d']],
  ['an empty word', `node '' ""`, ['node', '', '']],
  ['operators in quotes', `sh -c 'a | b > c; d'`, ['sh', '-c', 'a | b > c; d']],
  ['the home folder', `~/bin/server ~ a~b '~/x'`, ['/home/ada/bin/server', '/home/ada', 'a~b', '~/x']],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
  ['a placeholder of Plexus', 'x --key ${KEY} \\$KEY', ['x', '--key', '${KEY}', '$KEY']],
])('%s', (_, line, words) => {
  expect(splitCommand(line, posix)).toEqual({ ok: true, words });
});

test('on Windows a backslash separates folders', () => {
  const line = 'C:\\tools\\server.exe "C:\\my files\\x" --say \\"hi\\" it\'s a|b';
  const words = ['C:\\tools\\server.exe', 'C:\\my files\\x', '--say', '"hi"', "it's", 'a|b'];
  expect(splitCommand(line, windows)).toEqual({ ok: true, words });
});

test.each([
  ['', 'it names no command'],
  ["node 'x", "the ' at character 6 is never closed"],
  ['node "x', 'the " at character 6 is never closed'],
  ['node x\\', 'it ends with a backslash'],
  ['a | b', 'no shell is run, so that | has no meaning; quote it, or start a shell'],
  ['a && b', 'no shell is run, so that & has no meaning'],
  ['a `b`', 'no shell is run'],
  ['a $(b)', 'no shell is run, so that ( has no meaning'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
  ['x $KEY', 'no shell is run, so that $KEY would stay as it is; write ${KEY}'],
  ['x "a $KEY"', 'no shell is run, so that $KEY'],
  ['KEY=1 npx x', '"KEY=1" sets a variable; write --env KEY=1'],
])('%s is refused', (line, problem) => {
  expect(splitCommand(line, posix)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
});

test.runIf(process.platform !== 'win32')('a shell splits the same lines into the same words', () => {
  const piece = fc.oneof(
    fc.constantFrom(' ', "'", '"', '\\', 'a', 'b c', "''", '""', '-x', '=', '\\"', "\\'", '#a', '~x'),
    fc.stringMatching(/^[a-z ]{0,4}$/),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const split = splitCommand(`x ${pieces.join('')}`, posix);
      if (!split.ok) return;
      // A word that begins with # is a comment, and one that begins with ~ a person's folder, in a shell only.
      if (/(?:^|\s)[#~]/.test(pieces.join(''))) return;
      const said = execFileSync('sh', ['-c', `for each in x ${pieces.join('')}; do printf '%s\\0' "$each"; done`]);
      expect(said.toString('utf8').split('\0').slice(0, -1)).toEqual(split.words);
    }),
    { numRuns: runs(300) },
  );
});
