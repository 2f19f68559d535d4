// Owns the smallest agent with `@openai/agents` and Plexus: it reads a note through a file server and says what is in it.
// Run it in the repository, with a key of yours: OPENAI_API_KEY=... node examples/openai-agents/main.mjs

import { fileURLToPath } from 'node:url';
import { Agent, run } from '@openai/agents';
import { createRuntime } from 'plexus';
import { agentsServer } from 'plexus/openai-agents';

const root = fileURLToPath(new URL('../..', import.meta.url));
const mcp = await createRuntime({
  cwd: root,
  discover: false,
  servers: {
    files: {
      command: 'node',
      args: ['node_modules/@modelcontextprotocol/server-filesystem/dist/index.js', 'examples/sample-fleet/notes'],
    },
  },
  // Without a rule, and without `approve`, no tool is called: the model is told so.
  permissions: [{ tool: 'mcp__files__read_*', action: 'allow' }],
});
await mcp.ready();

const server = agentsServer(mcp);
const agent = new Agent({
  name: 'Reader',
  model: process.env.MODEL ?? 'gpt-5',
  instructions: () => server.systemPrompt(),
  mcpServers: [server],
});
const { finalOutput } = await run(agent, 'What is in the note welcome.md?');
console.log(finalOutput);
await mcp.close();
