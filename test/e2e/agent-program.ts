// Owns a `plexus agent` for tests with real clients: a scripted model, a fleet of one server whose tools no rule allows, and folders
// of its own. Everything ends with the test.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import type { ScriptedStep } from '../servers/models/script.ts';
import { type ModelServer, startModelServer } from '../servers/models/server.ts';
import { waitFor } from '../wait-for.ts';
import { program, Sandbox, type Started } from './plexus.ts';

/** Has the tool `test_simple_text`. */
export const toolServer = fileURLToPath(new URL('../servers/conformance.mjs', import.meta.url));

export interface Place {
  readonly sandbox: Sandbox;
  readonly model: ModelServer;
  /** The words after `plexus`. */
  readonly args: readonly string[];
}

export async function prepare(script: readonly ScriptedStep[], ...more: readonly string[]): Promise<Place> {
  const sandbox = new Sandbox();
  onTestFinished(() => sandbox.remove());
  const model = await startModelServer(script);
  onTestFinished(() => model.close());
  const servers = { it: { command: process.execPath, args: [toolServer, 'stdio'] } };
  sandbox.write('~/.config/plexus/mcp.json', { mcpServers: servers });
  return { sandbox, model, args: ['agent', '--model', 'scripted', '--url', `${model.url}/v1`, ...more] };
}

export const commandOf = ({ sandbox, args }: Place) => ({
  command: process.execPath,
  args: [program, ...args],
  cwd: sandbox.workspace,
  env: { PATH: process.env['PATH'] ?? '', HOME: sandbox.home },
});

export interface Address {
  readonly url: string;
  readonly headers: { readonly Authorization: string };
  readonly tokenFile: string;
  readonly started: Started;
}

/** Over HTTP, until the test is over. */
export async function listen({ sandbox, args }: Place): Promise<Address> {
  const started = sandbox.spawn([...args, '--port', '0', '--json']);
  onTestFinished(async () => {
    started.child.kill('SIGTERM');
    await started.done;
  });
  await waitFor(() => expect(started.seen.out + started.seen.err).toContain('}\n'));
  const { url, tokenFile } = JSON.parse(started.seen.out);
  return { url, tokenFile, headers: { Authorization: `Bearer ${readFileSync(tokenFile, 'utf8').trim()}` }, started };
}
