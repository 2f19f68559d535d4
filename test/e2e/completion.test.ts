// Owns the proof of the completion of shells: the words that fit, and each script in its real shell, where that is installed.

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
    [['con'], ['config', 'connect']],
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

/** The path of a shell; without it its test is skipped, which is told. */
function shellAt(name: string): string | undefined {
  const found = ['/bin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']
    .map((folder) => `${folder}/${name}`)
    .find((file) => existsSync(file));
  if (found === undefined) console.warn(`SKIPPED: the test of the completion of ${name} needs ${name}.`);
  return found;
}

const [BASH, ZSH, FISH] = ['bash', 'zsh', 'fish'].map(shellAt);

/** Runs the script in the shell, with `plexus` on its path and a file beside it that no word of Plexus has. */
function runIn(shell = '', args: readonly string[]): readonly string[] {
  const command = box.write('~/bin/plexus', `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(command, 0o755);
  box.write('out-here.txt', '');
  const env = { PATH: `${dirname(command)}${delimiter}${process.env['PATH']}`, HOME: box.home, TERM: 'xterm' };
  return execFileSync(shell, args, { cwd: box.workspace, env, encoding: 'utf8', timeout: 240_000 }).split('\n');
}

test.skipIf(BASH === undefined)('a real bash completes verbs, options and servers with spaces', () => {
  const script = `
    eval "$(plexus completion bash)"
    complete -p plexus
    try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _plexus; printf '%s|' "\${COMPREPLY[@]}"; echo; }
    try plexus reco
    try plexus get ''
    try plexus list --li
  `;
  expect(runIn(BASH, ['--norc', '-c', script])).toEqual([
    'complete -o default -F _plexus plexus',
    'reconnect|',
    'bad|files|my\\ notes|',
    '--live|',
    '',
  ]);
});

test.skipIf(ZSH === undefined)('a real zsh completes the line that is typed, with files where no word fits', () => {
  // The shell on the pseudo-terminal prints its line at Ctrl-X. It reads the keys in order, so the line is complete by then.
  const script = `
    zmodload zsh/zpty
    zpty shell ${ZSH} -f -i
    zpty -w shell 'autoload -Uz compinit; compinit -u -D; eval "$(plexus completion zsh)"'
    zpty -w shell 'shown() { print -r -- "<$BUFFER>"; BUFFER= }; zle -N shown; bindkey "^X" shown; print REA""DY'
    zpty -r shell ready '*READY*'
    for typed in 'plexus reco' 'plexus get my' 'plexus list --li' 'plexus read --out out-'; do
      zpty -w -n shell "$typed"$'\\t\\x18'
      zpty -r shell seen '*<plexus*>*'
      print -r -- "\${\${seen##*<}%%>*}"
    done
  `;
  expect(runIn(ZSH, ['-f', '-c', script])).toEqual([
    'plexus reconnect ',
    'plexus get my\\ notes ',
    'plexus list --live ',
    'plexus read --out out-here.txt ',
    '',
  ]);
});

test.skipIf(FISH === undefined)('a real fish offers what fits, with files where no word does', () => {
  const script = `
    plexus completion fish | source
    for typed in 'plexus reco' 'plexus get ' 'plexus list --li' 'plexus read --out out-'
      string join -- '|' (complete -C $typed)
    end
    true
  `;
  expect(runIn(FISH, ['--no-config', '-c', script])).toEqual([
    'reconnect',
    'bad|files|my notes',
    '--live',
    'out-here.txt',
    '',
  ]);
});
