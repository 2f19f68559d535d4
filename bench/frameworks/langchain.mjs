// Owns how users of LangChain open their servers: with the adapter of Plexus, and with LangChain's own.

export const loadFramework = () => Promise.all([import('@langchain/core/tools'), import('@langchain/core/messages')]);
export const loadDoor = () => import('plexus/langchain');
export const loadPeer = () => import('@langchain/mcp-adapters');

/** The framework's own call of a tool that does nothing. */
export async function openEmpty({ name, description, inputSchema: schema }) {
  const { DynamicStructuredTool } = await import('@langchain/core/tools');
  const fields = { name, description, schema, responseFormat: 'content_and_artifact' };
  const tool = new DynamicStructuredTool({ ...fields, func: async () => ['', {}] });
  return (args, id) => tool.invoke({ type: 'tool_call', id, name, args });
}

export async function adapt(source) {
  const { langchainTools } = await loadDoor();
  const { tools } = langchainTools(source);
  const named = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    tools: tools.length,
    call: async (name, args, id) => (await named.get(name).invoke({ type: 'tool_call', id, name, args })).content,
  };
}

/** All servers in one client, as its page shows it. */
export async function openPeer(servers) {
  const { MultiServerMCPClient } = await loadPeer();
  const entries = Object.entries(servers).map(([name, entry]) => [name, { transport: 'stdio', ...entry }]);
  const client = new MultiServerMCPClient({ mcpServers: Object.fromEntries(entries) });
  const tools = await client.getTools();
  const echo = tools.find((tool) => tool.name === 'echo');
  return {
    tools: tools.length,
    call: async (args, id) => (await echo.invoke({ type: 'tool_call', id, name: 'echo', args })).content,
  };
}
