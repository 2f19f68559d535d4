// Owns a real gateway for tests of what uses it: the built `plexus serve` in a sandbox, with a desk, and a server that does not start.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { type GatewayInstance, gatewayFiles } from '../../src/gateway/instance.ts';
import { waitFor } from '../wait-for.ts';
import { Sandbox, type Started } from './plexus.ts';

export const desk = fileURLToPath(new URL('../servers/desk.mjs', import.meta.url));

export const CONFIG = `
[plexus.serving]
port = 0

[mcp_servers.desk]
command = '${process.execPath}'
args = ['${desk}']

[mcp_servers.broken]
command = '/no/such/program'

[[permissions.rules]]
tool = 'mcp__desk__remove'
action = 'ask'

[[permissions.rules]]
tool = 'mcp__desk__create_invoice'
action = 'deny'
`;

export interface Scene {
  readonly sandbox: Sandbox;
  readonly started: Started;
  readonly pid: number;
  /** Of the gateway's server "desk". */
  deskPid(): Promise<number>;
  readonly instance: GatewayInstance;
  readonly file: string;
  /** Writes the user's file anew. */
  configure(config: string): void;
}

export interface ServeOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Further words of the command. */
  readonly words?: readonly string[];
  /** Of a gateway that ran there before. */
  readonly sandbox?: Sandbox;
}

/** Ends with the test. */
export async function serve(
  config = CONFIG,
  { env = {}, words = [], sandbox = new Sandbox() }: ServeOptions = {},
): Promise<Scene> {
  const configure = (text: string) => void sandbox.write('~/.config/plexus/mcp.toml', text);
  configure(config);
  const started = sandbox.spawn(['serve', '--json', ...words], { env });
  onTestFinished(async () => {
    started.child.kill('SIGCONT');
    started.child.kill('SIGTERM');
    await started.done;
    await sandbox.remove();
  });
  await waitFor(() => JSON.parse(started.seen.out));
  const { instance: file } = gatewayFiles(sandbox.path('~/.local/state/plexus'));
  const instance: GatewayInstance = JSON.parse(readFileSync(file, 'utf8'));
  const deskPid = async () => {
    const { servers } = await sandbox.json('list', 'desk', '--live');
    return servers[0].pid as number;
  };
  return { sandbox, started, pid: instance.pid, deskPid, instance, file, configure };
}
