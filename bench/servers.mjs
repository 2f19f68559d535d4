// Owns which servers the contestants connect to. An entry is what a configuration file would say: a command or an address.

import { fileURLToPath } from 'node:url';

const file = (name) => fileURLToPath(new URL(`./${name}`, import.meta.url));
const node = (name, ...args) => ({ command: process.execPath, args: [file(name), ...args.map(String)] });

/** Each server is different, so that no client can reuse what it cached of another. */
const kinds = {
  /** Answers as fast as Node can: for calls. */
  echo: (number) => node('echo-server.mjs', number),
  /** Written with the official SDK, ten tools of the usual size. */
  ordinary: (number) => node('ordinary-server.mjs', number, 10),
  /** Starts in a millisecond, so that the client is what is measured. Windows has no shell for it. */
  light: (number) =>
    process.platform === 'win32'
      ? kinds.echo(number)
      : { command: '/bin/sh', args: [file('light-server.sh'), String(number)] },
  stalled: (number) => node('stalled-server.mjs', number),
};

export function serversOf(kind, count) {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`${kind}-${at}`, kinds[kind](at)]));
}

export function httpServersOf(urls) {
  return Object.fromEntries(urls.map((url, at) => [`http-${at}`, { url }]));
}
