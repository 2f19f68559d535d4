// Owns driving the package `openai` as a host with a loop of its own does: both APIs, with and without streaming.

import type OpenAI from 'openai-6';
import { chatTools, responsesTools } from '../../../src/adapters/openai.ts';
import type { Driver, Task } from '../situations.ts';

const model = 'scripted';

/** The majors differ in types alone here; `types.ts` holds the adapter against both. */
export async function openDrivers(major: string): Promise<Readonly<Record<string, Driver>>> {
  const { OpenAI: Client } = (
    major === '6' ? await import('openai-6') : await import('openai')
  ) as typeof import('openai-6');
  const clientOf = ({ url }: Task) => new Client({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  return {
    'chat completions': { run: (task) => chat(clientOf(task), task, false) },
    'chat completions, streaming': { run: (task) => chat(clientOf(task), task, true) },
    responses: { run: (task) => respond(clientOf(task), task, false) },
    'responses, streaming': { run: (task) => respond(clientOf(task), task, true) },
  };
}

async function chat(client: OpenAI, { source, options, prompt, signal }: Task, stream: boolean): Promise<string> {
  const mcp = chatTools(source, options);
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: mcp.systemPrompt() },
    { role: 'user', content: prompt },
  ];
  for (;;) {
    const request = { model, messages, tools: mcp.tools() };
    const { choices } = stream
      ? await client.chat.completions.stream(request, { signal }).finalChatCompletion()
      : await client.chat.completions.create(request, { signal });
    const message = choices[0]?.message;
    if (!message?.tool_calls?.length) return message?.content ?? '';
    messages.push(message, ...(await mcp.run(message.tool_calls)));
  }
}

async function respond(client: OpenAI, { source, options, prompt, signal }: Task, stream: boolean): Promise<string> {
  const mcp = responsesTools(source, options);
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: prompt }];
  for (;;) {
    const request = { model, input, instructions: mcp.systemPrompt(), tools: mcp.tools() };
    const response = stream
      ? await client.responses.stream(request, { signal }).finalResponse()
      : await client.responses.create(request, { signal });
    const results = await mcp.run(response.output);
    if (results.length === 0) return response.output_text;
    input.push(...(response.output as OpenAI.Responses.ResponseInput), ...results);
  }
}
