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
  tools.map(({ id, definition }) => [id.tool, sampleOf(definition.inputSchema)]);

const byScenario = {
  'json-schema-ref-no-deref': () => [],
  'json-schema-2020-12-preservation': (tools) => [
    // As the server sent it: what a model is shown of it is another matter.
    ['json_schema_echo', { schema: schemaOf(tools, 'json_schema_2020_12_tool') }],
  ],
};

const schemaOf = (tools, name) => tools.find(({ id }) => id.tool === name).definition.inputSchema;

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
  const calls = (byScenario[scenario] ?? callEach)(mcp.getTools()).map(async ([tool, args]) => {
    const { text, isError } = await turn.call(`mcp__server__${tool}`, args);
    console.log(text);
    if (isError) process.exitCode = 1;
  });
  await Promise.all(calls);
  // What else it has is asked for as well, each thing once.
  const { resources } = await mcp.resources.list();
  for (const { uri, server } of resources) await mcp.resources.read(uri, { server });
  for (const { server, name, arguments: taken } of await mcp.prompts.list())
    await mcp.prompts.get(server, name, Object.fromEntries(taken.map((each) => [each.name, 'text'])));
} finally {
  await mcp.close();
  rmSync(home, { recursive: true, force: true });
}
