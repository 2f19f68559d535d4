// Owns the proof that the MCP Inspector's command line uses `plexus agent` and the gateway: it lists, calls and reads; and that SDK v1 uses
// the gateway through mcp-remote. Both programs are installed beside this file when the tests run; where that is impossible they are
// skipped, and say why.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { installPinned, PackagesMissing } from '../../scripts/pinned-packages.mjs';
import { commandOf, listen, type Place, prepare } from '../e2e/agent-program.ts';
import { visitBySdk1 } from '../e2e/visits.ts';
import { startGateway } from '../servers/gateway.mjs';

const NODE = 24;
const inspector = join(
  import.meta.dirname,
  'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
);

const mcpRemote = join(import.meta.dirname, 'node_modules/mcp-remote/dist/proxy.js');
const fixture = fileURLToPath(new URL('../servers/conformance-sdk.mjs', import.meta.url));

/** The Node that runs them, or why there is none. */
function install(): { readonly node: string } | { readonly missing: string } {
  try {
    return { node: installPinned(import.meta.dirname, { what: 'the Inspector and mcp-remote', needsNode: NODE }) };
  } catch (error) {
    if (!(error instanceof PackagesMissing)) throw error;
    return { missing: error.message };
  }
}

const installed = install();

/** How the Inspector reaches the agent. */
type Target = readonly string[];

async function stdioTarget(place: Place): Promise<Target> {
  const config = place.sandbox.write('inspector.json', { mcpServers: { agent: commandOf(place) } });
  return ['--config', config, '--server', 'agent'];
}

async function httpTarget(place: Place): Promise<Target> {
  const { url, headers } = await listen(place);
  return ['--transport', 'http', '--server-url', url, '--header', `Authorization: ${headers.Authorization}`];
}

describe.each([
  ['stdio', stdioTarget],
  ['http', httpTarget],
] as const)('over %s', (_, targetOf) => {
  if ('missing' in installed) {
    test.skip(`NOT RUN: ${installed.missing}`);
    return;
  }
  test('it lists the tools, begins a conversation, replies to it, and reads it', async () => {
    const place = await prepare([{ text: 'one' }, { text: 'two' }]);
    const target = await targetOf(place);
    const inspect = async (...args: readonly string[]) => {
      const words = [inspector, '--cli', ...target, ...args];
      const { stdout } = await promisify(execFile)(installed.node, words, { env: commandOf(place).env });
      return JSON.parse(stdout);
    };
    const { tools } = await inspect('--method', 'tools/list');
    expect(tools).toMatchObject([{ name: 'plexus' }, { name: 'plexus-reply' }]);
    const begun = await inspect('--method', 'tools/call', '--tool-name', 'plexus', '--tool-arg', 'prompt=begin');
    const { session_id } = begun.structuredContent;
    expect(begun.structuredContent).toEqual({ session_id, response: 'one' });
    const args = [`session_id=${session_id}`, 'message=go on'].flatMap((pair) => ['--tool-arg', pair]);
    const reply = await inspect('--method', 'tools/call', '--tool-name', 'plexus-reply', ...args);
    expect(reply.structuredContent).toEqual({ response: 'two' });
    const { resources } = await inspect('--method', 'resources/list');
    const uri = `conversation://plexus/${session_id}`;
    expect(resources).toMatchObject([{ uri, title: 'begin' }]);
    const { contents } = await inspect('--method', 'resources/read', '--uri', uri);
    expect(JSON.parse(contents[0].text)).toMatchObject({ messages: [{ text: 'begin' }, {}, {}, { text: 'two' }] });
  });
});

describe.each(['legacy', 'modern'])('the gateway in front of a %s server', (era) => {
  if ('missing' in installed) {
    test.skip(`NOT RUN: ${installed.missing}`);
    return;
  }
  const { node } = installed;
  const open = async () => {
    const gateway = await startGateway({
      servers: { it: { command: process.execPath, args: [fixture, era] } },
      settings: { serving: { sampling: true } },
    });
    onTestFinished(async () => void (await gateway.stop()));
    return { url: `${gateway.origin}/mcp/s/it`, env: { PATH: process.env['PATH'] ?? '', HOME: gateway.home } };
  };

  test("the Inspector's command line lists, calls and reads", async () => {
    const { url, env } = await open();
    const inspect = async (...args: readonly string[]) => {
      const words = [inspector, '--cli', '--transport', 'http', '--server-url', url, ...args];
      return JSON.parse((await promisify(execFile)(node, words, { env })).stdout);
    };
    const { tools } = await inspect('--method', 'tools/list');
    expect(tools).toContainEqual(expect.objectContaining({ name: 'test_simple_text' }));
    expect(await inspect('--method', 'tools/call', '--tool-name', 'test_simple_text')).toMatchObject({
      content: [{ text: 'This is a simple text response for testing.' }],
    });
    expect(await inspect('--method', 'resources/read', '--uri', 'test://static-text')).toMatchObject({
      contents: [{ uri: 'test://static-text' }],
    });
  });

  test('SDK v1 through mcp-remote', async () => {
    const { url, env } = await open();
    const transport = new StdioClientTransport({ command: node, args: [mcpRemote, url], env, stderr: 'ignore' });
    await visitBySdk1(transport, { notFound: era === 'legacy' ? -32602 : -32002 });
  });
});
