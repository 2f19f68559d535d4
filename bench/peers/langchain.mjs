// Owns how users of LangChain's adapters open their servers.

import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { openEach } from '../open-each.mjs';

export const open = (servers, awaited) => openEach(openOne, servers, awaited);

async function openOne(entry, name) {
  const transport = entry.url === undefined ? 'stdio' : 'http';
  const client = new MultiServerMCPClient({ mcpServers: { [name]: { transport, ...entry } } });
  const tools = await client.getTools();
  const echo = tools.find((tool) => tool.name === 'echo');
  return { tools: tools.length, call: (args) => echo.invoke(args), close: () => client.close() };
}
