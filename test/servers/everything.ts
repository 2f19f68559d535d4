// Owns starting the reference server of the protocol's own authors, which is written with their former SDK. It ends with the test.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { ServerConfig } from '../../src/index.ts';
import { freePort } from '../free-port.ts';
import { eventually } from './processes.ts';

const program = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);
const modes = { http: ['streamableHttp', '/mcp'], sse: ['sse', '/sse'] } as const;

export async function everything(transport: 'stdio' | 'http' | 'sse'): Promise<ServerConfig> {
  if (transport === 'stdio') return { command: process.execPath, args: [program, 'stdio'] };
  const [mode, path] = modes[transport];
  const port = await freePort();
  const env = { ...process.env, PORT: String(port) };
  const child = spawn(process.execPath, [program, mode], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  onTestFinished(async () => {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    if (child.kill('SIGKILL')) await gone;
  });
  await eventually(() => said.includes(`port ${port}`));
  return { url: `http://127.0.0.1:${port}${path}`, transport };
}
