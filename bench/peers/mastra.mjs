// Owns how users of Mastra open their servers.

import { MCPClient } from '@mastra/mcp';
import { openEach } from '../open-each.mjs';

export const open = (servers, awaited) => openEach(openOne, servers, awaited);

let opened = 0;

async function openOne({ url, ...command }, name) {
  opened += 1;
  const server = url === undefined ? command : { url: new URL(url) };
  const client = new MCPClient({ id: `${name}-${opened}`, servers: { [name]: server } });
  const tools = await client.listTools();
  const echo = tools[`${name}_echo`];
  return {
    tools: Object.keys(tools).length,
    call: async (args) => (await echo.execute(args)).content[0].text,
    close: () => client.disconnect(),
  };
}
