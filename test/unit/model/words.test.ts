// Owns the proof of the small words of the model: keys, places and command lines.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { placeOf } from '../../../src/model/diagnostic.ts';
import { identity } from '../../../src/model/identity.ts';
import { toolKey } from '../../../src/model/names.ts';
import { commandLine, type Launch } from '../../../src/model/server.ts';

test('two tools share a key only if they are the same tool', () => {
  const anyPart = fc.oneof(fc.string(), fc.constantFrom('a', 'a","b', '"', '\\', ',', 'a__b', 'b'));
  fc.assert(
    fc.property(anyPart, anyPart, anyPart, anyPart, (server, tool, otherServer, otherTool) => {
      const same = server === otherServer && tool === otherTool;
      expect(toolKey({ server, tool }) === toolKey({ server: otherServer, tool: otherTool })).toBe(same);
    }),
  );
});

test('a place is spelled as far as it is known', () => {
  expect(
    [{}, { file: 'a' }, { file: 'a', line: 2 }, { file: 'a', line: 2, column: 3 }, { file: 'a', column: 3 }].map(
      placeOf,
    ),
  ).toEqual(['', 'a', 'a:2', 'a:2:3', 'a']);
});

const stdio = { kind: 'stdio', args: [], env: {}, inheritEnv: 'safe' } as const;

const launches: Record<string, [launch: Launch, text: string]> = {
  'plain words': [
    { ...stdio, command: 'npx', args: ['-y', '@scope/pkg@1.0', '--port=80'] },
    'npx -y @scope/pkg@1.0 --port=80',
  ],
  'words that a shell would take apart': [
    { ...stdio, command: '/my tools/run', args: ['a b', '', '$(rm)', '"', 'a;b'] },
    `'/my tools/run' 'a b' '' '$(rm)' '"' 'a;b'`,
  ],
  'a control character cannot hide the rest': [
    { ...stdio, command: 'sh', args: ['-c', 'evil\r\u001b[2Kharmless'] },
    String.raw`sh -c 'evil\u000d\u001b[2Kharmless'`,
  ],
  'variables and folder are words as well, and no line of their own': [
    { ...stdio, command: 'x', env: { KEY: `\${API_KEY}`, 'A\nB': 'c' }, cwd: '.\n"x" was approved' },
    String.raw`KEY='${'$'}{API_KEY}' 'A\u000aB'=c x (in '.\u000a"x" was approved')`,
  ],
  'a folder without blanks stays plain': [{ ...stdio, command: 'x', cwd: '/srv/app' }, 'x (in /srv/app)'],
  'a remote server is its address': [
    { kind: 'http', url: 'https://a.example/mcp', headers: {} },
    'https://a.example/mcp',
  ],
  'an address is one line': [
    { kind: 'http', url: 'https://a.example/?a=b&c\n"x" was approved', headers: {} },
    String.raw`https://a.example/?a=b&c\u000a"x" was approved`,
  ],
  'a server in the host is code': [{ kind: 'in-process', serve: () => undefined }, 'code of the host program'],
};

test.each(Object.entries(launches))('%s', (_, [launch, text]) => {
  expect(commandLine(launch)).toBe(text);
});

test('Plexus says who it is', () => {
  expect(identity).toEqual({ name: 'plexus', title: 'Plexus', version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
});
