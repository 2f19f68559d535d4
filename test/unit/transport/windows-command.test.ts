// Owns the proof of what a command means on Windows. Pure: it runs on any platform, against a model of cmd.exe.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { batchArguments } from '../../../src/transport/batch-arguments.ts';
import { readShim } from '../../../src/transport/npm-shim.ts';
import { programOf } from '../../../src/transport/process-group.ts';
import { resolveWindowsCommand, type WindowsCommand } from '../../../src/transport/windows-command.ts';
import { runs } from '../../effort.ts';
import { verifies } from '../../verifies.ts';
import { argumentsThroughBatch, Escaped, splitLikeRuntime } from './cmd-exe.ts';

const NODE = 'C:\\Program Files\\nodejs\\node.exe';
const CMD = 'C:\\Windows\\System32\\cmd.exe';

const lines = (...each: string[]) => `${each.join('\r\n')}\r\n`;

const HEAD = [
  '@ECHO off',
  'GOTO start',
  ':find_dp0',
  'SET dp0=%~dp0',
  'EXIT /b',
  ':start',
  'SETLOCAL',
  'CALL :find_dp0',
];

const presentShim = (run: string) =>
  lines(
    ...HEAD,
    '',
    'IF EXIST "%dp0%\\node.exe" (',
    '  SET "_prog=%dp0%\\node.exe"',
    ') ELSE (',
    '  SET "_prog=node"',
    '  SET PATHEXT=%PATHEXT:;.JS;=;%',
    ')',
    '',
    `endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%" ${run} %*`,
  );

const newestShim = (run: string) =>
  presentShim(run)
    .replace('  SET PATHEXT=%PATHEXT:;.JS;=;%\r\n', '')
    .replace('& "%_prog%"', '& set PATHEXT=%PATHEXT:;.JS;=;% & "%_prog%"');

const formerShim = (run: string) =>
  lines(
    '@IF EXIST "%~dp0\\node.exe" (',
    `  "%~dp0\\node.exe"  ${run} %*`,
    ') ELSE (',
    '  @SETLOCAL',
    '  @SET PATHEXT=%PATHEXT:;.JS;=;%',
    `  node  ${run} %*`,
    ')',
  );

const npxShim = lines(
  ":: Created by npm, please don't edit manually.",
  '@ECHO OFF',
  '',
  'SETLOCAL',
  '',
  'SET "NODE_EXE=%~dp0\\node.exe"',
  'IF NOT EXIST "%NODE_EXE%" (',
  '  SET "NODE_EXE=node"',
  ')',
  '',
  'SET "NPM_PREFIX_JS=%~dp0\\node_modules\\npm\\bin\\npm-prefix.js"',
  'SET "NPX_CLI_JS=%~dp0\\node_modules\\npm\\bin\\npx-cli.js"',
  `FOR /F "delims=" %%F IN ('CALL "%NODE_EXE%" "%NPM_PREFIX_JS%"') DO (`,
  '  SET "NPM_PREFIX_NPX_CLI_JS=%%F\\node_modules\\npm\\bin\\npx-cli.js"',
  ')',
  'IF EXIST "%NPM_PREFIX_NPX_CLI_JS%" (',
  '  SET "NPX_CLI_JS=%NPM_PREFIX_NPX_CLI_JS%"',
  ')',
  '',
  '"%NODE_EXE%" "%NPX_CLI_JS%" %*',
);

const formerNpmShim = lines(
  ":: Created by npm, please don't edit manually.",
  '@ECHO OFF',
  'SETLOCAL',
  'SET "NODE_EXE=%~dp0\\node.exe"',
  'IF NOT EXIST "%NODE_EXE%" (',
  '  SET "NODE_EXE=node"',
  ')',
  'SET "NPM_CLI_JS=%~dp0\\node_modules\\npm\\bin\\npm-cli.js"',
  `FOR /F "delims=" %%F IN ('CALL "%NODE_EXE%" "%NPM_CLI_JS%" prefix -g') DO (`,
  '  SET "NPM_PREFIX_NPM_CLI_JS=%%F\\node_modules\\npm\\bin\\npm-cli.js"',
  ')',
  'IF EXIST "%NPM_PREFIX_NPM_CLI_JS%" (',
  '  SET "NPM_CLI_JS=%NPM_PREFIX_NPM_CLI_JS%"',
  ')',
  '"%NODE_EXE%" "%NPM_CLI_JS%" %*',
);

