// Owns the proof that real clients use `plexus agent` over stdio and HTTP: both official SDKs, in both eras, and Plexus itself list,
// call, reply, read, are asked and cancel; and that bad input never ends it.

import { statSync } from 'node:fs';
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { limits } from '../../src/model/limits.ts';
import type { ResourceContents } from '../../src/model/resource.ts';
import type { ScriptedStep } from '../servers/models/script.ts';
import type { ModelServer } from '../servers/models/server.ts';
import { verifies } from '../verifies.ts';
import { waitFor } from '../wait-for.ts';
import { type Address, commandOf, listen, prepare, toolServer } from './agent-program.ts';
import { start } from './runtimes.ts';

const transports = ['stdio', 'http'] as const;
const info = { name: 'test', version: '1' };
const answer = { action: 'accept' as const, content: { decision: 'once' } };

/** What the model says to the visit of each client: no rule allows its call, so the client is asked. */
const visitScript: readonly ScriptedStep[] = [
  { calls: [{ name: 'mcp__it__test_simple_text' }] },
  { text: 'one' },
  { text: 'two' },
  { fault: 'stall' },
  { text: 'four' },
];

function textIn({ contents: [part] }: ResourceContents): string {
  return part && 'text' in part ? part.text : '';
}

interface Result {
  readonly structuredContent: { readonly session_id: string; readonly response: string };
}

/** The same visit for each client. */
interface VisitingClient {
  tools(): Promise<readonly string[]>;
  call(name: string, args: JsonObject, signal?: AbortSignal): Promise<Result>;
  resources(): Promise<readonly string[]>;
  read(uri: string): Promise<string>;
  /** How often it was asked. */
  asked(): number;
}

async function visit(client: VisitingClient, { requests }: ModelServer): Promise<void> {
  expect(await client.tools()).toEqual(['plexus', 'plexus-reply']);
  const begun = await client.call('plexus', { prompt: 'begin' });
  const { session_id } = begun.structuredContent;
  expect(begun.structuredContent).toEqual({ session_id, response: 'one' });
  expect(client.asked()).toBe(1);
  expect(JSON.stringify(requests[1]?.body)).toContain('This is a simple text response');
  const reply = await client.call('plexus-reply', { session_id, message: 'go on' });
  expect(reply.structuredContent).toEqual({ response: 'two' });
  const uri = `conversation://plexus/${session_id}`;
  // A client that keeps lists fetches this one again a little after it was told of the change.
  await waitFor(async () => expect(await client.resources()).toEqual([uri]));
  expect(JSON.parse(await client.read(uri))).toMatchObject({
    session_id,
    messages: [{ text: 'begin' }, {}, {}, {}, {}, {}],
  });
  const cancelling = new AbortController();
  const cancelled = client.call('plexus-reply', { session_id, message: 'wait' }, cancelling.signal);
  const refused = expect(cancelled).rejects.toThrow();
  await waitFor(() => expect(requests).toHaveLength(4));
  cancelling.abort();
  await refused;
  const last = await client.call('plexus-reply', { session_id, message: 'and now?' });
  expect(last.structuredContent).toEqual({ response: 'four' });
}

/** The probe of the era waits, however slowly the agent starts. */
const patient: Clock = {
  ...systemClock,
  after: (ms, run, hold) =>
    systemClock.after(ms === limits.probeMs || ms === limits.lateProbeMs ? 30_000 : ms, run, hold),
};

/** Methods that both SDKs have, whatever their types. */
interface SdkClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  readResource(params: { uri: string }): Promise<{ contents: { text: string }[] }>;
  close(): Promise<void>;
}

function visiting(client: SdkClient, call: VisitingClient['call'], asked: () => number): VisitingClient {
  onTestFinished(() => client.close());
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    read: async (uri) => (await client.readResource({ uri })).contents[0]?.text ?? '',
    call,
    asked,
  };
}

