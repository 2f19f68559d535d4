// Owns the proof that the MCP Inspector's command line uses `plexus agent`: it lists, calls and reads, over stdio and HTTP. The
// Inspector is installed beside this file when the test runs; where that is impossible the tests are skipped, and say why.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { installPinned, PackagesMissing } from '../../scripts/pinned-packages.mjs';
import { commandOf, listen, type Place, prepare } from '../e2e/agent-program.ts';

const NODE = 24;
const inspector = join(
  import.meta.dirname,
  'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
);

/** The Node that runs the Inspector, or why there is none. */
function install(): { readonly node: string } | { readonly missing: string } {
  try {
    return { node: installPinned(import.meta.dirname, { what: 'the Inspector', needsNode: NODE }) };
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