/** A disk on which case does not matter, as on Windows. */
function asked(command: string, files: Record<string, string>, more: Partial<WindowsCommand> = {}): WindowsCommand {
  const disk = new Map(Object.entries(files).map(([path, text]) => [path.toLowerCase(), text]));
  return {
    server: 'files',
    command,
    args: ['-y', 'a b'],
    env: { Path: 'C:\\tools;"C:\\Program Files\\nodejs";C:\\more', ComSpec: CMD },
    cwd: 'C:\\work',
    isFile: (path) => disk.has(path.toLowerCase()),
    readText: (path) => disk.get(path.toLowerCase()) ?? '',
    ...more,
  };
}

const fileOf = (command: string, files: readonly string[], more: Partial<WindowsCommand> = {}) => {
  try {
    return resolveWindowsCommand(asked(command, Object.fromEntries(files.map((file) => [file, ''])), more)).file;
  } catch (error) {
    return (error as { data: { reason: string } }).data.reason;
  }
};

describe('finding', () => {
  const NOT_FOUND = 'the command was not found';
  const rows: Record<
    string,
    [command: string, files: readonly string[], found: string, more?: Partial<WindowsCommand>]
  > = {
    'by the folders of PATH in their order': ['uvx', ['C:\\more\\uvx.exe', 'C:\\tools\\uvx.exe'], 'C:\\tools\\uvx.exe'],
    'in a folder that is written in quotes': ['node', [NODE], NODE],
    'by the order of PATHEXT within a folder': [
      'run',
      ['C:\\tools\\run.exe', 'C:\\tools\\run.com'],
      'C:\\tools\\run.com',
    ],
    'by the given PATHEXT only': [
      'run',
      ['C:\\tools\\run.com', 'C:\\more\\run.exe'],
      'C:\\more\\run.exe',
      { env: { PATH: 'C:\\tools;C:\\more', PATHEXT: '.EXE;.JS' } },
    ],
    'with its own extension': ['run.EXE', ['C:\\tools\\run.exe'], 'C:\\tools\\run.EXE'],
    'with a dot in its name': ['python3.12', ['C:\\tools\\python3.12.exe'], 'C:\\tools\\python3.12.exe'],
    'not without extension: that file is for other systems': ['npx', ['C:\\tools\\npx'], NOT_FOUND],
    'not as a script that Windows would hand to its script host': ['run', ['C:\\tools\\run.js'], NOT_FOUND],
    'never in the current folder': ['git', ['C:\\work\\git.exe'], NOT_FOUND],
    'never in a folder that depends on where we are': [
      'git',
      ['C:\\work\\bin\\git.exe', 'C:\\work\\git.exe'],
      NOT_FOUND,
      { env: { PATH: '.;bin;;C:\\tools' } },
    ],
    'from the current folder where it is named': ['.\\bin/run', ['C:\\work\\bin\\run.exe'], 'C:\\work\\bin\\run.exe'],
    'at a place of its own': ['D:/x/run.exe', ['D:\\x\\run.exe'], 'D:\\x\\run.exe'],
    'and says when a file is no program': [
      '.\\server.py',
      ['C:\\work\\server.py'],
      'the command is not a program for this system',
    ],
    'and is not led astray by an end that Windows overlooks': [
      '.\\run.bat.',
      ['C:\\work\\run.bat.'],
      'the command is not a program for this system',
    ],
    'without any PATH': ['run', ['C:\\work\\run.exe'], NOT_FOUND, { env: {} }],
  };
  for (const [what, [command, files, found, more]] of Object.entries(rows)) {
    verifies('EXT-09', `a command is found ${what}`, () => {
      expect(fileOf(command, files, more)).toBe(found);
    });
  }

  test('a program is started directly, its arguments as they are', () => {
    expect(resolveWindowsCommand(asked('node', { [NODE]: '' }))).toEqual({ file: NODE, args: ['-y', 'a b'] });
  });
});

