// Owns the proof of who shares a remote server behind the gateway: the clients of all folders, until the server asks for roots; from then on
// each folder has a session of its own, and is told of its own folder.

import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { type Access, WORKSPACE_HEADER } from '../../src/gateway/access.ts';
import { openServedGateway } from '../../src/gateway/serve.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { type Asking, startAsking } from '../servers/asking.ts';
import { faulty } from '../servers/faulty.ts';
import { pidsIn } from '../servers/processes.ts';
import { initialize, MODERN, modernMeta, sendTo } from '../unit/serving/served.ts';
import { verifies } from '../verifies.ts';
import { waitFor } from '../wait-for.ts';
import { createFolder } from './runtimes.ts';

const CONNECT = { id: 'connect', details: { mayNameWorkspace: true } satisfies Access };

interface ModernCall {
  readonly name: string;
  readonly args?: object;
  readonly capabilities?: JsonObject;
  readonly round?: JsonObject;
}

const textOf = ({ content }: JsonObject) => (content as readonly { readonly text: string }[])[0]?.text;
const ASK = { method: 'roots/list', params: {} };
const form = { message: 'Go on?', requestedSchema: { type: 'object', properties: {} } };
const QUESTION = { method: 'elicitation/create', params: form };
const ACCEPTED = '{"result":{"action":"accept","content":{}}}';

