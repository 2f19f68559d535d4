// Owns the proof of the completion of shells: the words that fit, and the bash script in a real bash.

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { program, Sandbox } from './plexus.ts';

let box: Sandbox;
beforeEach(() => {
  box = new Sandbox();
  box.write('~/.config/plexus/mcp.json', {
    mcpServers: {
      files: { command: process.execPath, args: ['-e', 'process.exit(1)'] },
      'my notes': { command: 'x' },
      bad: {},
    },
  });
  box.write('other.toml', '[mcp_servers.elsewhere]\ncommand = "x"\n');
});
afterEach(() => box.remove());

const words = async (...typed: readonly string[]) => {
  const { code, out, err } = await box.plexus('completion', 'words', '--', ...typed);
  expect([code, err]).toEqual([0, '']);
  return out.split('\n').slice(0, -1);
};

describe('the words that fit', () => {
  test.each<[string[], readonly string[]]>([
    [['rec'], ['reconnect']],
    [['con'], ['config']],
    [
      ['get', ''],
      ['bad', 'files', 'my notes'],
    ],
    [['get', 'fi'], ['files']],
    [['--json', 'get', 'f'], ['files']],
    [['--config', 'other.toml', 'call', ''], ['elsewhere']],
    [['--config', 'none.toml', 'call', ''], []],
    [
      ['config', ''],
      ['check', 'path', 'schema', 'why'],
    ],
    [['config', 'why', 'b'], ['bad']],
    [['policy', 'why', 'f'], ['files']],
    [
      ['completion', ''],
      ['bash', 'fish', 'zsh'],
    ],
    [['help', 'reco'], ['reconnect']],
    [
      ['disable', 'files', '--scope', ''],
      ['local', 'project', 'user'],
    ],
    [['import', '--from', 'curs'], ['cursor']],
    [['list', '--l'], ['--live']],
    [['call', 'files', ''], []],
    [['read', '--server', 'fi'], ['files']],
    [['read', '--out', ''], []],
    [['nonsense', ''], []],
    [['add', 'x', '--', ''], []],
  ])('%j: %j', async (typed, fitting) => {
    expect(await words(...typed)).toEqual(fitting);
  });

  test('are all verbs at the beginning, and no server is started for them', async () => {
    expect(await words('')).toEqual(expect.arrayContaining(['list', 'reconnect', 'help']));
    await words('get', '');
    expect((await box.plexus('logs', 'files')).out).toContain('it was never started');
  });
});

test('only known shells have a script', async () => {
  for (const shell of ['bash', 'zsh', 'fish'])
    expect(await box.plexus('completion', shell)).toMatchObject({
      code: 0,
      out: expect.stringContaining('plexus completion words'),
    });
  expect(await box.plexus('completion', 'tcsh')).toMatchObject({
    code: 1,
    err: expect.stringContaining('bash, zsh, fish'),
  });
});

const BASH = ['/bin/bash', '/usr/bin/bash'].find((file) => existsSync(file));
if (BASH === undefined) console.warn('SKIPPED: the test of the completion of bash needs bash.');

test.skipIf(BASH === undefined)('a real bash completes verbs, options and servers with spaces', () => {
  const command = box.write('~/bin/plexus', `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(command, 0o755);
  const script = `
    eval "$(plexus completion bash)"
    complete -p plexus
    try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _plexus; printf '%s|' "\${COMPREPLY[@]}"; echo; }
    try plexus reco
    try plexus get ''
    try plexus list --li
  `;
  const path = `${dirname(command)}${delimiter}${process.env['PATH']}`;
  const out = execFileSync(BASH ?? '', ['--norc', '-c', script], {
    cwd: box.workspace,
    env: { PATH: path, HOME: box.home },
    encoding: 'utf8',
  });
  expect(out.split('\n')).toEqual([
    'complete -o default -F _plexus plexus',
    'reconnect|',
    'bad|files|my\\ notes|',
    '--live|',
    '',
  ]);
});