describe('shims', () => {
  const JS = 'C:\\tools\\node_modules\\srv\\bin.js';
  const run = '"%dp0%\\node_modules\\srv\\bin.js"';
  const formerRun = run.replace('%dp0%', '%~dp0');
  const shapes: Record<string, [text: string, flags?: readonly string[]]> = {
    'as npm writes them': [presentShim(run)],
    'as the newest npm writes them': [newestShim(run)],
    'with flags for node': [
      presentShim(`--no-warnings --stack-size=2000 ${run}`),
      ['--no-warnings', '--stack-size=2000'],
    ],
    'as npm wrote them': [formerShim(formerRun)],
    'as corepack writes them': [`@SETLOCAL\r\n${formerShim(formerRun).replace('  @SETLOCAL\r\n', '')}`],
    'with the line ends of another system': [presentShim(run).replaceAll('\r\n', '\n')],
  };
  for (const [what, [text, flags = []]] of Object.entries(shapes)) {
    verifies('EXT-09', `are bypassed: ${what}`, () => {
      const command = asked('srv', { 'C:\\tools\\srv.cmd': text, [JS]: '', [NODE]: '' });
      expect(resolveWindowsCommand(command)).toEqual({ file: NODE, args: [...flags, JS, '-y', 'a b'] });
    });
  }

  verifies('EXT-09', 'of npm and npx are bypassed, to a newer npm where there is one', () => {
    const npx = 'node_modules\\npm\\bin\\npx-cli.js';
    const own = `C:\\Program Files\\nodejs\\${npx}`;
    const newer = `C:\\Users\\ada\\AppData\\Roaming\\npm\\${npx}`;
    const files = { 'C:\\Program Files\\nodejs\\npx.cmd': npxShim, [own]: '', [NODE]: '' };
    const { env } = asked('npx', {});
    const more = { env: { ...env, APPDATA: 'C:\\Users\\ada\\AppData\\Roaming' } };
    expect(resolveWindowsCommand(asked('npx', files))).toEqual({ file: NODE, args: [own, '-y', 'a b'] });
    expect(resolveWindowsCommand(asked('npx', { ...files, [newer]: '' }, more)).args[0]).toBe(newer);
    expect(readShim(formerNpmShim)).toMatchObject({ target: 'node_modules\\npm\\bin\\npm-cli.js', maybeUpdated: true });
  });

  test('the node beside a shim goes first', () => {
    const files = { 'C:\\tools\\srv.cmd': presentShim(run), [JS]: '', [NODE]: '', 'C:\\tools\\node.exe': '' };
    expect(resolveWindowsCommand(asked('srv', files)).file).toBe('C:\\tools\\node.exe');
  });

  test('a program behind a shim is started directly', () => {
    const text = lines(...HEAD, '"%dp0%\\node_modules\\srv\\srv.exe"   %*');
    const real = 'C:\\tools\\node_modules\\srv\\srv.exe';
    expect(resolveWindowsCommand(asked('srv', { 'C:\\tools\\srv.cmd': text, [real]: '' }))).toEqual({
      file: real,
      args: ['-y', 'a b'],
    });
  });

  const others: Record<string, string> = {
    'one that sets a variable besides': presentShim(run).replace('SETLOCAL', 'SETLOCAL\r\n@SET NODE_ENV=production'),
    'one whose branches differ': formerShim(formerRun).replace(
      'node  "%~dp0\\node_modules',
      'node  "%~dp0\\other_modules',
    ),
    'one for another interpreter': presentShim(run)
      .replaceAll('node.exe', 'python.exe')
      .replace('_prog=node', '_prog=python'),
    'one whose target is a variable': presentShim('"%dp0%\\%TARGET%"'),
    'one whose target is not there': presentShim('"%dp0%\\gone.js"'),
    'one with a command behind': presentShim(run).replace('%*', '%* & echo done'),
    'any other batch file': '@echo off\r\npython server.py %*\r\n',
  };
  for (const [what, text] of Object.entries(others)) {
    test(`go through cmd.exe when they are not known: ${what}`, () => {
      const command = asked('srv', { 'C:\\tools\\srv.cmd': text, [JS]: '', [NODE]: '' });
      expect(resolveWindowsCommand(command)).toEqual({
        file: CMD,
        args: ['/d', '/e:on', '/v:off', '/s', '/c', '""C:\\tools\\srv.cmd" -y "a b""'],
        windowsVerbatimArguments: true,
      });
    });
  }

  test('go through cmd.exe when there is no node to call', () => {
    expect(resolveWindowsCommand(asked('srv', { 'C:\\tools\\srv.cmd': presentShim(run), [JS]: '' })).file).toBe(CMD);
  });
});

