// Owns the smallest agent with the AI SDK and Plexus: it reads a note through a file server and says what is in it.
// Run it in the repository, with a key of yours: OPENAI_API_KEY=... node examples/ai-sdk/main.mjs

import { fileURLToPath } from 'node:url';
import { openai } from '@ai-sdk/openai';
import { generateText, stepCountIs } from 'ai';
import { createRuntime } from 'plexus';
import { aiTools } from 'plexus/ai-sdk';

const mcp = await createRuntime({
  cwd: fileURLToPath(new URL('../..', import.meta.url)),
  discover: false,
  servers: {
    files: {
      command: 'node',
      args: ['node_modules/@modelcontextprotocol/server-filesystem/dist/index.js', 'examples/sample-fleet/notes'],
    },
  },
  // Without a rule, and without `approve`, no tool is called: the run ends with a question.
  permissions: [{ tool: 'mcp__files__read_*', action: 'allow' }],
});
await mcp.ready();

const { tools, prepareStep, systemPrompt } = aiTools(mcp);
const { text } = await generateText({
  model: openai(process.env.MODEL ?? 'gpt-5'),
  system: systemPrompt,
  prompt: 'What is in the note welcome.md?',
  tools,
  prepareStep,
  stopWhen: stepCountIs(20),
});
console.log(text);
await mcp.close();
