// Owns recognizing Plexus itself among the servers of other programs: `plexus connect` in an editor's file is that editor's way to
// the gateway. Taken over as a server, it would put the gateway behind itself.

import { win32 } from 'node:path';
import type { Launch } from '../model/server.ts';
import { mergeSettings } from './settings.ts';
import { commandsIn } from './wrapped-command.ts';

/** The program by its name, as a package, or as a file of its build. */
const PROGRAM = /^plexus(?:@[^/\\]*)?(?:\.(?:cmd|exe|ps1|js))?$/i;
const BUILT = /[\\/]dist[\\/]cli\.c?js$/;
const VERBS: readonly (string | undefined)[] = ['connect', 'serve'];
/** The gateway's addresses of MCP. */
const ADDRESS = /^\/(?:mcp(?:\/[ps]\/[^/]+)?|sse)\/?$/;
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** `port`: the gateway's, where the settings are known by then; otherwise that of a gateway without any. */
export function isOwnEntry(launch: Launch, port?: number): boolean {
  if (launch.kind === 'in-process') return false;
  if (launch.kind !== 'stdio') return isOwnAddress(launch.url, port);
  return commandsIn([launch.command, ...launch.args]).some(isOwnCommand);
}

function isOwnCommand(words: readonly string[]): boolean {
  const isProgram = (word: string) => BUILT.test(word) || PROGRAM.test(win32.basename(word));
  return words.some((word, at) => isProgram(word) && VERBS.includes(verbIn(words.slice(at + 1))));
}

/** The first word that is neither an option nor the file behind `--config`. */
const verbIn = (words: readonly string[]) =>
  words.find((word, at) => !word.startsWith('-') && words[at - 1] !== '--config');

function isOwnAddress(url: string, port = mergeSettings([]).settings.serving.port): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, port: named, pathname } = new URL(url);
  if (protocol !== 'http:' || !LOOPBACK.test(hostname) || !ADDRESS.test(pathname)) return false;
  return (named || '80') === String(port);
}
