// Owns the smallest agent with `@anthropic-ai/sdk` and Plexus: it reads a note through a file server and says what is in it.
// Run it in the repository, with a key of yours: ANTHROPIC_API_KEY=... node examples/anthropic/main.mjs

import { fileURLToPath } from 'node:url';
import Anthropic from '@anthropic-ai/sdk';
import { createRuntime } from 'plexus';
import { runnerTools } from 'plexus/anthropic';

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

const client = new Anthropic();
const { tools, systemPrompt } = runnerTools(mcp);
const { content } = await client.beta.messages.toolRunner({
  model: process.env.MODEL ?? 'claude-sonnet-5-5',
  max_tokens: 2000,
  system: systemPrompt(),
  messages: [{ role: 'user', content: 'What is in the note welcome.md?' }],
  tools: tools(),
});
console.log(content.map((block) => block.text ?? '').join(''));
await mcp.close();
