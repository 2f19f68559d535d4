// Owns an agent with LangChain: one question, answered by a model that may read a folder of notes.
// It needs `langchain`, `@langchain/openai` and a key in OPENAI_API_KEY; OPENAI_BASE_URL names another server of the same API.

import { fileURLToPath } from 'node:url';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';
import { createRuntime } from 'plexus';
import { mcpMiddleware } from 'plexus/langchain';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const mcp = await createRuntime({
  cwd: here('../..'),
  config: here('../sample-fleet/fleet.toml'),
  permissions: [{ tool: 'mcp__files__*', action: 'allow' }],
});
await mcp.ready();
try {
  const agent = createAgent({
    model: new ChatOpenAI({ model: process.env.MODEL ?? 'gpt-5-mini', useResponsesApi: true }),
    middleware: [mcpMiddleware(mcp, { tools: ['mcp__files__*'] })],
  });
  const { messages } = await agent.invoke({ messages: process.argv[2] ?? 'What do the notes say?' });
  for (const { name } of messages.flatMap((message) => message.tool_calls ?? [])) console.log(`called ${name}`);
  console.log(messages.at(-1).text);
} finally {
  await mcp.close();
}
