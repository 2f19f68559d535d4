// Owns driving LangChain as a host does: `createAgent` with the middleware, with and without streaming, and a graph's node for tools
// in a loop of the host's own.

import { type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';
import { langchainTools, mcpMiddleware } from '../../../src/adapters/langchain.ts';
import type { Driver, Task } from '../situations.ts';

export async function openDrivers(): Promise<Readonly<Record<string, Driver>>> {
  return {
    createAgent: { run: (task) => runAgent(task, false) },
    // Of a stream LangChain takes what it can read of the arguments.
    'createAgent, streaming': { run: (task) => runAgent(task, true), badArguments: /ARGUMENTS_BAD/ },
    'bindTools and ToolNode': {
      run: runNode,
      keepsTools: true,
      unknownTool: /not found/,
      badArguments: /not valid JSON/,
    },
  };
}

const modelOf = ({ url }: Task, streaming: boolean) =>
  new ChatOpenAI({
    model: 'scripted',
    apiKey: 'none',
    configuration: { baseURL: `${url}/v1` },
    useResponsesApi: true,
    maxRetries: 0,
    streaming,
  });

async function runAgent(task: Task, streaming: boolean): Promise<string> {
  const middleware = [mcpMiddleware(task.source.view(), task.options)];
  const agent = createAgent({ model: modelOf(task, streaming), middleware });
  const { messages } = await agent.invoke({ messages: task.prompt }, { signal: task.signal });
  return messages.at(-1)?.text ?? '';
}

async function runNode(task: Task): Promise<string> {
  const { tools, systemPrompt } = langchainTools(task.source.view(), task.options);
  const model = modelOf(task, false).bindTools(tools);
  const node = new ToolNode(tools);
  const { signal } = task;
  const messages: BaseMessage[] = [new SystemMessage(systemPrompt), new HumanMessage(task.prompt)];
  for (;;) {
    const message = await model.invoke(messages, { signal });
    const invalid = message.invalid_tool_calls ?? [];
    if (!message.tool_calls?.length && invalid.length === 0) return message.text;
    const refused = invalid.map(
      ({ id = '', error = '' }) => new ToolMessage({ tool_call_id: id, content: error, status: 'error' }),
    );
    messages.push(message, ...(await node.invoke([message], { signal })), ...refused);
  }
}
