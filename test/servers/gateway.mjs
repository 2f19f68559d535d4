// Owns a real `plexus serve` for tests and the conformance suite: the built command in a process of its own, without a token, with a home
// of its own. Knows no test framework.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));

/**
 * Resolves when it listens. `servers` are entries by name, whose tools are all allowed; `settings` belong under `plexus`. `node` are words
 * before the program. `stop` resolves when it has ended by itself.
 * @param {{ servers: object, settings?: object, node?: readonly string[], env?: Readonly<Record<string, string>> }} options
 */
export async function startGateway({ servers, settings = {}, node = [], env = {} }) {
  const home = mkdtempSync(join(tmpdir(), 'plexus-gateway-'));
  const config = join(home, 'config.json');
  const permissions = { rules: [{ tool: 'mcp__*', action: 'allow' }] };
  writeFileSync(config, JSON.stringify({ mcpServers: servers, permissions, plexus: settings }));
  const words = [...node, cli, 'serve', '--no-token', '--port', '0', '--json', '--config', config];
  const child = spawn(process.execPath, words, {
    cwd: home,
    env: {
      ...process.env,
      HOME: home,
      USERPROFILE: home,
      XDG_CONFIG_HOME: '',
      XDG_STATE_HOME: '',
      XDG_CACHE_HOME: '',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  let said = '';
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    complaints = (complaints + chunk).slice(-10_000);
  });
  const origin = await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      said += chunk;
      const [, port] = /"port": *(\d+)/.exec(said) ?? [];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    });
    child.on('exit', (code) => reject(new Error(`the gateway ended with ${code}: ${complaints}`)));
  });
  return {
    origin,
    pid: child.pid,
    home,
    complaints: () => complaints,
    async stop() {
      child.kill('SIGTERM');
      const [code] = await exited;
      await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
      return code;
    },
  };
}
