// Owns the smallest agent with LangChain and Plexus: it reads a note through a file server and says what is in it.
// Run it in the repository, with a key of yours: OPENAI_API_KEY=... node examples/langchain/main.mjs

import { fileURLToPath } from 'node:url';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';
import { createRuntime } from 'plexus';
import { mcpMiddleware } from 'plexus/langchain';

const mcp = await createRuntime({
  cwd: fileURLToPath(new URL('../..', import.meta.url)),
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

const model = new ChatOpenAI({ model: process.env.MODEL ?? 'gpt-5', useResponsesApi: true });
const agent = createAgent({ model, middleware: [mcpMiddleware(mcp)] });
const { messages } = await agent.invoke({ messages: 'What is in the note welcome.md?' });
console.log(messages.at(-1).text);
await mcp.close();
