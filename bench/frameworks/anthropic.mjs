// Owns how users of `@anthropic-ai/sdk` run the calls of an answer: with the adapter of Plexus, and with a tool of the SDK's own kind.

export const loadFramework = () =>
  Promise.all([import('@anthropic-ai/sdk'), import('@anthropic-ai/sdk/helpers/beta/json-schema')]);
export const loadDoor = () => import('plexus/anthropic');

/** As the SDK's tool runner calls a tool. */
async function callTool(tool, input, id) {
  const content = await tool.run(tool.parse(input), { toolUse: { type: 'tool_use', id, name: tool.name, input } });
  return { type: 'tool_result', tool_use_id: id, content };
}

/** The framework's own tool, which does nothing. */
export async function openEmpty({ name, description, inputSchema }) {
  const { betaTool } = await import('@anthropic-ai/sdk/helpers/beta/json-schema');
  const tool = betaTool({ name, description, inputSchema, run: async () => '' });
  return (args, id) => callTool(tool, args, id);
}

export async function adapt(source) {
  const { runnerTools } = await loadDoor();
  const tools = runnerTools(source).tools();
  const named = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    tools: tools.length,
    call: async (name, args, id) => (await callTool(named.get(name), args, id)).content,
  };
}
