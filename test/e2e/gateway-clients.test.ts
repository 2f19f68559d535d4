// Owns the proof that real clients use the gateway in front of real servers, of either era on both sides: they do what `visit.ts` lists, and
// what only a session over HTTP has: a stream that is resumed, roots that change; and that many of them share one process of each server.

import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as Sse1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createLedgerServers } from '../faults/gateway-soak.ts';
import { startGateway } from '../servers/gateway.mjs';
import { waitFor } from '../wait-for.ts';
import { createFolder, start, textOf } from './runtimes.ts';
import { answer, visitBySdk1, visitBySdk2 } from './visits.ts';

const fixture = fileURLToPath(new URL('../servers/conformance-sdk.mjs', import.meta.url));
const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));
const eras = ['legacy', 'modern'] as const;
const info = { name: 'test', version: '1' };
const listChanged = (kind: string) => `notifications/${kind}/list_changed`;
/** The server of the SDK says -32602 in both eras; of a modern server it is worded for a legacy client. */
const notFound = { legacy: -32602, modern: -32002 };

describe.each(eras)('in front of a %s server', (era) => {
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  beforeAll(async () => {
    gateway = await startGateway({
      servers: { it: { command: process.execPath, args: [fixture, era] } },
      settings: { serving: { sampling: true } },
    });
  });
  afterAll(() => gateway.stop());
  const url = () => new URL('/mcp/s/it', gateway.origin);

  test('SDK v1', () => visitBySdk1(new Http1(url()), { notFound: notFound[era] }));

  test('SDK v1 over the oldest streams', () =>
    visitBySdk1(new Sse1(new URL('/sse', gateway.origin)), { notFound: notFound[era], prefix: 'it__' }));

  /** What a client in that folder puts into its configuration. */
  const connecting = () => ({
    ...{ command: process.execPath, args: [cli, 'connect'], cwd: tmpdir() },
    env: { PATH: process.env['PATH'] ?? '', HOME: gateway.home },
  });

  test('SDK v1 through plexus connect', () =>
    visitBySdk1(new Stdio1(connecting()), { notFound: notFound[era], prefix: 'it__' }));

  test.each(['legacy', 'auto'] as const)('SDK v2 as a %s client through plexus connect', (mode) =>
    visitBySdk2(new Stdio2(connecting()), mode, { prefix: 'it__' }),
  );

  test.each(['legacy', 'auto'] as const)('SDK v2 as a %s client', (mode) => {
    // A server of the older era is told of the workspace, and a modern client over HTTP names none.
    const roots = era === 'legacy' && mode === 'auto' ? '"roots":[]' : undefined;
    return visitBySdk2(new Http2(url()), mode, { roots });
  });

  test('SDK v1 loses the stream of its call, and fetches the answer from its last event on', async () => {
    const [first, second] = [new Client1(info), new Client1(info)];
    const transport = new Http1(url());
    await first.connect(transport);
    const { sessionId } = transport;
    const call = { name: 'test_reconnection', arguments: {} };
    const lost: { cause?: unknown } = {};
    const resumptionToken = await new Promise<string>((onresumptiontoken) => {
      first.callTool(call, undefined, { onresumptiontoken }).catch((cause: unknown) => {
        lost.cause = cause;
      });
    });
    await first.close();
    await waitFor(() => expect(lost.cause).toMatchObject({ code: -32000 }));
    await second.connect(new Http1(url(), { ...(sessionId !== undefined && { sessionId }) }));
    onTestFinished(() => second.close());
    const asked = { method: 'tools/call', params: call } as const;
    // With a token it asks for the stream and sends no call.
    expect(await second.request(asked, CallToolResultSchema, { resumptionToken })).toMatchObject({
      content: [{ text: 'Reconnection test completed successfully' }],
    });
  });

  test('SDK v1 has other roots: it is told that its lists may be others, and the server gets those roots', async () => {
    const client = new Client1(info, { capabilities: { roots: { listChanged: true } } });
    onTestFinished(() => client.close());
    let uri = pathToFileURL(createFolder()).href;
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri }] }));
    const told: string[] = [];
    client.fallbackNotificationHandler = async ({ method }) => void told.push(method);
    await client.connect(new Http1(url()));
    const roots = async () =>
      textOf(
        (await client.callTool({ name: 'test_input_required_result_list_roots' })) as Parameters<typeof textOf>[0],
      );
    expect(await roots()).toContain(uri);
    uri = pathToFileURL(createFolder()).href;
    await client.sendRootsListChanged();
    await waitFor(() =>
      expect(told).toEqual(expect.arrayContaining(['tools', 'prompts', 'resources'].map(listChanged))),
    );
    expect(await roots()).toContain(uri);
  });

  test('Plexus', async () => {
    const runtime = await start(createFolder(), { servers: { it: { url: url().href } }, elicit: async () => answer });
    await runtime.ready();
    const turn = runtime.turn();
    expect(textOf(await turn.call('mcp__it__test_input_required_result_elicitation'))).toBe('Hello, Ada!');
    expect(textOf(await turn.call('mcp__it__test_custom_header', { region: 'eu' }))).toBe('region: eu');
  });
});

const abilities = [
  {},
  { elicitation: { form: {} } },
  { elicitation: { url: {} }, sampling: {} },
  { roots: { listChanged: true } },
  { sampling: { tools: {} }, roots: {}, elicitation: {} },
];

test('twenty sessions in one folder, of mixed eras and capabilities, on ten servers: ten processes', async () => {
  const servers = createLedgerServers(createFolder(), 10);
  const gateway = await startGateway({ servers: Object.fromEntries(servers.map(({ name, entry }) => [name, entry])) });
  onTestFinished(() => gateway.stop());
  const roots = { roots: [{ uri: `file://${gateway.home}`, name: 'here' }] };
  await Promise.all(
    Array.from({ length: 20 }, async (_, at) => {
      const capabilities = abilities[at % abilities.length] ?? {};
      const mode = at % 2 === 0 ? 'legacy' : 'auto';
      const client = new Client2(
        { name: `client-${at}`, version: '1' },
        { capabilities, versionNegotiation: { mode } },
      );
      if ('roots' in capabilities) client.setRequestHandler('roots/list', () => roots);
      await client.connect(new Http2(new URL('/mcp', gateway.origin)));
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(
        expect.arrayContaining(servers.map(({ name }) => `${name}__write`)),
      );
      for (const { name } of servers) {
        const token = `${at}-${name}`;
        expect(await client.callTool({ name: `${name}__write`, arguments: { token } })).toMatchObject({
          content: [{ text: token }],
        });
      }
      await client.close();
    }),
  );
  const starts = servers.map(({ folder }) => readdirSync(folder).filter((name) => name.startsWith('start-')).length);
  expect(starts).toEqual(servers.map(() => 1));
});

test('what a gateway needs for a moment only does not take more and more memory', async () => {
  const file = join(createFolder(), 'young');
  const node = ['--import', fileURLToPath(new URL('../servers/report-young.mjs', import.meta.url))];
  const gateway = await startGateway({ servers: {}, node, env: { PLEXUS_HEAP_FILE: file } });
  onTestFinished(async () => void (await gateway.stop()));
  process.kill(gateway.pid ?? 0, 'SIGUSR2');
  // V8 would take 18 to 32 MB.
  expect(await waitFor(() => Number(readFileSync(file, 'utf8')) / 1_048_576)).toBeLessThan(12);
  expect(gateway.complaints()).toBe('');
});
