// Owns how tests open every adapter in the same way: the tools that its framework is given, and a call as the framework makes it. The
// adapter of LangChain needs its package: `test/frameworks` adds it.

import { aiTools } from '../../../src/adapters/ai-sdk.ts';
import { messagesTools, runnerTools } from '../../../src/adapters/anthropic.ts';
import { fleetTool } from '../../../src/adapters/google.ts';
import { chatTools, responsesTools } from '../../../src/adapters/openai.ts';
import { agentsServer, agentsTools } from '../../../src/adapters/openai-agents.ts';
import type { AdapterOptions, ToolSource } from '../../../src/adapters/toolset.ts';

export interface OpenedDoor {
  /** As the framework asks for them before a request. */
  tools(): readonly GivenTool[] | Promise<readonly GivenTool[]>;
  /** Gives all that the framework is handed: what the model reads, and what is kept in its messages. */
  call(name: string, args: unknown): Promise<unknown>;
}

export interface GivenTool {
  readonly name: string;
  readonly schema: unknown;
}

export type OpenDoor = (source: ToolSource, options?: AdapterOptions) => OpenedDoor;

/** All that was handed over as one text. */
export const textOf = (handed: unknown) => (handed instanceof Error ? handed.message : JSON.stringify(handed));

export const id = 'c1';

export const everyDoor: Readonly<Record<string, OpenDoor>> = {
  'the AI SDK': (source, options) => {
    const { tools, prepareStep } = aiTools(source, options);
    return {
      tools() {
        prepareStep();
        return Object.entries(tools).map(([name, { inputSchema }]) => ({ name, schema: inputSchema.jsonSchema }));
      },
      async call(name, args) {
        const tool = tools[name];
        const output = await tool?.execute(args, { toolCallId: id, messages: [] });
        return { output, read: output && tool?.toModelOutput({ output }) };
      },
    };
  },
  'OpenAI, chat completions': (source, options) => {
    const mcp = chatTools(source, options);
    return {
      tools: () => mcp.tools().map(({ function: { name, parameters: schema } }) => ({ name, schema })),
      call: (name, args) => mcp.run([{ id, function: { name, arguments: JSON.stringify(args) } }]),
    };
  },
  'OpenAI, responses': (source, options) => {
    const mcp = responsesTools(source, options);
    return {
      tools: () => mcp.tools().map(({ name, parameters: schema }) => ({ name, schema })),
      call: (name, args) => mcp.run([{ type: 'function_call', call_id: id, name, arguments: JSON.stringify(args) }]),
    };
  },
  'OpenAI Agents, a server': (source, options) => {
    const mcp = agentsServer(source, options);
    return {
      tools: async () => (await mcp.listTools()).map(({ name, inputSchema: schema }) => ({ name, schema })),
      call: (name, args) => mcp.callTool(name, args as Record<string, unknown>),
    };
  },
  'OpenAI Agents, function tools': (source, options) => {
    const mcp = agentsTools(source, options);
    return {
      tools: () => mcp.tools().map(({ name, parameters: schema }) => ({ name, schema })),
      call: async (name, args) => named(mcp.tools(), name)?.invoke({}, JSON.stringify(args)),
    };
  },
  'Anthropic, messages': (source, options) => {
    const mcp = messagesTools(source, options);
    return {
      tools: () => mcp.tools().map(({ name, input_schema: schema }) => ({ name, schema })),
      call: (name, input) => mcp.run([{ type: 'tool_use', id, name, input }]),
    };
  },
  'Anthropic, tool runner': (source, options) => {
    const mcp = runnerTools(source, options);
    return {
      tools: () => mcp.tools().map(({ name, input_schema: schema }) => ({ name, schema })),
      call: async (name, input) =>
        named(mcp.tools(), name)
          ?.run(input)
          .catch((error: unknown) => error),
    };
  },
  Google: (source, options) => {
    const mcp = fleetTool(source, options);
    return {
      tools: async () =>
        (await mcp.tool()).functionDeclarations.map(({ name, parametersJsonSchema: schema }) => ({ name, schema })),
      call: (name, args) => mcp.callTool([{ id, name, args: args as Record<string, unknown> }]),
    };
  },
};

const named = <Named extends { readonly name: string }>(all: readonly Named[], name: string) =>
  all.find((each) => each.name === name);
