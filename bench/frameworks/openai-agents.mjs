// Owns how users of `@openai/agents` run the calls of an answer: both the adapter of Plexus and a server that does nothing are one of an
// agent's `mcpServers`, and the SDK makes its function tools of them.

export const loadFramework = () => import('@openai/agents');
export const loadDoor = () => import('plexus/openai-agents');

async function functionTools(server) {
  const { getAllMcpTools, RunContext } = await import('@openai/agents');
  const context = new RunContext();
  const tools = await getAllMcpTools({ mcpServers: [server], runContext: context });
  const named = new Map(tools.map((tool) => [tool.name, tool]));
  const call = async (name, args, callId) => {
    const input = JSON.stringify(args);
    const toolCall = { type: 'function_call', name, callId, arguments: input };
    return (await named.get(name).invoke(context, input, { toolCall })).text;
  };
  return { call };
}

/** The framework's own call of a server's tool. */
export async function openEmpty({ name, description, inputSchema }) {
  const required = { required: [], additionalProperties: false };
  const shown = nameShown(name);
  const { call } = await functionTools({
    name: 'empty',
    cacheToolsList: false,
    connect: async () => undefined,
    close: async () => undefined,
    invalidateToolsCache: async () => undefined,
    listTools: async () => [{ name: shown, description, inputSchema: { ...inputSchema, ...required } }],
    callTool: async () => [{ type: 'text', text: '' }],
  });
  return (args, id) => call(shown, args, id);
}

export async function adapt(source) {
  const { agentsServer } = await loadDoor();
  const server = agentsServer(source);
  const { length: tools } = await server.listTools();
  // What the SDK makes of the list is no part of the adapter's start.
  let opened;
  const call = async (name, args, id) => {
    opened ??= await functionTools(server);
    return opened.call(nameShown(name), args, id);
  };
  return { tools, call };
}

/** The SDK takes no other characters. */
const nameShown = (name) => name.replace(/[^a-zA-Z0-9]/g, '_');
