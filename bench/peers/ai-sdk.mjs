// Owns how users of the AI SDK open their servers.

import { createMCPClient } from '@ai-sdk/mcp';
import { openEach } from '../open-each.mjs';

export const open = (servers, awaited) => openEach(openOne, servers, awaited);

async function openOne(entry) {
  const client = await createMCPClient({ transport: await transportOf(entry) });
  const tools = await client.tools();
  const options = { messages: [], toolCallId: 'bench' };
  return {
    tools: Object.keys(tools).length,
    call: async (args) => (await tools.echo.execute(args, options)).content[0].text,
    close: () => client.close(),
  };
}

async function transportOf(entry) {
  if (entry.url !== undefined) return { type: 'http', url: entry.url };
  const { Experimental_StdioMCPTransport } = await import('@ai-sdk/mcp/mcp-stdio');
  return new Experimental_StdioMCPTransport(entry);
}
