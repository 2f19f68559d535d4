// Owns the smallest agent with `@google/genai` and Plexus: it reads a note through a file server and says what is in it.
// Run it in the repository, with a key of yours: GEMINI_API_KEY=... node examples/google/main.mjs

import { fileURLToPath } from 'node:url';
import { GoogleGenAI } from '@google/genai';
import { createRuntime } from 'plexus';
import { fleetTool } from 'plexus/google';

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

const client = new GoogleGenAI({});
const fleet = fleetTool(mcp);
const { text } = await client.models.generateContent({
  model: process.env.MODEL ?? 'gemini-3-flash',
  contents: 'What is in the note welcome.md?',
  config: { tools: [fleet], systemInstruction: fleet.systemPrompt() },
});
console.log(text);
await mcp.close();
