// Owns how users of the AI SDK open their servers: with the adapter of Plexus, and with the SDK's own client.

export const loadFramework = () => Promise.all([import('ai'), import('@ai-sdk/provider-utils')]);
export const loadDoor = () => import('plexus/ai-sdk');
export const loadPeer = () => Promise.all([import('@ai-sdk/mcp'), import('@ai-sdk/mcp/mcp-stdio')]);

/** As the SDK runs a call and hands on its output. */
async function caller() {
  const { executeTool } = await import('@ai-sdk/provider-utils');
  return async (tool, input, toolCallId) => {
    let output;
    for await (const part of executeTool({ tool, input, options: { toolCallId, messages: [] } })) output = part.output;
    return tool.toModelOutput({ toolCallId, input, output });
  };
}

/** The framework's own call of a tool that does nothing. */
export async function openEmpty({ description, inputSchema }) {
  const { dynamicTool, jsonSchema } = await import('ai');
  const run = await caller();
  const toModelOutput = ({ output }) => ({ type: 'text', value: output });
  const tool = dynamicTool({
    description,
    inputSchema: jsonSchema(inputSchema),
    execute: async () => '',
    toModelOutput,
  });
  return (args, id) => run(tool, args, id);
}

export async function adapt(source) {
  const { aiTools } = await loadDoor();
  const { tools } = aiTools(source);
  const run = await caller();
  return {
    tools: Object.keys(tools).length,
    call: async (name, args, id) => (await run(tools[name], args, id)).value,
  };
}

/** One client for each server, all opened at once. */
export async function openPeer(servers) {
  const [{ createMCPClient }, { Experimental_StdioMCPTransport: Transport }] = await loadPeer();
  const opened = await Promise.all(
    Object.values(servers).map(async (entry) => (await createMCPClient({ transport: new Transport(entry) })).tools()),
  );
  const tools = Object.assign({}, ...opened);
  const run = await caller();
  return {
    tools: opened.reduce((sum, each) => sum + Object.keys(each).length, 0),
    call: async (args, id) => (await run(tools.echo, args, id)).value[0].text,
  };
}
