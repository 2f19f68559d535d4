// Owns an agent with the AI SDK: one question, answered by a model that may read a folder of notes.
// It needs `ai`, `@ai-sdk/openai` and a key in OPENAI_API_KEY; OPENAI_BASE_URL names another server of the same API.

import { fileURLToPath } from 'node:url';
import { openai } from '@ai-sdk/openai';
import { generateText, stepCountIs } from 'ai';
import { createRuntime } from 'plexus';
import { aiTools } from 'plexus/ai-sdk';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const mcp = await createRuntime({
  cwd: here('../..'),
  config: here('../sample-fleet/fleet.toml'),
  permissions: [{ tool: 'mcp__files__*', action: 'allow' }],
});
await mcp.ready();
try {
  const { tools, prepareStep, systemPrompt } = aiTools(mcp, { tools: ['mcp__files__*'] });
  const { text, steps } = await generateText({
    model: openai(process.env.MODEL ?? 'gpt-5-mini'),
    system: systemPrompt,
    prompt: process.argv[2] ?? 'What do the notes say?',
    tools,
    prepareStep,
    stopWhen: stepCountIs(20),
  });
  for (const { toolName } of steps.flatMap((step) => step.toolCalls)) console.log(`called ${toolName}`);
  console.log(text);
} finally {
  await mcp.close();
}
