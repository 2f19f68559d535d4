// Owns a server as people write them, with the official SDK. `ordinary-server.mjs NUMBER TOOLS` has so many ordinary tools.

import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { ordinaryTools } from './ordinary-tools.mjs';

const tools = ordinaryTools(Number(process.argv[3]));

serveStdio(() => {
  const mcp = new McpServer({ name: 'ordinary', version: '1.0.0' }, { capabilities: { tools: {} } });
  mcp.server.setRequestHandler('tools/list', () => ({ tools }));
  mcp.server.setRequestHandler('tools/call', ({ params }) => ({ content: [{ type: 'text', text: params.name }] }));
  return mcp;
});
