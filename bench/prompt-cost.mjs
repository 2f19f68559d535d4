// Owns `npm run bench:prompt`: what a model reads before it has searched for anything, of all servers whose tools are known from
// the shared data, each with instructions of 500 characters. More than 2,000 tokens, or other bytes in another order, fails.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { setUp } from '../scripts/setup.mjs';
import { importSources } from './sources.mjs';

const MOST_TOKENS = 2_000;
const INSTRUCTION_CHARS = 500;

const { values } = parseArgs({
  options: {
    data: {
      type: 'string',
      default: fileURLToPath(new URL('../../shared/data/server-tools/tools.jsonl.gz', import.meta.url)),
    },
    json: { type: 'boolean', default: false },
  },
});

process.exitCode = await main(values);

async function main({ data, json }) {
  if (!existsSync(data)) {
    console.error(`SKIPPED: NOTHING WAS MEASURED. There is no ${data}; give another file with --data.`);
    return 0;
  }
  setUp();
  const { tokens: counting } = await importSources({ tokens: 'kernel/tokens.ts' });
  const { estimateTokens } = counting;
  const servers = readServers(data);
  const read = await readAll(servers);
  const orders = [servers.toReversed(), servers.toSorted((a, b) => a.tools.length - b.tools.length)];
  const others = await Promise.all(orders.map(readAll));
  const isSame = others.every(({ before }) => JSON.stringify(before) === JSON.stringify(read.before));
  const parts = Object.entries(read.before).map(([name, text]) => ({
    name,
    chars: text.length,
    tokens: Math.ceil(estimateTokens(text)),
  }));
  const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
  const tools = servers.reduce((sum, server) => sum + server.tools.length, 0);
  const search = { chars: read.search.length, tokens: Math.ceil(estimateTokens(read.search)) };
  const report = { servers: servers.length, tools, tokens, parts, search, isSame };
  console.log(json ? JSON.stringify(report, null, 2) : tableOf(report));
  return tokens <= MOST_TOKENS && isSame ? 0 : 1;
}

function readServers(file) {
  const lines = gunzipSync(readFileSync(file)).toString('utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}

/** Connects the servers one after the other, in the order given, and keeps all that a model reads. */
async function readAll(servers) {
  const { createRuntime } = await import('plexus');
  const entries = servers.map((server) => [server.server, { serve: serve(server), lifecycle: 'manual' }]);
  const mcp = await createRuntime({ discover: false, servers: Object.fromEntries(entries) });
  try {
    for (const { server } of servers) {
      await mcp.reconnect(server);
      await mcp.ready();
    }
    const turn = mcp.turn();
    const definitions = turn.tools.map(({ name, description, inputSchema }) => [
      name,
      JSON.stringify({ name, description, inputSchema }),
    ]);
    const { text } = await turn.call('mcp_search', { query: 'create an issue' });
    return { before: { 'system prompt': turn.systemPrompt, ...Object.fromEntries(definitions) }, search: text };
  } finally {
    await mcp.close();
  }
}

function serve({ server, tools }) {
  const instructions = `How to use ${server}: list before you change anything. `.repeat(20).slice(0, INSTRUCTION_CHARS);
  const results = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {}, resources: {}, prompts: {} },
      serverInfo: { name: server, version: '1.0.0' },
      instructions,
    }),
    'tools/list': () => ({ tools }),
    'resources/list': () => ({ resources: [] }),
    'prompts/list': () => ({ prompts: [] }),
  };
  return async (channel) => {
    channel.onmessage = ({ id, method, params }) => {
      if (id === undefined) return;
      const result = results[method]?.(params);
      const answer = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
      void channel.send({ jsonrpc: '2.0', id, ...answer });
    };
    await channel.start();
  };
}

function tableOf({ servers, tools, tokens, parts, search, isSame }) {
  const row = ({ name, chars, tokens: own }) =>
    `${name.padEnd(18)}${String(chars).padStart(7)}${String(own).padStart(8)}`;
  const total = { name: 'all', chars: parts.reduce((sum, { chars }) => sum + chars, 0), tokens };
  return [
    `${servers} servers, ${tools} tools, instructions of ${INSTRUCTION_CHARS} characters each; before anything was found:`,
    '',
    `${'PART'.padEnd(18)}  CHARS  TOKENS`,
    ...parts.map(row),
    row(total),
    '',
    `at most ${MOST_TOKENS} tokens: ${tokens <= MOST_TOKENS ? 'kept' : 'BROKEN'}; the same bytes in three orders of arrival: ${isSame ? 'kept' : 'BROKEN'}`,
    `a first search, with the instructions of the servers it shows: ${search.tokens} tokens`,
  ].join('\n');
}