describe.each(transports)('over %s', (kind) => {
  verifies(['SRV-02', 'SRV-03', 'SRV-12'], 'SDK v1', async () => {
    const place = await prepare(visitScript);
    const client = new Client1(info, { capabilities: { elicitation: {} } });
    let asked = 0;
    client.setRequestHandler(ElicitRequestSchema, () => {
      asked++;
      return answer;
    });
    if (kind === 'stdio') await client.connect(new Stdio1(commandOf(place)));
    else {
      const { url, headers } = await listen(place);
      await client.connect(new Http1(new URL(url), { requestInit: { headers } }) as never);
    }
    const call: VisitingClient['call'] = async (name, args, signal) =>
      (await client.callTool({ name, arguments: args }, undefined, signal && { signal })) as never;
    await visit(
      visiting(client as never, call, () => asked),
      place.model,
    );
  });

  for (const mode of ['legacy', 'auto'] as const)
    verifies(['SRV-02', 'SRV-03', 'SRV-12'], `SDK v2 as a ${mode} client`, async () => {
      const place = await prepare(visitScript);
      const client = new Client2(info, { capabilities: { elicitation: {} }, versionNegotiation: { mode } });
      let asked = 0;
      client.setRequestHandler('elicitation/create', () => {
        asked++;
        return answer;
      });
      if (kind === 'stdio') await client.connect(new Stdio2(commandOf(place)));
      else {
        const { url, headers } = await listen(place);
        await client.connect(new Http2(new URL(url), { requestInit: { headers } }));
      }
      const call: VisitingClient['call'] = async (name, args, signal) =>
        (await client.callTool({ name, arguments: args }, (signal && { signal }) as never)) as never;
      await visit(
        visiting(client as never, call, () => asked),
        place.model,
      );
    });

  verifies(['SRV-02', 'SRV-03', 'SRV-12'], 'Plexus', async () => {
    const place = await prepare(visitScript);
    const { url, headers } = kind === 'http' ? await listen(place) : { url: '', headers: {} };
    let asked = 0;
    const runtime = await start(place.sandbox.folder, {
      servers: { agent: kind === 'stdio' ? commandOf(place) : { url, headers } },
      clock: patient,
      elicit: async () => {
        asked++;
        return answer;
      },
    });
    await runtime.ready();
    expect(runtime.status()).toMatchObject([{ protocol: '2026-07-28', status: 'connected' }]);
    await visit(
      {
        tools: async () => runtime.getTools().map(({ id }) => id.tool),
        call: async (name, args, signal) => {
          const { structured } = await runtime.turn().call(`mcp__agent__${name}`, args, signal && { signal });
          return { structuredContent: structured } as never;
        },
        resources: async () => (await runtime.resources.list()).resources.map(({ uri }) => uri),
        read: async (uri) => textIn(await runtime.resources.read(uri, { server: 'agent' })),
        asked: () => asked,
      },
      place.model,
    );
  });
});