describe('batch files', () => {
  const files = { 'C:\\tools\\run.bat': 'anything' };
  const lineFor = (...args: string[]) => resolveWindowsCommand(asked('run', files, { args })).args.at(-1);

  const rows: Record<string, string> = {
    plain: 'plain',
    '--flag:x.y/z_1': '--flag:x.y/z_1',
    '': '""',
    'a b': '"a b"',
    'a=b': '"a=b"',
    'a&calc': '"a&calc"',
    '"&calc&"': '"""&calc&"""',
    'C:\\dir\\': '"C:\\dir\\\\"',
    'a\\"b': '"a\\\\""b"',
    'a\\b': 'a\\b',
    '%PATH%': '"%%cd:~,%PATH%%cd:~,%"',
    '^caret!': '"^caret!"',
    über: '"über"',
  };
  for (const [argument, quoted] of Object.entries(rows)) {
    verifies('EXT-09', `are given ${JSON.stringify(argument)} as one harmless word`, () => {
      expect(lineFor(argument)).toBe(`""C:\\tools\\run.bat" ${quoted}"`);
    });
  }

  verifies('EXT-09', 'get exactly the arguments that were meant, and nothing in them is run', () => {
    const nasty = fc.constantFrom(
      ...'"%&|<>^()!=,;\\ \t\'`*?~:@#$-/aA0é😀'.split(/(?:)/u),
      '%PATH%',
      '""',
      '\\"',
      '%%',
      'cd:~,',
      '%A%',
      '^%',
    );
    const argument = fc.oneof(
      fc.array(nasty, { maxLength: 12 }).map((parts) => parts.join('')),
      fc.string({ unit: 'binary' }),
    );
    const sayable = argument.filter((text) => !/[\0\r\n]/.test(text));
    const file = 'C:\\Program Files (x86)\\100%A%&co\\run.bat';
    // Every expanded variable breaks out of its quotes.
    const env = { A: '" & calc & "', PATH: '" & calc & "', AA: '" & calc' };
    fc.assert(
      fc.property(fc.array(sayable, { maxLength: 5 }), fc.integer({ min: 0, max: 3 }), (args, depth) => {
        expect(argumentsThroughBatch(batchArguments(file, args), env, depth)).toEqual([file, ...args]);
      }),
      { numRuns: runs(300) },
    );
  });

  test('the model sees what naive quoting would let out', () => {
    const naive = (argument: string) => ['/d', '/e:on', '/v:off', '/s', '/c', `"run.bat "${argument}""`];
    expect(() => argumentsThroughBatch(naive('\\"&calc'), {}, 0)).toThrow(Escaped);
    expect(() => argumentsThroughBatch(naive('%A%'), { A: '"&calc' }, 0)).toThrow(Escaped);
    expect(() => argumentsThroughBatch(naive('\\"^&calc'), {}, 1)).toThrow(Escaped);
    expect(splitLikeRuntime('a "b c" d\\\\e "f\\"g" "h""i" \\\\"j k\\\\" ""')).toEqual([
      'a',
      'b c',
      'd\\\\e',
      'f"g',
      'h"i',
      '\\j k\\',
      '',
    ]);
  });

  const refusals: Record<string, [args: readonly string[], reason: string]> = {
    'a line feed': [['a\nb'], 'an argument holds a line break, which no batch file can be given'],
    'a carriage return': [['a\rb'], 'an argument holds a line break, which no batch file can be given'],
    'a NUL': [['a\0b'], 'an argument holds a line break, which no batch file can be given'],
    'too much': [['x'.repeat(8_000)], 'its arguments are too long for a batch file'],
  };
  for (const [what, [args, reason]] of Object.entries(refusals)) {
    verifies('EXT-09', `are not given what cannot be given safely: ${what}`, () => {
      expect(() => resolveWindowsCommand(asked('run', files, { args }))).toThrowError(
        expect.objectContaining({
          code: 'SPAWN_FAILED',
          data: { server: 'files', command: 'run', reason, culprit: 'command' },
        }),
      );
    });
  }

  test('run in the shell of the system, wherever a variable points', () => {
    const shellFor = (env: Record<string, string>) =>
      resolveWindowsCommand(asked('C:\\tools\\run', files, { env })).file;
    expect(shellFor({ COMSPEC: 'D:\\cmd.exe' })).toBe('D:\\cmd.exe');
    expect(shellFor({ ComSpec: 'cmd.exe', SystemRoot: 'D:\\Win' })).toBe('D:\\Win\\System32\\cmd.exe');
    expect(shellFor({})).toBe(CMD);
  });
});

describe('only on Windows', () => {
  const options = { server: 'files', command: 'npx', args: ['-y'], env: { PATH: '/usr/bin' }, cwd: '/' };

  verifies('EXT-09', 'is any of this done', () => {
    for (const platform of ['linux', 'darwin', 'freebsd'] as const) {
      expect(programOf(options, platform)).toEqual({ file: 'npx', args: ['-y'] });
    }
  });

  test('is a command looked for before it is started', () => {
    expect(() => programOf(options, 'win32')).toThrowError(
      expect.objectContaining({
        code: 'SPAWN_FAILED',
        data: expect.objectContaining({ reason: 'the command was not found' }),
      }),
    );
  });
});
