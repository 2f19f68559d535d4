// Owns how users of mcp-use open their servers.

import { MCPClient } from 'mcp-use/client';
import { openEach } from '../open-each.mjs';

export const open = (servers, awaited) => openEach(openOne, servers, awaited);

async function openOne(entry, name) {
  const client = MCPClient.fromDict({ mcpServers: { [name]: entry } });
  const session = await client.createSession(name);
  const tools = await session.listTools();
  return {
    tools: tools.length,
    call: async (args) => (await session.callTool('echo', args)).content[0].text,
    close: () => client.closeAllSessions(),
  };
}
