// Owns the main job on an embedded default: a sample fleet, its status, its tools, and one real call.

import { fileURLToPath } from 'node:url';
import { createRuntime } from 'plexus';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

console.error('starting three servers …');
const mcp = await createRuntime({ cwd: here('../..'), config: here('fleet.toml'), interactive: false });
// From the second run on, the tools are known from the cache before their servers are up.
await mcp.ready();
try {
  console.log('Servers');
  for (const { name, state, toolCount, protocol, error } of mcp.status()) {
    console.log(`  ${name.padEnd(12)} ${state.padEnd(10)} ${error?.message ?? `${toolCount} tools, MCP ${protocol}`}`);
  }

  const turn = mcp.turn();
  console.log(`\nTools (${turn.tools.length})`);
  for (const { name, description } of turn.tools) console.log(`  ${name.padEnd(46)} ${firstSentence(description)}`);

  const path = here('notes/welcome.md');
  console.log(`\nCalling mcp__files__read_text_file, as a model would. What the model reads:\n`);
  const { text, meta } = await turn.call('mcp__files__read_text_file', { path });
  console.log(text);
  console.log(`\nIt took ${meta.durationMs} ms.\n`);
  console.log('Try it yourself:');
  console.log('  node dist/cli.js list --config examples/sample-fleet/fleet.toml');
  console.log('  node dist/cli.js call everything get-sum a=19 b=23 --config examples/sample-fleet/fleet.toml');
} finally {
  await mcp.close();
}

function firstSentence(text) {
  const [sentence] = text.trim().split(/(?<=\.)\s|\n/, 1);
  return sentence.length > 70 ? `${sentence.slice(0, 69)}…` : sentence;
}
