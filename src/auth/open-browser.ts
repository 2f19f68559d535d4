// Owns opening a web page in the person's browser: which program that is, and starting it without a shell. Only http and https
// addresses are opened, and what an address holds is never read as anything but an address.

import { spawn } from 'node:child_process';
import type { EnvironmentVariables } from '../model/environment-variables.ts';

export interface BrowserHost {
  readonly platform: NodeJS.Platform;
  readonly env: EnvironmentVariables;
}

export type BrowserCommand = readonly [program: string, ...words: string[]];

/** The programs to try, in order. `BROWSER` names one or several, each with words and `%s` for the address, as other programs read it. */
export function browserCommands(url: string, { platform, env }: BrowserHost): readonly BrowserCommand[] {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return [];
  const { href } = new URL(url);
  const own = ownBrowsers(env['BROWSER'], platform).map((words) => withAddress(words, href));
  return own.length > 0 ? own : [...systemCommands(href, platform, env)];
}

function systemCommands(href: string, platform: NodeJS.Platform, env: EnvironmentVariables): readonly BrowserCommand[] {
  if (platform === 'darwin') return [['open', href]];
  // Takes the address as one word, where `cmd /c start` would read `&` as the end of a command.
  if (platform === 'win32') return [['rundll32.exe', 'url.dll,FileProtocolHandler', href]];
  const isWindowsBelow = env['WSL_DISTRO_NAME'] !== undefined;
  const windows: BrowserCommand[] = [
    ['wslview', href],
    ['rundll32.exe', 'url.dll,FileProtocolHandler', href],
  ];
  return [...(isWindowsBelow ? windows : []), ['xdg-open', href]];
}

function ownBrowsers(value: string | undefined, platform: NodeJS.Platform): readonly (readonly string[])[] {
  const separator = platform === 'win32' ? ';' : ':';
  return (value ?? '')
    .split(separator)
    .map((each) => [...each.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? ''))
    .filter(([program]) => program !== undefined && program !== '');
}

function withAddress(words: readonly string[], href: string): BrowserCommand {
  const [program = '', ...rest] = words;
  const filled = rest.map((word) => word.replaceAll('%s', () => href));
  return [program, ...(rest.some((word) => word.includes('%s')) ? filled : [...rest, href])];
}

/** Whether no browser of this machine would be in front of the person: a remote shell, a container, a machine without a screen. */
export function isHeadless({ platform, env }: BrowserHost): boolean {
  if (env['BROWSER']) return false;
  if (env['SSH_CONNECTION'] !== undefined || env['SSH_TTY'] !== undefined) return true;
  if (platform === 'darwin' || platform === 'win32' || env['WSL_DISTRO_NAME'] !== undefined) return false;
  return !env['DISPLAY'] && !env['WAYLAND_DISPLAY'];
}

/** Whether one of the programs could be started. It goes on by itself; how it ends is of no interest. */
export async function openBrowser(url: string, host: BrowserHost): Promise<boolean> {
  for (const [program, ...words] of browserCommands(url, host)) if (await starts(program, words, host.env)) return true;
  return false;
}

function starts(program: string, words: readonly string[], env: EnvironmentVariables): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, words, { stdio: 'ignore', detached: true, shell: false, windowsHide: true, env });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