describe('as a program', () => {
  const lines = (messages: readonly unknown[]) =>
    messages.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n');
  const request = (id: unknown, method: string, params: JsonObject = {}) => ({ jsonrpc: '2.0', id, method, params });
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info };

  verifies(
    ['SRV-01', 'SRV-04', 'SRV-05', 'SRV-08', 'SRV-11'],
    'every line gets its answer, a bad one its code, and at the end of input all work is finished first',
    async () => {
      const { sandbox, args } = await prepare([{ text: 'the last answer' }]);
      const input = lines([
        'no JSON',
        { jsonrpc: '1.0', id: 1, method: 'ping' },
        request(2, 'initialize', hello),
        request(3, 'initialize', hello),
        request(4, 'ping'),
        request(5, 'no/such/method'),
        request(6, 'tools/call', { name: 'nobody' }),
        request(7, 'resources/read', { uri: 'conversation://plexus/none' }),
        request(8, 'resources/list'),
        request(9, 'prompts/list'),
        request(10, 'tools/call', { name: 'plexus', arguments: { prompt: 5 } }),
        request(11, 'tools/call', { name: 'plexus', arguments: { prompt: 'begin' } }),
      ]);
      const { code, out, err } = await sandbox.spawn(args, { input: `${input}\n` }).done;
      const messages = out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      const answerTo = (id: unknown) => messages.find((message) => message.id === id);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(messages.filter(({ id }) => id !== undefined)).toHaveLength(12);
      expect(answerTo(null)).toMatchObject({ error: { code: -32700 } });
      expect(answerTo(1)).toMatchObject({ error: { code: -32600 } });
      expect(answerTo(2)).toMatchObject({ result: { serverInfo: { name: 'plexus' } } });
      expect(answerTo(3)).toMatchObject({ error: { code: -32600 } });
      expect(answerTo(4)).toMatchObject({ result: {} });
      expect(answerTo(5)).toMatchObject({ error: { code: -32601 } });
      expect(answerTo(6)).toMatchObject({ error: { code: -32602 } });
      expect(answerTo(7)).toMatchObject({ error: { code: -32002 } });
      expect(answerTo(8)).toMatchObject({ result: { resources: [] } });
      expect(answerTo(9)).toMatchObject({ result: { prompts: [] } });
      expect(answerTo(10)).toMatchObject({ result: { isError: true } });
      expect(answerTo(11)).toMatchObject({ result: { structuredContent: { response: 'the last answer' } } });
    },
  );

  test('over HTTP a token is needed, which lies in a file of the owner alone; a restart keeps conversations', async () => {
    const place = await prepare([{ text: 'one' }, { text: 'two' }], '--name', 'cocode');
    const first = await listen(place);
    expect(statSync(first.tokenFile).mode & 0o777).toBe(0o600);
    const refused = await fetch(first.url, { method: 'POST', body: '{}' });
    expect(refused.status).toBe(401);
    const begun = await callModern(first, 'cocode', { prompt: 'begin' });
    first.started.child.kill('SIGTERM');
    expect((await first.started.done).code).toBe(0);
    const second = await listen(place);
    const { session_id } = begun.structuredContent;
    const reply = await callModern(second, 'cocode-reply', { session_id, message: 'go on' });
    expect(reply.structuredContent).toEqual({ response: 'two' });
  });

  test('that no token is needed is told at each start', async () => {
    const { sandbox, args } = await prepare([]);
    const started = sandbox.spawn([...args, '--port', '0', '--no-token']);
    onTestFinished(() => void started.child.kill('SIGTERM'));
    await waitFor(() => expect(started.seen.out).toContain('No token is needed'));
    expect(started.seen.out).toMatch(/^The agent is served at http:\/\/127\.0\.0\.1:\d+\/mcp until Ctrl-C\.\n/);
    const port = Number(/:(\d+)\//.exec(started.seen.out)?.[1]);
    expect(await sandbox.spawn([...args, '--port', String(port)]).done).toMatchObject({
      code: 1,
      err: expect.stringContaining(`port ${port} cannot be used: another program has it`),
    });
  });

  test("a folder's own servers need their approval, also when a client asks for the folder", async () => {
    const { sandbox, args, model } = await prepare([
      { calls: [{ name: 'mcp__theirs__test_simple_text' }] },
      { text: 'done' },
    ]);
    const entry = { command: process.execPath, args: [toolServer, 'stdio'] };
    sandbox.write('inner/.mcp.json', { mcpServers: { theirs: entry } });
    const input = lines([
      request(1, 'initialize', hello),
      request(2, 'tools/call', { name: 'plexus', arguments: { prompt: 'begin', cwd: 'inner' } }),
      request(3, 'tools/call', { name: 'plexus', arguments: { prompt: 'begin', cwd: '..' } }),
    ]);
    const { out } = await sandbox.spawn(args, { input: `${input}\n` }).done;
    expect(out).toContain('"response":"done"');
    expect(out).toContain('This agent does not work in the folder ..');
    expect(JSON.stringify(model.requests[1]?.body)).not.toContain('This is a simple text response');
  });
});

async function callModern({ url, headers }: Address, name: string, args: JsonObject): Promise<Result> {
  const client = new Client2(info, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new Http2(new URL(url), { requestInit: { headers } }));
  try {
    return (await client.callTool({ name, arguments: args })) as never;
  } finally {
    await client.close();
  }
}
