// Owns the main job on an embedded default: a sample fleet, its status, its tools, and one real call.

import { fileURLToPath } from 'node:url';
import { createRuntime } from 'plexus';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

console.error('starting three servers …');
const mcp = await createRuntime({ cwd: here('../..'), config: here('fleet.toml'), interactive: false });
// From the second run on, the tools are known from the cache before their servers are up.
await mcp.ready();
try {
  console.log('Servers (how many tools each offers, and the version of the protocol it speaks)');
  for (const { name, state, toolCount, protocol, error } of mcp.status()) {
    console.log(`  ${name.padEnd(12)} ${state.padEnd(10)} ${error?.message ?? `${toolCount} tools, MCP ${protocol}`}`);
  }

  const turn = mcp.turn();
  const offered = mcp.getStats().tools;
  const own = turn.tools.length - offered;
  console.log(
    `\nTools (${turn.tools.length} that a model is shown: ${offered} of the servers, ${own} of Plexus itself)`,
  );
  const widest = Math.max(...turn.tools.map(({ name }) => name.length));
  for (const { name, description } of turn.tools)
    console.log(`  ${name.padEnd(widest)}  ${firstSentence(description)}`);

  const path = here('notes/welcome.md');
  console.log(`\nCalling mcp__files__read_text_file, as a model would. What the model reads:\n`);
  const { text, meta } = await turn.call('mcp__files__read_text_file', { path });
  console.log(text);
  console.log(`\nThe call took ${meta.durationMs} ms: the checks of Plexus and the work of the server.\n`);
  console.log('Use your own servers:');
  console.log('  npm install --global .      puts plexus on your path');
  console.log(
    '  plexus import               copies the servers of Claude, Codex, Cursor, VS Code and others; it asks first',
  );
  console.log('  plexus add NAME -- COMMAND  adds one by hand');
  console.log('  plexus list                 shows them\n');
} finally {
  await mcp.close();
}

function firstSentence(text) {
  const [sentence] = text.trim().split(/(?<=\.)\s|\n/, 1);
  return sentence.length > 70 ? `${sentence.slice(0, 69)}…` : sentence;
}
