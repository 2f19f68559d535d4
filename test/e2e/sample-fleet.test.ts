// Owns the proof that what `npm start` runs does its job: three real servers, their tools, and one real call; then the same servers
// behind a gateway, with lines that work as they are printed.

import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { waitFor } from '../wait-for.ts';
import { Sandbox } from './plexus.ts';

const at = (file: string) => fileURLToPath(new URL(`../../examples/sample-fleet/${file}`, import.meta.url));

test('the sample fleet comes up, lists its tools and reads a note', () => {
  const { status, stdout } = spawnSync(process.execPath, [at('main.mjs')], { encoding: 'utf8', timeout: 240_000 });
  expect(status).toBe(0);
  for (const name of ['everything', 'files', 'memory'])
    expect(stdout).toMatch(new RegExp(`^ +${name} +connected +\\d+ tools`, 'm'));
  expect(stdout).toMatch(/^ +mcp__files__read_text_file +Read/m);
  expect(stdout).toContain('You are reading this through Plexus');
  expect(stdout).toMatch(/^Tools \(\d+ that a model is shown: \d+ of the servers, \d of Plexus itself\)$/m);
  expect(stdout).toMatch(/^The call took \d+ ms: the checks of Plexus and the work of the server\.$/m);
  expect(stdout).toMatch(/^ {2}plexus import {2,}copies the servers/m);
});

test('then it is served: the address answers, and the printed entry and call work from another folder', async () => {
  const sandbox = new Sandbox();
  const env = { PATH: process.env['PATH'] ?? '', HOME: sandbox.home };
  const served = spawn(process.execPath, [at('serve.mjs'), '--port', '0'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((resolve) => served.on('close', resolve));
  let out = '';
  served.stdout.setEncoding('utf8').on('data', (chunk) => {
    out += chunk;
  });
  onTestFinished(async () => {
    served.kill('SIGTERM');
    await ended;
    await sandbox.remove();
  });
  await waitFor(() => expect(out).toContain('It ends ten minutes after its last client.'));
  const url = /at (http:\S+)\/mcp$/m.exec(out)?.[1];
  expect(await (await fetch(`${url}/healthz`)).text()).toBe('ok\n');
  const entry = JSON.parse(/^ {2}\{[\s\S]*?^ {2}\}$/m.exec(out)?.[0] ?? '');
  expect(toolsThrough(entry.mcpServers.sample, { cwd: sandbox.home, env })).toContain('everything__get-sum');
  const line = /^ {2}(node .+)$/m.exec(out)?.[1] ?? '';
  const called = spawnSync('sh', ['-c', line], { cwd: sandbox.home, env, encoding: 'utf8' });
  expect([called.status, called.stdout]).toEqual([0, 'The sum of 19 and 23 is 42.\n']);
  expect(called.stderr).toMatch(/^Through the running gateway \(process \d+\)\.$/m);
  served.kill('SIGTERM');
  expect(await ended).toBe(0);
});

/** The names of the tools that a client sees which starts the entry as it was printed. */
function toolsThrough({ command, args }: { command: string; args: string[] }, where: { cwd: string; env: object }) {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'pasted', version: '1' } };
  const lines = [
    { jsonrpc: '2.0', id: 1, method: 'initialize', params },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 2, method: 'tools/list' },
  ].map((line) => `${JSON.stringify(line)}\n`);
  const { cwd, env } = where;
  const { stdout } = spawnSync(command, args, {
    ...{ cwd, env: { ...env }, input: lines.join(''), encoding: 'utf8', timeout: 240_000 },
  });
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const tools: { name: string }[] = answers.find(({ id }) => id === 2)?.result.tools ?? [];
  return tools.map(({ name }) => name);
}

test('where CI is set it ends by itself', async () => {
  const sandbox = new Sandbox();
  onTestFinished(() => sandbox.remove());
  const env = { PATH: process.env['PATH'] ?? '', HOME: sandbox.home, CI: '1' };
  const { status, stdout } = spawnSync(process.execPath, [at('serve.mjs'), '--port', '0'], { env, encoding: 'utf8' });
  expect([status, stdout.trim().split('\n').at(-1)]).toEqual([0, 'CI is set, so it ends now.']);
});
