// Owns what clients of both versions of the SDK have in common.

import { openEach } from './open-each.mjs';

export function openWith({ Client, StdioClientTransport, StreamableHTTPClientTransport }) {
  const openOne = async (entry) => {
    const client = new Client({ name: 'bench', version: '1.0.0' });
    const { url } = entry;
    await client.connect(
      url === undefined ? new StdioClientTransport(entry) : new StreamableHTTPClientTransport(new URL(url)),
    );
    const { tools } = await client.listTools();
    return {
      tools: tools.length,
      call: async (args) => (await client.callTool({ name: 'echo', arguments: args })).content[0].text,
      close: () => client.close(),
    };
  };
  return (servers, awaited) => openEach(openOne, servers, awaited);
}
