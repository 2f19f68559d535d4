// Owns a server with resources and prompts, written with the official SDK as its users write them: both eras, texts and bytes,
// templates, completion, subscriptions, a log. `--era legacy|modern` speaks only that one; with `--subscribed` it tells of no change
// of a resource without a subscription.
//
// Tools: touch {uri} says that a resource has changed; grow {} offers one resource and one prompt more; log {level, data} logs;
// crash {} ends the process.

import { completable, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const era = process.argv[process.argv.indexOf('--era') + 1];
if (era === 'legacy') await createServer().connect(new StdioServerTransport());
else serveStdio(createServer, era === 'modern' ? { legacy: 'reject' } : {});

function createServer() {
  const capabilities = {
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
    completions: {},
    logging: {},
  };
  const mcp = new McpServer({ name: 'offering', version: '1.0.0' }, { capabilities });
  addResources(mcp);
  addPrompts(mcp);
  const subscribed = new Set();
  addTools(mcp, subscribed);
  mcp.server.setRequestHandler('resources/subscribe', ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  mcp.server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  return mcp;
}

function addResources(mcp) {
  const about = { description: 'A note', mimeType: 'text/plain' };
  mcp.registerResource('one', 'note://1', about, (uri) => ({
    contents: [{ uri: uri.href, text: 'The first note\n' }],
  }));
  mcp.registerResource('dot', 'pic://dot', { mimeType: 'image/png' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'image/png', blob: Buffer.from([0, 255, 10, 13]).toString('base64') }],
  }));
  const complete = { id: (value) => ['11', '12', '21'].filter((each) => each.startsWith(value)) };
  mcp.registerResource(
    'any',
    new ResourceTemplate('note://{id}', { list: undefined, complete }),
    about,
    (uri, { id }) => ({
      contents: [{ uri: uri.href, text: `Note ${id}` }],
    }),
  );
}

function addPrompts(mcp) {
  const topic = completable(z.string().describe('What it is about'), (value) =>
    ['cats', 'cars', 'dogs'].filter((each) => each.startsWith(value)),
  );
  const argsSchema = z.object({ topic, tone: z.string().optional() });
  mcp.registerPrompt('poem', { description: 'Asks for a poem', argsSchema }, ({ topic, tone = 'plain' }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `A ${tone} poem about ${topic}` } }],
  }));
}

function addTools(mcp, subscribed) {
  const isTold = (uri) => subscribed.has(uri) || !process.argv.includes('--subscribed');
  let grown = 0;
  const done = { content: [{ type: 'text', text: 'done' }] };
  const add = (name, inputSchema, run) =>
    mcp.registerTool(name, { description: name, inputSchema }, async (args, context) => {
      await run(args, context);
      return done;
    });
  add('touch', z.object({ uri: z.string() }), ({ uri }) => isTold(uri) && mcp.server.sendResourceUpdated({ uri }));
  add('log', z.object({ level: z.string(), data: z.string() }), ({ level, data }, { mcpReq }) =>
    mcpReq.log(level, data, 'offering'),
  );
  add('crash', z.object({}), () => process.exit(1));
  add('grow', z.object({}), () => {
    const name = `more ${++grown}`;
    mcp.registerResource(name, `more://${grown}`, {}, (uri) => ({ contents: [{ uri: uri.href, text: name }] }));
    mcp.registerPrompt(`more_${grown}`, {}, () => ({ messages: [] }));
  });
}
