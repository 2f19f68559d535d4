// Owns the client that the conformance suite starts, once per scenario: `client.mjs <server-url>`. It only drives Plexus;
// whatever a scenario checks must be done by Plexus itself.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = '{}', PLEXUS_DIST } = process.env;
const { createRuntime } = await import(new URL(PLEXUS_DIST ?? '../../dist/index.js', import.meta.url));

/** All at once, so that the suite sees whether they keep apart. */
const callEach = (tools) =>
  JSON.parse(context).toolCalls?.map((call) => [call.name, call.arguments]) ??
  tools.map(({ id, inputSchema }) => [id.tool, sampleOf(inputSchema)]);

const byScenario = {
  'json-schema-ref-no-deref': () => [],
  'json-schema-2020-12-preservation': (tools) => [
    ['json_schema_echo', { schema: tools.find(({ id }) => id.tool === 'json_schema_2020_12_tool').inputSchema }],
  ],
};

const samples = { string: 'text', number: 2.5, integer: 2, boolean: true, object: {}, array: [], null: null };
const sampleOf = ({ properties, required = [] }) =>
  Object.fromEntries(required.map((name) => [name, samples[properties[name].type]]));

/** Nothing is remembered from one scenario to the next: they take turns at the same ports. */
const home = mkdtempSync(join(tmpdir(), 'plexus-conformance-'));
const mcp = await createRuntime({
  servers: { server: { url: process.argv.at(-1), transport: 'http' } },
  discover: false,
  home,
  env: {},
  permissions: [{ tool: '*', action: 'allow' }],
  elicit: async () => ({ action: 'accept', content: {} }),
});
try {
  const { notReady } = await mcp.ready();
  if (notReady.length > 0) throw new Error(`not ready: ${JSON.stringify(notReady)}`);
  const turn = mcp.turn();
  const calls = (byScenario[scenario] ?? callEach)(turn.tools).map(async ([tool, args]) => {
    const { text, isError } = await turn.call(`mcp__server__${tool}`, args);
    console.log(text);
    if (isError) process.exitCode = 1;
  });
  await Promise.all(calls);
} finally {
  await mcp.close();
  rmSync(home, { recursive: true, force: true });
}