/** A gateway with the servers in the user's file, and two folders that clients work in. */
async function serve(servers: Readonly<Record<string, object>>) {
  const home = createFolder();
  const folders = ['one', 'two'].map((name) => join(home, name));
  for (const each of folders) mkdirSync(each);
  const config = join(home, 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: servers }));
  const runtime = { cwd: home, home, env: { PATH: process.env['PATH'] ?? '' }, config, logs: false };
  const served = await openServedGateway({ host: '127.0.0.1', authenticate: () => CONNECT, runtime });
  onTestFinished(() => served.close({ drainMs: 0 }));
  const { url } = await served.listen({ host: '127.0.0.1', port: 0 });
  /** A modern call; `round` is what a client sends again with the answer to a question. */
  const send = async (folder: string, { name, args = {}, capabilities = {}, round = {} }: ModernCall) => {
    const params = { name, arguments: args, ...round, _meta: modernMeta(capabilities) };
    const { message } = await sendTo(url, {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      headers: {
        ...{ 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': name },
        [WORKSPACE_HEADER]: encodeURIComponent(folder),
      },
    });
    return message['result'] as JsonObject;
  };
  const call = async (folder: string, name: string, args = {}, capabilities = {}) =>
    textOf(await send(folder, { name, args, capabilities }));
  /** A call that the server holds, until its client answers a question. Resolves once it is asked, with how to answer. */
  const hold = async (folder: string) => {
    const held = { name: 'far__ask', args: QUESTION, capabilities: { elicitation: {} } };
    const { inputRequests, requestState } = await send(folder, held);
    const inputResponses = Object.fromEntries(
      Object.keys(inputRequests as JsonObject).map((key) => [key, { action: 'accept', content: {} }]),
    );
    return async () => textOf(await send(folder, { ...held, round: { inputResponses, requestState } }));
  };
  /** Requests of a session of the older era. */
  const open = async (folder: string) => {
    const place = { [WORKSPACE_HEADER]: encodeURIComponent(folder) };
    const opened = await sendTo(url, { body: initialize(), headers: place });
    const headers = { ...place, 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    let last = 0;
    return async (method: string, params: JsonObject) =>
      (await sendTo(url, { body: { jsonrpc: '2.0', id: ++last, method, params }, headers })).message;
  };
  const statusIn = async (folder: string) => {
    const all = await served.gateway.status();
    return all.find(({ workspace }) => workspace === folder)?.servers[0]?.state;
  };
  return { gateway: served.gateway, folders, call, hold, open, statusIn };
}

const sessionsOf = ({ methods }: Asking) => methods().filter((method) => method === 'notifications/initialized').length;
const callsOf = ({ methods }: Asking) => methods().filter((method) => method === 'tools/call').length;
const rootOf = (folder: string) => JSON.stringify({ result: { roots: [{ uri: pathToFileURL(folder).href }] } });

verifies(
  'EXT-32',
  'clients of all folders share one session with a remote server, and each folder has a local server of its own',
  async () => {
    const far = await startAsking('http');
    const pidFile = join(createFolder(), 'pids');
    const { call, folders } = await serve({ far: far.entry, near: faulty('--pid-file', pidFile) });
    const calls = folders.flatMap((folder) => [
      call(folder, 'far__slow', { ms: 0 }),
      call(folder, 'near__echo', { text: folder }),
    ]);
    expect(await Promise.all(calls)).toEqual(folders.flatMap((folder) => ['"done"', folder]));
    expect(sessionsOf(far)).toBe(1);
    expect(pidsIn(pidFile).length, 'of both folders, and of the gateway itself to list its tools').toBe(3);
  },
);

for (const transport of ['http', 'sse', 'ws'] as const)
  verifies(
    'EXT-32',
    `a server over ${transport} that asks for roots during a call is told those of the caller's folder, and every folder gets a session of its own`,
    async () => {
      const far = await startAsking(transport);
      const { call, folders, statusIn } = await serve({ far: far.entry });
      const [one = '', two = ''] = folders;
      for (const folder of folders) expect(await call(folder, 'far__slow', { ms: 0 })).toBe('"done"');
      expect(sessionsOf(far)).toBe(1);
      expect(await call(one, 'far__ask', ASK)).toBe(rootOf(one));
      await waitFor(() => expect(sessionsOf(far), 'of two, and of the gateway itself').toBe(3));
      for (const folder of [two, one]) expect(await call(folder, 'far__ask', ASK)).toBe(rootOf(folder));
      expect([sessionsOf(far), await statusIn(one), await statusIn(two)]).toEqual([3, 'connected', 'connected']);
    },
  );

verifies(
  'EXT-32',
  'a server that asks for roots while several calls of one folder are in flight is told those of that folder',
  async () => {
    const far = await startAsking('http');
    const { call, hold, folders } = await serve({ far: far.entry });
    const [one = '', two = ''] = folders;
    for (const folder of [two, one]) expect(await call(folder, 'far__slow', { ms: 0 })).toBe('"done"');
    const goOn = await hold(one);
    expect(await call(one, 'far__ask', ASK)).toBe(rootOf(one));
    expect(await goOn()).toBe(ACCEPTED);
    expect(await call(two, 'far__ask', ASK)).toBe(rootOf(two));
  },
);

verifies(
  'EXT-32',
  'a server that asks for roots while clients of two folders call is told why it gets none; their calls go on, and the next ones have sessions of their own',
  async () => {
    const far = await startAsking('http');
    const { call, hold, folders } = await serve({ far: far.entry });
    const [one = '', two = ''] = folders;
    for (const folder of folders) expect(await call(folder, 'far__slow', { ms: 0 })).toBe('"done"');
    const goOn = await hold(two);
    expect(await call(one, 'far__ask', ASK)).toContain('several folders share this session');
    expect(await goOn()).toBe(ACCEPTED);
    await waitFor(() => expect(sessionsOf(far), 'of each folder, and of the gateway itself').toBe(4));
    for (const folder of folders) expect(await call(folder, 'far__ask', ASK)).toBe(rootOf(folder));
    expect(sessionsOf(far)).toBe(4);
  },
);

verifies(
  'EXT-32',
  'a server that asks for roots as soon as it is up has a session for each folder from then on',
  async () => {
    const far = await startAsking('http', '--at-once');
    const { call, folders } = await serve({ far: far.entry });
    for (const folder of [...folders, ...folders]) expect(await call(folder, 'far__ask', ASK)).toBe(rootOf(folder));
    expect(sessionsOf(far)).toBe(3);
  },
);

verifies(
  'EXT-32',
  'a modern server that asks for roots is told those of the folder whose call it is, in the session that all share',
  async () => {
    const far = await startAsking('http', '--era', 'modern');
    const { open, folders } = await serve({ far: far.entry });
    for (const folder of [...folders, ...folders]) {
      const request = await open(folder);
      const result = await request('tools/call', { name: 'far__ask', arguments: ASK });
      expect(JSON.stringify(result)).toContain(JSON.stringify(pathToFileURL(folder).href).slice(1, -1));
    }
    expect(far.methods().filter((method) => method === 'server/discover')).toHaveLength(1);
  },
);

verifies(
  'EXT-32',
  'a question that could be for callers in two folders is declined, and from then on the folders call one after the other',
  async () => {
    const far = await startAsking('http');
    const { call, hold, gateway, folders } = await serve({ far: far.entry });
    const [one = '', two = ''] = folders;
    for (const folder of folders) expect(await call(folder, 'far__slow', { ms: 0 })).toBe('"done"');
    const goOn = await hold(two);
    const declined = await call(one, 'far__ask', QUESTION, { elicitation: {} });
    expect(JSON.parse(declined ?? '').result).toEqual({
      action: 'decline',
      _meta: { 'plexus/reason': 'several clients call this server, and nothing says which of them is asked' },
    });
    const waiting = call(one, 'far__slow', { ms: 0 });
    await waitFor(() => expect(gateway.measures().servers.get('far')).toMatchObject({ queued: 1 }));
    expect(callsOf(far), 'of which the last one waits').toBe(4);
    expect(await goOn()).toBe(ACCEPTED);
    expect(await waiting).toBe('"done"');
    expect([callsOf(far), sessionsOf(far)]).toEqual([5, 1]);
  },
);

verifies(
  'EXT-32',
  'a server that folders share is told the most verbose log level that a client of any of them wants',
  async () => {
    const levels: string[] = [];
    const results = new Map<string, (params: Record<string, string>) => object>([
      [
        'initialize',
        () => ({
          ...{ protocolVersion: '2025-11-25', capabilities: { tools: {}, logging: {} } },
          serverInfo: { name: 'far', version: '1' },
        }),
      ],
      ['tools/list', () => ({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] })],
      ['tools/call', () => ({ content: [] })],
      [
        'logging/setLevel',
        ({ level = '' }) => {
          levels.push(level);
          return {};
        },
      ],
    ]);
    const upstream = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      const { id, method, params } = JSON.parse(body || '{}');
      const result = results.get(method)?.(params);
      const answer = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
      if (id === undefined) response.writeHead(request.method === 'GET' ? 405 : 202).end();
      else
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void upstream.close());
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    const { open, folders } = await serve({ far: { url: `http://127.0.0.1:${port}/mcp`, transport: 'http' } });
    const [one, two] = await Promise.all(folders.map(open));
    for (const [request, level] of [
      [one, 'info'],
      [two, 'error'],
      [one, 'info'],
      [two, 'debug'],
      [one, 'warning'],
    ] as const) {
      await request?.('logging/setLevel', { level });
      expect(await request?.('tools/call', { name: 'far__echo', arguments: {} })).toMatchObject({
        result: { content: [] },
      });
    }
    await waitFor(() => expect(levels.at(-1)).toBe('debug'));
    expect(levels).not.toContain('error');
    expect(levels).not.toContain('warning');
  },
);
