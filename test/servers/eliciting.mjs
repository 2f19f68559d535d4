// Owns a server written with the official SDK that wants things of a person, as its users write them: a form, a page to visit,
// and a call that is refused until a page was visited. `--era legacy | modern` decides how it asks.
//
// Tools: register asks for a form; visit for a page; locked is refused until its page was visited, which is when
// the file of `--visited FILE` exists; think asks the client's model. Each says what it was answered, and how often it was called.

import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { inputRequired, inputResponse, McpServer, UrlElicitationRequiredError } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const { values } = parseArgs({
  options: { era: { type: 'string', default: 'legacy' }, visited: { type: 'string' } },
});

const form = {
  message: 'Who are you?',
  requestedSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Your name', minLength: 1 },
      color: {
        type: 'string',
        oneOf: [
          { const: 'r', title: 'Red' },
          { const: 'g', title: 'Green' },
        ],
        default: 'g',
      },
      age: { type: 'integer', minimum: 0 },
    },
    required: ['name'],
  },
};
const page = { message: 'Please log in', url: 'https://login.example/start?state=1' };
const thought = { messages: [{ role: 'user', content: { type: 'text', text: 'Two and two?' } }], maxTokens: 10 };

const calls = {};
const said = (tool, value) => {
  const text = JSON.stringify({ calls: calls[tool], ...value });
  return { content: [{ type: 'text', text }] };
};

const legacy = {
  register: (server) => server.elicitInput(form),
  visit: (server) => server.elicitInput({ mode: 'url', elicitationId: 'visit', ...page }),
  think: (server) => server.createMessage(thought),
  locked: (server) => {
    if (calls.locked > 1) return { action: 'unlocked' };
    const complete = server.createElicitationCompletionNotifier('locked');
    const watching = setInterval(() => {
      if (!existsSync(values.visited ?? '')) return;
      clearInterval(watching);
      complete();
    }, 5);
    throw new UrlElicitationRequiredError([{ mode: 'url', elicitationId: 'locked', ...page }]);
  },
};

const modern = {
  register: () => inputRequired.elicit(form),
  visit: () => inputRequired.elicitUrl(page),
  think: () => inputRequired.createMessage(thought),
  locked: () => inputRequired.elicitUrl(page),
};

function createServer() {
  const mcp = new McpServer({ name: 'eliciting', version: '1.0.0' }, { capabilities: { tools: {} } });
  for (const tool of Object.keys(legacy))
    mcp.registerTool(tool, { description: `The tool ${tool}`, inputSchema: z.object({}) }, async (_args, ctx) => {
      calls[tool] = (calls[tool] ?? 0) + 1;
      if (values.era === 'legacy') return said(tool, { answer: await legacy[tool](mcp.server) });
      const answer = inputResponse(ctx.mcpReq.inputResponses, 'it');
      if (answer.kind === 'missing') return inputRequired({ inputRequests: { it: modern[tool]() } });
      return said(tool, { answer });
    });
  return mcp;
}

if (values.era === 'legacy') await createServer().connect(new StdioServerTransport());
else serveStdio(createServer, { legacy: 'reject' });
