// Owns the smallest agent with `openai` and Plexus: it reads a note through a file server and says what is in it.
// Run it in the repository, with a key of yours: OPENAI_API_KEY=... node examples/openai/main.mjs

import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import { createRuntime } from 'plexus';
import { responsesTools } from 'plexus/openai';

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

const client = new OpenAI();
const { tools, systemPrompt, run } = responsesTools(mcp);
const input = [{ role: 'user', content: 'What is in the note welcome.md?' }];
for (;;) {
  const request = { model: process.env.MODEL ?? 'gpt-5', input, instructions: systemPrompt(), tools: tools() };
  const response = await client.responses.create(request);
  const results = await run(response.output);
  input.push(...response.output, ...results);
  if (results.length > 0) continue;
  console.log(response.output_text);
  break;
}
await mcp.close();
