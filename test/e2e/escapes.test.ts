// Owns the proof that no word of a server drives a person's terminal: every command, on a terminal, against a server that tries.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { program, Sandbox } from './plexus.ts';

const server = fileURLToPath(new URL('../servers/escaping.mjs', import.meta.url));
const TERMINAL = '/usr/bin/script';

const sandbox = new Sandbox();
afterAll(() => sandbox.remove());
sandbox.write('~/.config/plexus/mcp.json', {
  mcpServers: { evil: { command: process.execPath, args: [server] } },
});

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

/** All that a person's terminal would be sent, the command's own colors and line ends taken out. */
async function onTerminal(...args: readonly string[]): Promise<string> {
  const line = [process.execPath, program, ...args].map(quoted).join(' ');
  const child = spawn(TERMINAL, ['-qec', line, '/dev/null'], {
    cwd: sandbox.workspace,
    env: { PATH: process.env['PATH'] ?? '', HOME: sandbox.home, TERM: 'xterm-256color' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const shown = Buffer.concat(await child.stdout.toArray()).toString('utf8');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colors, and the line that says what is waited for
  return shown.replace(/\u001b\[(?:[12]|22|3[123]|39)m|\r\u001b\[2K/g, '').replaceAll('\r\n', '\n');
}

const driving =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

const commands: readonly (readonly string[])[] = [
  ['list'],
  ['list', '--live'],
  ['list', '--live', '--verbose'],
  ['tools'],
  ['tools', 'evil', '--live'],
  ['tools', '--cost'],
  ['get', 'evil'],
  ['search', 'say'],
  ['call', 'evil', 'say'],
  ['call', 'evil', 'structured'],
  ['call', 'evil', 'fail'],
  ['call', 'evil', 'broken', '--verbose'],
  ['call', 'evil', 'refuse', '--verbose'],
  ['call', 'evil', 'sey'],
  ['resources'],
  ['read', 'note:plain', '--server', 'evil'],
  ['prompts'],
  ['prompt', 'evil', 'plan'],
  ['logs', 'evil'],
];

const documents = commands
  .filter(([verb, , tool]) => verb !== 'call' || tool === 'say')
  .filter((_, at) => at % 2 === 0);

describe.skipIf(process.platform !== 'linux' || !existsSync(TERMINAL))(
  'on a terminal nothing that a server says is more than text',
  () => {
    test.each(
      [...commands, ...documents.map((words) => [...words, '--json'])].map((words) => [words.join(' '), words]),
    )(
      'plexus %s',
      async (_, words) => {
        const shown = await onTerminal(...words);
        expect(shown).toMatch(/evil|odd|link|say/);
        expect(driving.exec(shown)?.[0], shown).toBeUndefined();
      },
      30_000,
    );
    test('what it tried can be seen', async () => {
      expect(await onTerminal('call', 'evil', 'say')).toContain('\\u001b[2J\\u001b]0;title\\u0007');
    });
  },
);
