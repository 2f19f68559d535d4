import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { browserCommands, isHeadless, openBrowser } from '../../../src/auth/open-browser.ts';
import { eventually, temporaryFile } from '../../servers/processes.ts';
import { verifies } from '../../verifies.ts';

const url = 'https://login.example/authorize?a=1&b=%24(touch%20x)';

describe('the program that opens a page', () => {
  const cases: readonly (readonly [string, NodeJS.Platform, Record<string, string>, readonly (readonly string[])[]])[] =
    [
      ['on macOS', 'darwin', {}, [['open', url]]],
      ['on Windows', 'win32', {}, [['rundll32.exe', 'url.dll,FileProtocolHandler', url]]],
      ['on Linux', 'linux', {}, [['xdg-open', url]]],
      [
        'on Windows below Linux',
        'linux',
        { WSL_DISTRO_NAME: 'Ubuntu' },
        [
          ['wslview', url],
          ['rundll32.exe', 'url.dll,FileProtocolHandler', url],
          ['xdg-open', url],
        ],
      ],
      ['of BROWSER', 'linux', { BROWSER: 'lynx' }, [['lynx', url]]],
      [
        'of BROWSER, with words',
        'darwin',
        { BROWSER: '"/a b/c" --new %s:w3m' },
        [
          ['/a b/c', '--new', url],
          ['w3m', url],
        ],
      ],
      ['of BROWSER on Windows', 'win32', { BROWSER: 'C:\\b.exe' }, [['C:\\b.exe', url]]],
    ];
  test.each(cases)('%s', (_, platform, env, expected) => {
    expect(browserCommands(url, { platform, env })).toEqual(expected);
  });

  verifies('AUT-01', 'is started for http and https alone, and gets the address as one word', async () => {
    for (const address of [
      'file:///etc/passwd',
      'javascript:alert(1)',
      '-version',
      'calc.exe',
      'https//x',
      'vscode://x',
    ])
      expect(browserCommands(address, { platform: 'linux', env: {} })).toEqual([]);
    const program = temporaryFile('browser.mjs');
    const output = `${dirname(program)}/words`;
    writeFileSync(
      program,
      `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(output)}, JSON.stringify(process.argv.slice(2)));\n`,
    );
    const env = { PATH: process.env['PATH'], BROWSER: `/no/such/browser:"${process.execPath}" "${program}" %s` };
    expect(await openBrowser(url, { platform: 'linux', env })).toBe(true);
    const words = await eventually(
      () => existsSync(output) && readFileSync(output, 'utf8').endsWith(']') && readFileSync(output, 'utf8'),
    );
    expect(JSON.parse(words)).toEqual([url]);
    expect(await openBrowser(url, { platform: 'linux', env: { BROWSER: '/no/such/browser' } })).toBe(false);
  });
});

test.each([
  ['a Linux without a screen', 'linux', {}, true],
  ['a Linux with a screen', 'linux', { DISPLAY: ':0' }, false],
  ['Wayland', 'linux', { WAYLAND_DISPLAY: 'wayland-0' }, false],
  ['a remote shell', 'darwin', { SSH_CONNECTION: '1 2 3 4' }, true],
  ['a remote shell with a browser of its own', 'linux', { SSH_TTY: '/dev/pts/1', BROWSER: 'lynx' }, false],
  ['a Mac', 'darwin', {}, false],
  ['Windows', 'win32', {}, false],
] as const)('%s: whether a browser would be in front of nobody', (_, platform, env, expected) => {
  expect(isHeadless({ platform, env })).toBe(expected);
});
