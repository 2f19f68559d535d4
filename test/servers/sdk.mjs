// Owns a server written with the official SDK, as its users write them: both eras, one tool that answers and one that asks.
// `--modern-only` refuses the older era.

import { acceptedContent, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

serveStdio(createServer, process.argv.includes('--modern-only') ? { legacy: 'reject' } : {});

function createServer() {
  const server = new McpServer({ name: 'sdk', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.registerTool('greet', { description: 'Greets', inputSchema: z.object({ name: z.string() }) }, ({ name }) => ({
    content: [{ type: 'text', text: `Hello ${name}` }],
  }));
  server.registerTool(
    'ask',
    { description: 'Asks for a name, then greets', inputSchema: z.object({}) },
    (_args, ctx) => {
      const answer = acceptedContent(ctx.mcpReq.inputResponses, 'name');
      if (answer)
        return {
          content: [{ type: 'text', text: `Hello ${answer.name}, ${ctx.mcpReq.requestState() ?? 'no state'}` }],
        };
      const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
      return inputRequired({
        inputRequests: { name: inputRequired.elicit({ message: 'Who are you?', requestedSchema }) },
        requestState: 'kept',
      });
    },
  );
  return server;
}
