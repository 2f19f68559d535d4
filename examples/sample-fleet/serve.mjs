// Owns serving the sample fleet: a gateway over its three servers, and what to paste into a client or a second terminal. Its words
// are further options of `plexus serve`. In a terminal it stays until Ctrl-C; without one it ends ten minutes after its last
// client, and where CI is set as soon as it was shown to run: nobody would end it there.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const [root, cli, fleet] = [here('../..').replace(/[\\/]$/, ''), here('../../dist/cli.cjs'), here('fleet.toml')];
const { CI } = process.env;
const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;

const words = ['serve', '--json', '--config', fleet, '--cwd', root, ...process.argv.slice(2)];
const gateway = spawn(process.execPath, [cli, ...words, ...(isTerminal ? [] : ['--until-idle'])], {
  stdio: ['ignore', 'pipe', 'inherit'],
  env: { ...process.env, PLEXUS_CLONE: root },
});
// Ctrl-C reaches the gateway too, which lets running calls end.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => gateway.kill('SIGTERM'));

let printed = '';
gateway.stdout.setEncoding('utf8').on('data', (chunk) => {
  printed += chunk;
  const served = documentIn(printed);
  if (served === undefined) return;
  gateway.stdout.removeAllListeners('data').resume();
  console.log(greeting(served));
  if (CI) gateway.kill('SIGTERM');
});
gateway.on('close', (code) => {
  // It has said itself why it could not begin.
  process.exitCode = code ?? 1;
});

function documentIn(text) {
  try {
    const found = JSON.parse(text);
    return found.url === undefined ? undefined : found;
  } catch {
    return undefined;
  }
}

function greeting({ url, tokenFile }) {
  // The entry holds no token: `plexus connect` reads it from its file.
  const entry = { command: 'node', args: [cli, 'connect'] };
  const call = ['node', cli, 'call', 'everything', 'get-sum', 'a=19', 'b=23', '--config', fleet, '--cwd', root];
  return [
    `The gateway serves these three servers at ${url}`,
    '',
    'Paste this into the .mcp.json of a client:',
    JSON.stringify({ mcpServers: { sample: entry } }, null, 2).replace(/^/gm, '  '),
    `A client that takes an address sends the token in ${tokenFile} with each request: Authorization: Bearer …`,
    '',
    'Or call a tool through it, in another terminal:',
    `  ${call.map(shellWord).join(' ')}`,
    '',
    CI ? 'CI is set, so it ends now.' : isTerminal ? 'Ctrl-C ends it.' : 'It ends ten minutes after its last client.',
  ].join('\n');
}

const shellWord = (word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
