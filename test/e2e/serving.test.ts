// Owns the proof that real clients use what is served, over stdio and HTTP: both official SDKs, in both eras, and Plexus itself list,
// call, read, are asked, are told of progress and changes, and cancel.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { waitFor } from '../wait-for.ts';
import { createFolder, start, textOf } from './runtimes.ts';
import { answer, visitBySdk1, visitBySdk2 } from './visits.ts';

const program = fileURLToPath(new URL('../servers/conformance.mjs', import.meta.url));
const command = { command: process.execPath, args: [program, 'stdio'] };
const transports = ['stdio', 'http'] as const;

async function listen(): Promise<string> {
  const child = fork(program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  onTestFinished(() => {
    child.disconnect();
  });
  const [url] = await once(child, 'message');
  return url;
}

describe.each(transports)('over %s', (kind) => {
  test('SDK v1', async () => {
    await visitBySdk1(kind === 'stdio' ? new Stdio1(command) : new Http1(new URL(await listen())));
  });

  test.each(['legacy', 'auto'] as const)('SDK v2 as a %s client', async (mode) => {
    await visitBySdk2(kind === 'stdio' ? new Stdio2(command) : new Http2(new URL(await listen())), mode);
  });

  test('Plexus', async () => {
    const entry = kind === 'stdio' ? command : { url: await listen() };
    const runtime = await start(createFolder(), { servers: { it: entry }, elicit: async () => answer });
    await runtime.ready();
    expect(runtime.status()).toMatchObject([{ name: 'it', protocol: '2026-07-28', status: 'connected' }]);
    const turn = runtime.turn();
    expect(textOf(await turn.call('mcp__it__test_input_required_result_elicitation'))).toBe('Hello, Ada!');
    expect(textOf(await turn.call('mcp__it__test_custom_header', { region: 'eu' }))).toBe('region: eu');
    const cancelling = new AbortController();
    const waiting = turn.call('mcp__it__test_cancellation', {}, { signal: cancelling.signal });
    const unsubscribe = runtime.on((event) => {
      if (event.type === 'call.progressed') cancelling.abort();
    });
    await expect(waiting).rejects.toThrow('aborted');
    unsubscribe();
    await waitFor(async () => expect(textOf(await runtime.turn().call('mcp__it__test_cancelled'))).toBe('1'));
  });
});
